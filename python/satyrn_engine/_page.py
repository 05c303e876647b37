"""Render: one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from pathlib import Path

import jinja2
from markupsafe import Markup

from satyrn_engine import _plots
from satyrn_engine._files import main_model
from satyrn_engine._kinds import MEANINGS
from satyrn_engine._names import shortener
from satyrn_engine._summary import Summary
from satyrn_engine._terminal import sentences, skipped_lines
from satyrn_engine.reports import SessionReport, Skipped

#: Sessions whose timeline is drawn; the table has all of them.
TIMELINES = 50
#: Rows of the table of sessions without a loop.
QUIET = 500


def page(found: list[SessionReport | Skipped], summary: Summary) -> str:
    """Return the page as HTML."""
    reports = [each for each in found if isinstance(each, SessionReport)]
    looping = sorted(
        (report for report in reports if report.loops),
        key=lambda report: (-report.refusals, -sum(report.detections.values()), report.source),
    )
    quiet = [report for report in reports if not report.loops]
    told = [report for report in looping if report.timeline]
    drawn = told[:TIMELINES]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["short"] = shortener(report.source for report in reports)
    environment.filters["id"] = id
    environment.filters["money"] = lambda dollars: f"${dollars:,.2f}"
    template = environment.from_string(Path(__file__).with_name("page.html.j2").read_text("utf-8"))
    return template.render(
        summary=summary,
        sentences=sentences(summary),
        priced=summary.totals.cost > 0,
        fired=bool(summary.totals.fired),
        found_kinds=_kinds(looping),
        plots=_plots_of(summary),
        looping=[(report, main_model(report)) for report in looping],
        quiet=[(report, main_model(report)) for report in quiet[:QUIET]],
        quiet_left=max(0, len(quiet) - QUIET),
        timelines=[(report, Markup(_plots.timeline(report))) for report in drawn],  # noqa: S704
        timelines_left=len(told) - len(drawn),
        places={id(report): f"timeline-{number}" for number, report in enumerate(drawn, start=1)},
        skipped=skipped_lines(found),
    )


def _kinds(looping: list[SessionReport]) -> list[tuple[str, int, int, str]]:
    """Return what was found: the kind, how often, in how many sessions, and what it means."""
    sessions: dict[str, list[int]] = {}
    for report in looping:
        for kind, times in report.detections.items():
            sessions.setdefault(kind, []).append(times)
    rows = [
        (kind, sum(times), len(times), MEANINGS.get(kind, "")) for kind, times in sessions.items()
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _plots_of(summary: Summary) -> list[tuple[str, str, Markup]]:
    """Return the plots of all sessions: a title, what is drawn, and the drawing."""
    totals, plots = summary.totals, []
    if totals.calls:
        models = _plots.models(summary)
        plots.append(
            ("Which models loop", "sessions with a refused call, of all with a call", models)
        )
    if totals.refusals:
        starts, tools = _plots.starts(summary), _plots.tools(summary)
        plots.append(("When in a session loops start", "number of the first refused call", starts))
        plots.append(("Which tools", "refused calls, of all", tools))
    if totals.tokens_after:
        tokens = _plots.tokens(summary)
        plots.append(
            ("What came after", "tokens after the first refusal: the most that is saved", tokens)
        )
    if totals.cost_after:
        costs = _plots.costs(summary)
        plots.append(("What it cost", "after the first refusal: the most that is saved", costs))
    return [(title, what, Markup(svg)) for title, what, svg in plots]  # noqa: S704
