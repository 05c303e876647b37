"""Recorded Pi sessions as a library.

For example::

    from satyrn_engine.sessions import read_session, replay, scan_sessions

    for found in scan_sessions(["~/.pi/agent/sessions"]):
        print(found)

`make_fixture` makes a fixture or a scenario of a session, `tune_sessions` tries settings of police
on labelled sessions. The classes of what is found are in `satyrn_engine.reports` and
`satyrn_engine.tuning`, the errors in `satyrn_engine.errors`.
"""

from satyrn_engine._fixture_make import MadeFixture, make_fixture
from satyrn_engine._library import (
    Branch,
    BranchReplay,
    RecordedCall,
    RecordedSession,
    Refusal,
    read_session,
    replay,
    scan_sessions,
)
from satyrn_engine._outcome import Outcome
from satyrn_engine._tune import tune_sessions
from satyrn_engine.reports import (
    BrokenLine,
    CallCount,
    ModelUse,
    SessionReport,
    Skipped,
)
from satyrn_engine.tuning import TuneReport, VariantResult

__all__ = [
    "Branch",
    "BranchReplay",
    "BrokenLine",
    "CallCount",
    "MadeFixture",
    "ModelUse",
    "Outcome",
    "RecordedCall",
    "RecordedSession",
    "Refusal",
    "SessionReport",
    "Skipped",
    "TuneReport",
    "VariantResult",
    "make_fixture",
    "read_session",
    "replay",
    "scan_sessions",
    "tune_sessions",
]
