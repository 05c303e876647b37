"""Satyrn Engine: loop protection for the Pi coding agent, seen from outside.

The guard itself is TypeScript and runs inside Pi. This package drives and checks it:
`read_session`, `replay` and `scan_sessions` show what the guards would have done in recorded
sessions, `make_fixture` and `tune_sessions` make evidence of them (`satyrn_engine.sessions`),
`satyrn_engine.testing` runs a real Pi against a scripted model, `satyrn_engine.demo` shows the
guard at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from satyrn_engine.sessions import (
        make_fixture,
        read_session,
        replay,
        scan_sessions,
        tune_sessions,
    )

__all__ = ["make_fixture", "read_session", "replay", "scan_sessions", "tune_sessions"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has that name
    """Load the library when it is used: the testing library needs the standard one alone."""
    if name in __all__:
        from satyrn_engine import sessions

        return getattr(sessions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
