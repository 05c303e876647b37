"""Render: the tables that a person reads."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from satyrn_engine._files import main_model
from satyrn_engine._names import shortener
from satyrn_engine._summary import Summary
from satyrn_engine.reports import SessionReport, Skipped

#: Looping sessions that are shown; the file formats and the page have all of them.
SHOWN = 20
#: Things that were skipped and are named.
NAMED = 10


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
        console.print(_sessions(looping[:limit], summary))
        if len(looping) > limit:
            console.print(f"… and {len(looping) - limit} more; --html or --format show all.")
    if summary.totals.calls:
        console.print(_models(summary))
        console.print(_tools(summary))
    _sum(summary, console)
    _skipped(found, summary, console)


def _sessions(looping: list[SessionReport], summary: Summary) -> Table:
    money = summary.totals.cost_after > 0
    table = Table(title="Sessions in which the guards found a loop", title_justify="left")
    table.add_column("Session", overflow="fold", ratio=3)
    table.add_column("Model", overflow="fold", ratio=2)
    for name in ("Calls", "Refused", "First", "Run", "of 20"):
        table.add_column(name, justify="right")
    table.add_column("Found", overflow="fold", ratio=2)
    table.add_column("Tokens after", justify="right")
    if money:
        table.add_column("Cost after", justify="right")
    short = shortener(report.source for report in looping)
    for report in looping:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report.detections.items()))
        row = [
            short(report.source),
            main_model(report),
            f"{report.calls:,}",
            f"{report.refusals:,}",
            str(report.first_refusal or ""),
            str(report.longest_run),
            str(report.strongest_repeat),
            kinds,
            f"{report.tokens_after:,}",
        ]
        table.add_row(*map(Text, row + ([f"${report.cost_after:,.2f}"] if money else [])))
    return table


def _models(summary: Summary) -> Table:
    money = summary.totals.cost > 0
    table = Table(title="Models", title_justify="left")
    table.add_column("Model", overflow="fold")
    for name in ("Sessions", "Looping", "Calls", "Rejected", "Refused", "Tokens", "Tokens after"):
        table.add_column(name, justify="right")
    if money:
        table.add_column("Cost", justify="right")
        table.add_column("Cost after", justify="right")
    for model in summary.models:
        numbers = (model.sessions, model.looping, model.calls, model.rejected, model.refusals)
        row = [model.model, *map(_count, numbers), _count(model.tokens), _count(model.tokens_after)]
        if money:
            row += [f"${model.cost:,.2f}", f"${model.cost_after:,.2f}"]
        table.add_row(*map(Text, row))
    return table


def _tools(summary: Summary) -> Table:
    table = Table(title="Tools", title_justify="left")
    table.add_column("Tool", overflow="fold")
    for name in ("Sessions", "Looping", "Calls", "Rejected", "Refused"):
        table.add_column(name, justify="right")
    for tool in summary.tools:
        numbers = (tool.sessions, tool.looping, tool.calls, tool.rejected, tool.refusals)
        table.add_row(*map(Text, [tool.tool, *map(_count, numbers)]))
    return table


def _sum(summary: Summary, console: Console) -> None:
    for line in sentences(summary):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


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
    return f"{number:,}" if number else "·"


def _of(count: int, thing: str) -> str:
    return f"{count:,} {thing}" + ("" if count == 1 else "s")
