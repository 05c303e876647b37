"""Render: the tables that a person reads."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from satyrn_engine._columns import Column, fitted, rounded
from satyrn_engine._files import main_model
from satyrn_engine._names import shortener
from satyrn_engine._output import say
from satyrn_engine._summary import ModelRow, Summary, ToolRow
from satyrn_engine.reports import SessionReport, Skipped

#: Looping sessions that are shown; the file formats and the page have all of them.
SHOWN = 20
#: Things that were skipped and are named.
NAMED = 10
# Shows better than a 0 where there is something.
_NONE = "·"


def show(
    found: list[SessionReport | Skipped], summary: Summary, console: Console, limit: int = SHOWN
) -> None:
    """Print the looping sessions, the models and tools, the sum, and what was skipped."""
    reports = [each for each in found if isinstance(each, SessionReport)]
    looping = sorted(
        (report for report in reports if report.loops),
        key=lambda report: (-report.refusals, -sum(report.detections.values()), report.source),
    )
    if looping:
        console.print(_sessions(looping[:limit], summary, console.width))
        if len(looping) > limit:
            console.print(f"… and {len(looping) - limit} more; --html or --format show all.")
    if summary.totals.calls:
        console.print(_models(summary, console.width))
        console.print(_tools(summary, console.width))
    _sum(summary, console)
    _skipped(found, summary, console)


def _sessions(looping: list[SessionReport], summary: Summary, width: int) -> Table:
    short = shortener(report.source for report in looping)
    columns = [
        Column("Session", [short(report.source) for report in looping], text=True),
        Column("Model", [main_model(report) for report in looping], text=True),
        Column("Calls", [f"{report.calls:,}" for report in looping]),
        Column("Refused", [f"{report.refusals:,}" for report in looping]),
        Column("First", [str(report.first_refusal or "") for report in looping], spare=4),
        Column("Run", [str(report.longest_run) for report in looping], spare=2),
        Column("of 20", [str(report.strongest_repeat) for report in looping], spare=1),
        Column("Found", [_kinds(report) for report in looping], text=True, spare=3),
        _tokens("Tokens after", [report.tokens_after for report in looping]),
    ]
    if summary.totals.cost_after > 0:
        columns.append(Column("Cost after", [f"${each.cost_after:,.2f}" for each in looping]))
    return fitted("Sessions in which the guards found a loop", columns, width)


def _kinds(report: SessionReport) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(report.detections.items()))


def _models(summary: Summary, width: int) -> Table:
    models = summary.models
    columns = [
        Column("Model", [model.model for model in models], text=True),
        *_counts(models),
        _tokens("Tokens", [model.tokens for model in models], spare=3),
        _tokens("Tokens after", [model.tokens_after for model in models]),
    ]
    if summary.totals.cost > 0:
        columns += [
            Column("Cost", [f"${model.cost:,.2f}" for model in models], spare=4),
            Column("Cost after", [f"${model.cost_after:,.2f}" for model in models]),
        ]
    return fitted("Models", columns, width)


def _tokens(name: str, counts: list[int], spare: int = 0) -> Column:
    short = [rounded(count) if count else _NONE for count in counts]
    return Column(name, [_count(count) for count in counts], short=short, spare=spare)


def _tools(summary: Summary, width: int) -> Table:
    tools = summary.tools
    columns = [
        Column("Tool", [tool.tool for tool in tools], text=True),
        *_counts(tools),
    ]
    return fitted("Tools", columns, width)


def _counts(rows: Sequence[ModelRow | ToolRow]) -> list[Column]:
    return [
        Column("Sessions", [_count(row.sessions) for row in rows], spare=2),
        Column("Looping", [_count(row.looping) for row in rows]),
        Column("Calls", [_count(row.calls) for row in rows]),
        Column("Rejected", [_count(row.rejected) for row in rows], spare=1),
        Column("Refused", [_count(row.refusals) for row in rows]),
    ]


def _sum(summary: Summary, console: Console) -> None:
    say(sentences(summary), console)


def sentences(summary: Summary) -> list[str]:
    """Say what the scan found, in a few sentences."""
    totals = summary.totals
    seen = f"{_of(totals.sessions, 'session')}, {_of(totals.calls, 'call')}"
    rejected = f"of which Pi rejected {totals.rejected:,} before any guard"
    said = [f"{seen}, {rejected}; {totals.unclear:,} have no clear outcome."]
    if not totals.looping:
        said.append("The guards would have refused nothing.")
    else:
        said.append(
            f"The guards would have refused {_of(totals.refusals, 'call')} in "
            f"{_of(totals.refusing, 'session')}."
        )
    if totals.looping > totals.refusing:
        others = _of(totals.looping - totals.refusing, "other session")
        said.append(f"In {others} they found something without refusing a call.")
    if totals.refusals:
        money = f" and ${totals.cost_after:,.2f}" if totals.cost_after else ""
        said.append(
            f"After the first refusals {_of(totals.tokens_after, 'token')}{money} were spent: at "
            "most that would have been saved, for what the models would have answered is not known."
        )
    if totals.fired:
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(totals.fired.items()))
        said.append(f"Guards had fired while the sessions ran: {kinds}.")
    return said


def _skipped(found: list[SessionReport | Skipped], summary: Summary, console: Console) -> None:
    lines = skipped_lines(found)
    if not lines:
        return
    totals = summary.totals
    console.print(
        f"Skipped: {_of(totals.skipped, 'source')} and {_of(totals.broken, 'broken line')}.",
        style="yellow",
        highlight=False,
    )
    for line in lines[:NAMED]:
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    if len(lines) > NAMED:
        console.print(f"  … and {len(lines) - NAMED} more", highlight=False)


def skipped_lines(found: list[SessionReport | Skipped]) -> list[str]:
    """Name everything that was skipped, and every fault of a guard."""
    lines = []
    for each in found:
        if isinstance(each, Skipped):
            lines.append(f"{each.source}: {each.reason}")
            continue
        lines += [f"{each.source}:{broken.line}: {broken.reason}" for broken in each.broken_lines]
        if each.broken > len(each.broken_lines):
            lines.append(f"{each.source}: {each.broken - len(each.broken_lines):,} more lines")
        lines += [f"{each.source}: a guard's fault: {fault}" for fault in each.faults]
    return lines


def _count(number: int) -> str:
    return f"{number:,}" if number else _NONE


def _of(count: int, thing: str) -> str:
    return f"{count:,} {thing}" + ("" if count == 1 else "s")
