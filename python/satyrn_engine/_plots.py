"""Render: plots as SVG, drawn here and not in the reader's browser.

Text and lines take the page's own colour, and marks take its colours by name (`--ran` and so on,
see `page.html.j2`), so that a plot is as good in the dark as in the light.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import polars as pl
import vl_convert

from satyrn_engine._summary import Summary
from satyrn_engine.reports import SessionReport

#: Bars that a plot shows at most; the tables have the rest.
BARS = 15
#: Of a plot, in CSS pixels: it fits a narrow phone as it is, and other screens show it larger.
WIDTH = 340
#: Of a timeline, in parts of `WIDTH` that can be told apart. Calls that are no further from each
#: other are drawn as one if they are alike, so that a plot of 2,000 calls stays small.
PARTS = 300

#: Kinds of marks and how thick they are, in CSS pixels: what is to be seen first is the thickest.
_THICKNESS = {"ran": 10, "rejected": 10, "unclear": 10, "refused": 20, "found": 6}
_OUTCOMES = {".": "ran", "x": "rejected", "?": "unclear", "R": "refused"}

#: Calls that a plot of sessions has room for at least.
_SHORT = 20

#: An axis of whole numbers; Vega also marks what lies between them if they are few.
_COUNTS = alt.Axis(
    format="d",
    tickCount=5,
    ticks=False,
    grid=False,
    labelExpr="datum.value % 1 ? '' : datum.label",
)

_INK = "currentColor"
_ROW = 22
#: Text is measured in one font and shown in another, which may be so much wider.
_WIDER = 1.2
#: Room for a row's label, and about what a letter of it takes; and for the name of a bar.
_LABEL, _LETTER, _NAME = 115, 6.2, 195


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar.

    Attributes:
        name: written above it.
        value: its length.
        label: the value as text.
    """

    name: str
    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Mark:
    """Calls that are drawn as one.

    Attributes:
        first: number of the first one, 1 for the first of the session.
        last: number of the last one.
        row: the tool to which they went; or what was found.
        kind: what became of them: `ran`, `rejected`, `unclear`, `refused`; or `found`.
    """

    first: int
    last: int
    row: str
    kind: str


def models(summary: Summary) -> str:
    """Draw how many of each model's sessions loop."""
    rows = [
        Bar(row.model, row.looping / row.sessions, f"{row.looping:,} of {row.sessions:,}")
        for row in summary.models
        if row.sessions
    ]
    return _bars(rows, most=1)


def tools(summary: Summary) -> str:
    """Draw how many of the calls to each tool were refused."""
    rows = [
        Bar(row.tool, row.refusals / row.calls, f"{row.refusals:,} of {row.calls:,}")
        for row in summary.tools
        if row.refusals
    ]
    return _bars(rows, most=1)


def tokens(summary: Summary) -> str:
    """Draw how many tokens each model used after the first refusals."""
    rows = [
        Bar(row.model, row.tokens_after, f"{row.tokens_after:,}")
        for row in summary.models
        if row.tokens_after
    ]
    return _bars(sorted(rows, key=lambda row: -row.value))


def costs(summary: Summary) -> str:
    """Draw what each model cost after the first refusals."""
    rows = [
        Bar(row.model, row.cost_after, f"${row.cost_after:,.2f}")
        for row in summary.models
        if row.cost_after
    ]
    return _bars(sorted(rows, key=lambda row: -row.value))


def starts(summary: Summary) -> str:
    """Draw at which call of their session loops were first refused."""
    frame = pl.DataFrame({"call": [first for first, _ in summary.starts]})
    extent = [0, max(_SHORT, *frame["call"])]
    chart = (
        alt.Chart(frame)
        .mark_bar(color=_colour("refused"))
        .encode(
            alt.X(
                "call:Q",
                bin=alt.Bin(maxbins=15, minstep=1, extent=extent),
                title=None,
                axis=alt.Axis(format="d", tickMinStep=1, tickCount=6, grid=False),
            ),
            alt.Y("count()", title="Sessions", axis=_COUNTS),
        )
    )
    return svg(chart.properties(height=160))


def timeline(report: SessionReport) -> str:
    """Draw the calls of a session by tool and by what became of them, and what was found there."""
    rows = [*report.tool_names, *report.timeline_found]
    end = max([len(report.timeline), *(max(found) for found in report.timeline_found.values())])
    x = alt.X(
        "call:Q",
        title=None,
        scale=alt.Scale(domain=[0.5, end + 0.5], nice=False),
        axis=alt.Axis(format="d", tickMinStep=1, tickCount=6, grid=False),
    )
    extent = min(_LABEL * _WIDER, _LETTER * _WIDER * max(map(len, rows)))
    y = alt.Y(
        "row:N",
        title=None,
        scale=alt.Scale(domain=rows),
        axis=alt.Axis(labelLimit=_LABEL, minExtent=extent),
    )
    drawn = [*marks(report), *found_marks(report)]
    # The refused ones late, over the others.
    layers = [
        _segments([mark for mark in drawn if mark.kind == kind], kind, end).encode(x, y)
        for kind in _THICKNESS
        if any(mark.kind == kind for mark in drawn)
    ]
    return svg(alt.layer(*layers).properties(height=_ROW * len(rows)))


