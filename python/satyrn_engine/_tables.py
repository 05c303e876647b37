"""Render: reports as CSV and Parquet. Loading the library for it takes a moment."""

from __future__ import annotations

from dataclasses import fields
from typing import IO

from polars import DataFrame, Float64, Int64, String

from satyrn_engine._files import main_model
from satyrn_engine.reports import SessionReport, Skipped

#: What a row of a flat table leaves out: it stands in the JSON formats.
_NOT_FLAT = {
    "counts",
    "models",
    "timeline",
    "timeline_tools",
    "timeline_found",
    "tool_names",
    "broken_lines",
    "faults",
    "detections",
    "fired",
}


def write_csv(found: list[SessionReport | Skipped], out: IO[bytes]) -> None:
    """Write one row a session."""
    table(found).write_csv(out)


def write_parquet(found: list[SessionReport | Skipped], out: IO[bytes]) -> None:
    """Write one row a session."""
    table(found).write_parquet(out)


def table(found: list[SessionReport | Skipped]) -> DataFrame:
    """Return one row a session, in the order of `found`.

    `detections` and `fired` are sums, with their kinds in `detected_kinds` and `fired_kinds`,
    separated by spaces; `model` is the one that made the most calls.
    """
    reports = [each for each in found if isinstance(each, SessionReport)]
    names = [field.name for field in fields(SessionReport) if field.name not in _NOT_FLAT]
    columns: dict[str, list[object]] = {
        name: [getattr(report, name) for report in reports] for name in names
    }
    columns["model"] = [main_model(report) for report in reports]
    columns["detections"] = [sum(report.detections.values()) for report in reports]
    columns["detected_kinds"] = [" ".join(sorted(report.detections)) for report in reports]
    columns["fired"] = [sum(report.fired.values()) for report in reports]
    columns["fired_kinds"] = [" ".join(sorted(report.fired)) for report in reports]
    types = dict.fromkeys((*_WHOLE, "detections", "fired"), Int64)
    real = dict.fromkeys(("cost", "cost_after"), Float64)
    return DataFrame(
        columns,
        schema={name: {**types, **real}.get(name, String) for name in columns},
    )


_WHOLE = (
    "version",
    "branches",
    "prompts",
    "turns",
    "calls",
    "rejected",
    "unclear",
    "refusals",
    "first_refusal",
    "longest_run",
    "strongest_repeat",
    "first_detection",
    "first_enforcement",
    "tokens",
    "tokens_after",
    "broken",
)
