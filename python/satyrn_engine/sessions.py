"""Recorded Pi sessions as a library.

    from satyrn_engine.sessions import read_session, replay, scan_sessions

    for found in scan_sessions(["~/.pi/agent/sessions"]):
        print(found)

The classes of what is found are in `satyrn_engine.reports`, the errors in `satyrn_engine.errors`.
"""

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
from satyrn_engine.reports import (
    BrokenLine,
    CallCount,
    ModelUse,
    SessionReport,
    Skipped,
)

__all__ = [
    "Branch",
    "BranchReplay",
    "BrokenLine",
    "CallCount",
    "ModelUse",
    "Outcome",
    "RecordedCall",
    "RecordedSession",
    "Refusal",
    "SessionReport",
    "Skipped",
    "read_session",
    "replay",
    "scan_sessions",
]