def marks(report: SessionReport) -> Iterator[Mark]:
    """Yield what a timeline is drawn of: each call, or in a long session what stands together."""
    calls = enumerate(zip(report.timeline, report.timeline_tools, strict=True), start=1)
    places = (
        (number, report.tool_names[tool], _OUTCOMES[letter]) for number, (letter, tool) in calls
    )
    return _merged(places, len(report.timeline) // PARTS)


def found_marks(report: SessionReport) -> Iterator[Mark]:
    """Yield what was found along a timeline, in the same way."""
    found = report.timeline_found.items()
    places = ((number, kind, "found") for kind, numbers in found for number in sorted({*numbers}))
    return _merged(places, len(report.timeline) // PARTS)


def _merged(places: Iterable[tuple[int, str, str]], gap: int) -> Iterator[Mark]:
    open_marks: dict[tuple[str, str], tuple[int, int]] = {}
    for number, *rest in places:
        row, kind = rest
        first, last = open_marks.get((row, kind), (number, number))
        if number - last > gap:
            yield Mark(first, last, row, kind)
            first = number
        open_marks[row, kind] = (first, number)
    for (row, kind), (first, last) in open_marks.items():
        yield Mark(first, last, row, kind)


def _segments(found: Sequence[Mark], kind: str, calls: int) -> alt.Chart:
    """Draw all marks of a kind as one thick line with breaks: as one path, which is small."""
    half = max(0.35, calls / WIDTH / 2)
    points: list[tuple[int, float | None, str]] = []
    for mark in found:
        for call in (mark.first - half, mark.last + half, None):
            points.append((len(points), call, mark.row))
    schema = {"order": pl.Int64, "call": pl.Float64, "row": pl.String}
    line = alt.Chart(pl.DataFrame(points, schema=schema, orient="row")).mark_line(
        color=_colour(kind), strokeWidth=_THICKNESS[kind], invalid="break-paths-show-domains"
    )
    ordered: alt.Chart = line.encode(alt.Order("order:Q"))
    return ordered


def _bars(rows: Sequence[Bar], most: float | None = None) -> str:
    """Draw bars with their names above them; `most` is the value of a bar over the whole width."""
    shown = rows[:BARS]
    frame = pl.DataFrame(
        {
            "name": [row.name for row in shown],
            "value": [float(row.value) for row in shown],
            "label": [row.label for row in shown],
            "whole": [most or max((row.value for row in shown), default=1.0)] * len(shown),
        },
        schema_overrides={"name": pl.String, "label": pl.String, "whole": pl.Float64},
    )
    base = alt.Chart(frame).encode(alt.Y("name:N", axis=None, sort=None))
    domain = alt.Scale(domain=[0, most or max((row.value for row in shown), default=1.0)])
    size: dict[str, Any] = {"size": 9, "yOffset": 10}
    text: dict[str, Any] = {"fill": _INK, "fontSize": 12, "dy": -5}
    track = base.mark_bar(color=_INK, fillOpacity=0.12, **size)
    bars = base.mark_bar(color=_colour("refused"), **size)
    names = base.mark_text(align="left", x=0, limit=_NAME, **text)
    labels = base.mark_text(align="right", x="width", **text)
    layers = alt.layer(
        track.encode(alt.X("whole:Q", axis=None, scale=domain)),
        bars.encode(alt.X("value:Q", axis=None, scale=domain)),
        names.encode(alt.Text("name:N")),
        labels.encode(alt.Text("label:N")),
    )
    return svg(layers.properties(height=max(38, 38 * len(shown))))


def _colour(name: str) -> str:
    return f"var(--{name})"


def svg(chart: alt.Chart | alt.LayerChart | alt.FacetChart) -> str:
    """Draw a chart in the colours of the page that it stands in."""
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    spec = chart.properties(width=WIDTH, background="transparent", autosize=fit).to_dict()
    text = {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 12}
    spec["config"] = {
        # A label on each of a thousand marks says what the table says, and is most of the page.
        "aria": False,
        "axis": {
            **text,
            "titleFontWeight": "normal",
            "domainColor": _INK,
            "tickColor": _INK,
            "gridColor": _INK,
            "gridOpacity": 0.15,
        },
        "view": {"stroke": None},
    }
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE))


_VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
