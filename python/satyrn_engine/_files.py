"""Render: reports as JSON and JSON Lines."""

from __future__ import annotations

from typing import IO

import msgspec

from satyrn_engine._summary import Summary
from satyrn_engine.reports import SessionReport, Skipped


def write_line(found: SessionReport | Skipped, out: IO[bytes]) -> None:
    """Write one finding as a line of JSON: a session's report, or `{"skipped": ...}`."""
    if isinstance(found, Skipped):
        out.write(msgspec.json.encode({"skipped": found}) + b"\n")
    else:
        out.write(msgspec.json.encode(found) + b"\n")


def write_json(found: list[SessionReport | Skipped], summary: Summary, out: IO[bytes]) -> None:
    """Write one JSON document: `totals`, `models`, `tools`, `sessions` and `skipped`."""
    document = {
        "totals": summary.totals,
        "models": summary.models,
        "tools": summary.tools,
        "sessions": [each for each in found if isinstance(each, SessionReport)],
        "skipped": [each for each in found if isinstance(each, Skipped)],
    }
    out.write(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def main_model(report: SessionReport) -> str:
    """Return the model that made the most calls, or was used the most."""
    calls: dict[str, int] = {use.model: 0 for use in report.models}
    for count in report.counts:
        calls[count.model] = calls.get(count.model, 0) + count.calls
    return max(calls, key=lambda model: calls[model], default="")
