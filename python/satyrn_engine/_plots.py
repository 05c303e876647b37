"""Render: plots as SVG, drawn here and not in the reader's browser.

Text and lines take the page's own colour, so that a plot is as good in the dark as in the light.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl
import vl_convert

from satyrn_engine._summary import Summary
from satyrn_engine.reports import SessionReport

#: Bars that a plot shows at most; the tables have the rest.
BARS = 15

_Row = dict[str, str | float]

_INK = "currentColor"
#: Told apart also by people who see few colours, on light and dark ground (Okabe and Ito, 2008).
_COLOURS = {"ran": "#56b4e9", "refused": "#d55e00", "rejected": "#e69f00", "unclear": "#999999"}
_LETTERS = {".": "ran", "R": "refused", "x": "rejected", "?": "unclear"}


def models(summary: Summary) -> str:
    """Draw how many of each model's sessions loop."""
    rows: list[_Row] = [
        {"model": row.model, "share": row.looping / row.sessions}
        for row in summary.models
        if row.sessions
    ]
    return _bars(rows[:BARS], "model", "share", "Sessions with a refused call", "%")


def tools(summary: Summary) -> str:
    """Draw how many calls to each tool were refused."""
    rows: list[_Row] = [
        {"tool": row.tool, "refused": row.refusals} for row in summary.tools if row.refusals
    ]
    return _bars(rows[:BARS], "tool", "refused", "Refused calls", "~s")


def costs(summary: Summary) -> str:
    """Draw what each model used after the first refusals: money if any is known, else tokens."""
    money = summary.totals.cost_after > 0
    rows: list[_Row] = [
        {"model": row.model, "after": row.cost_after if money else row.tokens_after}
        for row in summary.models
        if row.tokens_after or row.cost_after
    ]
    title = "US dollars" if money else "Tokens"
    return _bars(
        sorted(rows, key=lambda row: -float(row["after"]))[:BARS],
        "model",
        "after",
        f"{title} spent after the first refusal",
        "$~s" if money else "~s",
    )


def starts(summary: Summary) -> str:
    """Draw at which call of their session loops were first refused."""
    frame = pl.DataFrame({"call": [first for first, _ in summary.starts]})
    chart = (
        alt.Chart(frame)
        .mark_bar(color=_COLOURS["refused"])
        .encode(
            alt.X("call:Q", bin=alt.Bin(maxbins=20), title="First refused call of the session"),
            alt.Y("count()", title="Sessions", axis=alt.Axis(tickMinStep=1)),
        )
    )
    return _svg(chart, height=200)


def timeline(report: SessionReport) -> str:
    """Draw the calls of a session one after the other, by tool and by what became of them."""
    frame = pl.DataFrame(
        {
            "call": range(1, len(report.timeline) + 1),
            "tool": [report.tool_names[place] for place in report.timeline_tools],
            "outcome": [_LETTERS[letter] for letter in report.timeline],
        }
    )
    present = [outcome for outcome in _COLOURS if outcome in set(frame["outcome"])]
    chart = (
        alt.Chart(frame)
        .mark_tick(thickness=2, height=14, opacity=1)
        .encode(
            alt.X(
                "call:Q",
                title="Call",
                scale=alt.Scale(domain=[0, len(report.timeline) + 1], nice=False),
            ),
            alt.Y("tool:N", title=None),
            alt.Color(
                "outcome:N",
                title=None,
                scale=alt.Scale(domain=present, range=[_COLOURS[each] for each in present]),
                legend=alt.Legend(orient="top"),
            ),
        )
    )
    return _svg(chart, height=20 * len(report.tool_names))


def _bars(rows: Sequence[_Row], name: str, value: str, title: str, form: str) -> str:
    frame = pl.DataFrame(rows, schema={name: pl.String, value: pl.Float64})
    chart = (
        alt.Chart(frame)
        .mark_bar(color=_COLOURS["refused"])
        .encode(
            alt.X(f"{value}:Q", title=title, axis=alt.Axis(format=form, tickCount=5)),
            alt.Y(f"{name}:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
        )
    )
    return _svg(chart, height=max(40, 24 * len(rows)))


def _svg(chart: alt.Chart, height: int) -> str:
    spec = chart.properties(width=420, height=height, background="transparent").to_dict()
    text = {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 12}
    spec["config"] = {
        "axis": {**text, "domainColor": _INK, "tickColor": _INK, "gridOpacity": 0.25},
        "legend": text,
        "view": {"stroke": None},
    }
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE))


_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
