"""Tune: the trade-off as a table for people, and as JSON and CSV for programs."""

from __future__ import annotations

import csv
import io
from typing import IO

import msgspec
from rich.console import Console

from satyrn_engine._columns import Column, fitted
from satyrn_engine._output import say
from satyrn_engine.tuning import TuneReport, VariantResult

#: Things that are named one by one.
NAMED = 10

_LEGEND = (
    "Caught: a call was refused or an answer stopped; or told: anything was found. Calls until: "
    "the median number of calls until a loop was caught. Best: no other row beats it in what is "
    "caught, in false alarms and in calls; of equal ones, the first."
)
_HEADINGS = (
    *("Settings", "Caught", "or told", "Missed", "False alarms", "or told", "Calls until", "Best"),
)
_COLUMNS = (
    "name",
    "caught",
    "told",
    "missed",
    "false_alarms",
    "false_alarms_told",
    "median_calls",
    "best",
)


def show(report: TuneReport, console: Console) -> None:
    """Print the table, and what it is about."""
    rows = [cells(row) for row in report.variants]
    columns = [
        Column(name, [row[at] for row in rows], text=not at) for at, name in enumerate(_HEADINGS)
    ]
    console.print(fitted(title(report), columns, console.width))
    say(sentences(report), console)


def cells(row: VariantResult) -> list[str]:
    """Return a variant as the cells of a row."""
    median = "" if row.median_calls is None else f"{row.median_calls:g}"
    counts = (row.caught, row.told, row.missed, row.false_alarms, row.false_alarms_told)
    return [row.name, *(f"{count:,}" for count in counts), median, "*" if row.best else ""]


def title(report: TuneReport) -> str:
    """Return what the table is about."""
    loops, honest = _of(report.loops, "loop"), _of(report.legitimate, "legitimate session")
    return f"{loops} and {honest}, police {report.base['PROFILE']}"


def sentences(report: TuneReport) -> list[str]:
    """Say how to read the table, and what does not count in it."""
    said = [_LEGEND]
    if report.unlabelled:
        said.append(f"{_of(report.unlabelled, 'session')} without a label did not count.")
    if report.lost_labels:
        named = ", ".join(report.lost_labels[:NAMED])
        more = (
            f" and {len(report.lost_labels) - NAMED} more"
            if len(report.lost_labels) > NAMED
            else ""
        )
        said.append(f"Labels of sessions that are not there: {named}{more}.")
    if report.skipped:
        said.append(f"Skipped: {_of(len(report.skipped), 'source')}.")
        said += [f"  {each.source}: {each.reason}" for each in report.skipped[:NAMED]]
    return said


def write_json(report: TuneReport, out: IO[bytes]) -> None:
    """Write the whole report as one JSON document."""
    out.write(msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n")


def write_csv(report: TuneReport, out: IO[bytes]) -> None:
    """Write one row a variant."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in report.variants:
        writer.writerow(getattr(row, column) for column in _COLUMNS)
    out.write(text.getvalue().encode())


def _of(count: int, thing: str) -> str:
    return f"{count:,} {thing}" + ("" if count == 1 else "s")
