"""Render: one HTML page that needs nothing else: no script, no font, no picture from anywhere."""

from __future__ import annotations

from pathlib import Path

import jinja2
from markupsafe import Markup

from satyrn_engine import _plots
from satyrn_engine._files import main_model
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
    plots = []
    if summary.totals.calls:
        plots.append(("Which models loop", _plots.models(summary)))
    if summary.totals.refusals:
        plots += [
            ("When in a session loops start", _plots.starts(summary)),
            ("What came after them", _plots.costs(summary)),
            ("Which tools", _plots.tools(summary)),
        ]
    drawn = [report for report in looping if report.timeline][:TIMELINES]
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["count"] = lambda number: f"{number:,}"
    environment.filters["short"] = shortener(report.source for report in reports)
    environment.filters["money"] = lambda dollars: f"${dollars:,.2f}"
    template = environment.from_string(Path(__file__).with_name("page.html.j2").read_text("utf-8"))
    return template.render(
        summary=summary,
        sentences=sentences(summary),
        plots=[(title, Markup(svg)) for title, svg in plots],  # noqa: S704
        looping=[(report, main_model(report)) for report in looping],
        quiet=[(report, main_model(report)) for report in quiet[:QUIET]],
        quiet_left=max(0, len(quiet) - QUIET),
        timelines=[(report, Markup(_plots.timeline(report))) for report in drawn],  # noqa: S704
        timelines_left=len([report for report in looping if report.timeline]) - len(drawn),
        skipped=skipped_lines(found),
    )
