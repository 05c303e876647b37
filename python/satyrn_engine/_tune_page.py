"""Tune: one HTML page with the table and the trade-off as a plot, which loads nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import altair as alt
import jinja2
import polars as pl
from markupsafe import Markup

from satyrn_engine._plots import svg
from satyrn_engine._tune_show import cells, sentences, title
from satyrn_engine.tuning import TuneReport, VariantResult

#: Told apart also by people who see few colours, on light and dark ground (Okabe and Ito, 2008).
_COLOURS = {"base": "#e69f00", "best": "#d55e00", "other": "#56b4e9"}
_LEGEND = alt.Legend(orient="top")
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
    """Draw caught loops against false alarms, one dot for all variants at the same place.

    The base and the best ones are named; the table has the others.
    """
    places: dict[tuple[int, int], list[VariantResult]] = {}
    for row in report.variants:
        places.setdefault((row.false_alarms, row.caught), []).append(row)
    most = max((alarms for alarms, _ in places), default=0) or 1
    frame = pl.DataFrame(
        {
            "alarms": [alarms for alarms, _ in places],
            "caught": [caught for _, caught in places],
            "which": [_which(members) for members in places.values()],
            "name": [_names(members) for members in places.values()],
        }
    )
    present = [which for which in _COLOURS if which in set(frame["which"])]
    dots = (
        _at(frame, most, report)
        .mark_point(filled=True, size=90, opacity=1)
        .encode(
            alt.Color("which:N", title=None, scale=_scale(present, _COLOURS), legend=_LEGEND),
            alt.Shape("which:N", title=None, scale=_scale(present, _SHAPES)),
        )
    )
    named = frame.filter(pl.col("name") != "")
    # On the side where there is room.
    right = _at(named.filter(pl.col("alarms") * 2 <= most), most, report)
    left = _at(named.filter(pl.col("alarms") * 2 > most), most, report)
    return svg((dots + _texts(right, "left", 6) + _texts(left, "right", 4)).properties(height=300))


def _texts(at: alt.Chart, align: Literal["left", "right"], dx: int) -> alt.Chart:
    texts: alt.Chart = at.mark_text(
        align=align, dx=dx, dy=-9, fontSize=11, color="currentColor", limit=200
    )
    return texts.encode(text="name:N")


def _at(frame: pl.DataFrame, most: int, report: TuneReport) -> alt.Chart:
    axis = alt.Axis(tickMinStep=1, format="d")
    return alt.Chart(frame).encode(
        alt.X(
            "alarms:Q",
            title=f"False alarms, of {report.legitimate} legitimate sessions",
            axis=axis,
            scale=alt.Scale(domain=[0, most], nice=False),
        ),
        alt.Y(
            "caught:Q",
            title=f"Caught, of {report.loops} loops",
            axis=axis,
            scale=alt.Scale(domain=[0, max(1, report.loops)], nice=False),
        ),
    )


def _scale(present: list[str], values: dict[str, str]) -> alt.Scale:
    return alt.Scale(domain=present, range=[values[each] for each in present])


def _which(members: list[VariantResult]) -> str:
    if any(row.name == "base" for row in members):
        return "base"
    return "best" if any(row.best for row in members) else "other"


def _names(members: list[VariantResult]) -> str:
    if _which(members) == "other":
        return ""
    first = next((row.name for row in members if row.name == "base" or row.best), members[0].name)
    return first if len(members) == 1 else f"{first} and {len(members) - 1} more"
