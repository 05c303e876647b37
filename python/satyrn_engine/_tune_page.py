"""Tune: one HTML page with the table and the trade-off as a plot, which loads nothing."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import jinja2
import polars as pl
from markupsafe import Markup

from satyrn_engine._plots import svg
from satyrn_engine._tune_show import cells, sentences, title
from satyrn_engine.tuning import TuneReport, VariantResult

#: Told apart also by people who see few colours, on light and dark ground (Okabe and Ito, 2008).
_COLOURS = {"base": "#e69f00", "best": "#d55e00", "other": "#56b4e9"}
_SHAPES = {"base": "diamond", "best": "circle", "other": "circle"}


def page(report: TuneReport) -> str:
    """Return the page as HTML."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(Path(__file__).with_name("tune.html.j2").read_text("utf-8"))
    return template.render(
        title=title(report),
        sentences=sentences(report),
        rows=[(row, cells(row)) for row in report.variants],
        plot=Markup(trade_off(report)),  # noqa: S704
    )


def trade_off(report: TuneReport) -> str:
    """Draw caught loops against false alarms, one dot for all variants at the same place."""
    places: dict[tuple[int, int], list[VariantResult]] = {}
    for row in report.variants:
        places.setdefault((row.false_alarms, row.caught), []).append(row)
    rows = [
        {
            "false alarms": alarms,
            "caught": caught,
            "which": _which(members),
            "name": _names(members),
        }
        for (alarms, caught), members in places.items()
    ]
    frame = pl.DataFrame(rows)
    present = [which for which in _COLOURS if which in set(frame["which"])]
    base = alt.Chart(frame).encode(
        alt.X(
            "false alarms:Q",
            title=f"False alarms, of {report.legitimate} legitimate sessions",
            axis=alt.Axis(tickMinStep=1, format="d"),
            scale=alt.Scale(zero=False, padding=24),
        ),
        alt.Y(
            "caught:Q",
            title=f"Caught, of {report.loops} loops",
            axis=alt.Axis(tickMinStep=1, format="d"),
            scale=alt.Scale(zero=False, padding=24),
        ),
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        alt.Color(
            "which:N",
            title=None,
            scale=alt.Scale(domain=present, range=[_COLOURS[each] for each in present]),
            legend=alt.Legend(orient="top"),
        ),
        alt.Shape(
            "which:N",
            title=None,
            scale=alt.Scale(domain=present, range=[_SHAPES[each] for each in present]),
        ),
    )
    names = base.mark_text(
        align="left", dx=8, dy=-8, fontSize=11, color="currentColor", limit=190
    ).encode(text="name:N")
    return svg((dots + names).properties(height=300))


def _which(members: list[VariantResult]) -> str:
    if any(row.name == "base" for row in members):
        return "base"
    return "best" if any(row.best for row in members) else "other"


def _names(members: list[VariantResult]) -> str:
    first = next((row.name for row in members if row.name == "base"), members[0].name)
    return first if len(members) == 1 else f"{first} and {len(members) - 1} more"
