"""Scans without Node, for tests of reading: the calls are counted and no guard looks at them."""

from __future__ import annotations

from pathlib import Path

from satyrn_engine._scan import Finding, scan_source
from satyrn_engine._sources import Source
from satyrn_engine._steps import Step, Turn
from satyrn_engine._worker import Verdict
from satyrn_engine.reports import SessionReport


class Recorder:
    """Keeps the branches that it is shown, and refuses what it is told to refuse."""

    def __init__(self, refuse: str | None = None) -> None:
        """`refuse` is a tool all of whose calls are refused."""
        self.branches: list[list[Step]] = []
        self.dropped = 0
        self._refuse = refuse

    def begin(self, session: str, cwd: str) -> None:  # noqa: ARG002
        """Begin a branch."""
        self.branches.append([])

    def show(self, step: Step) -> None:
        """Keep a step."""
        self.branches[-1].append(step)

    def drop(self) -> None:
        """Forget the branches so far."""
        self.dropped += 1
        self.branches.clear()

    def verdict(self) -> Verdict:
        """Refuse the calls of that tool."""
        calls = self.calls(-1)
        return Verdict([(n, "test") for n, tool in enumerate(calls) if tool == self._refuse])

    def calls(self, branch: int) -> list[str]:
        """Return the tools that a branch's calls are to."""
        turns = (step for step in self.branches[branch] if isinstance(step, Turn))
        return [call.tool for turn in turns for call in turn.calls]


def scan(path: Path, recorder: Recorder | None = None) -> list[Finding]:
    """Scan one file."""
    source = Source(str(path), str(path))
    return scan_source(source, recorder or Recorder(), set())


def report_of(path: Path, recorder: Recorder | None = None) -> SessionReport:
    """Scan one file that holds one session and nothing else."""
    (found,) = scan(path, recorder)
    assert isinstance(found, SessionReport), found
    return found
