"""The package as a library: reading a session, replaying it, and scanning many."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import msgspec

from satyrn_engine._cache import Cache
from satyrn_engine._options import resolve_guards
from satyrn_engine._outcome import Outcome
from satyrn_engine._pool import scan_all
from satyrn_engine._records import Broken
from satyrn_engine._sources import default_folder, find_sources
from satyrn_engine._steps import SessionBegun, Step, Turn, read_steps
from satyrn_engine._worker import Verdict, Worker
from satyrn_engine._workforce import check_workforce, new_workforce
from satyrn_engine.errors import SourceError
from satyrn_engine.reports import BrokenLine, SessionReport, Skipped


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A tool call as a session recorded it.

    Attributes:
        tool: the tool's name.
        arguments: as the model gave them; Pi may have converted them for the hook.
        outcome: whether it reached Pi's `tool_call` hook.
        model: `provider/model`.
    """

    tool: str
    arguments: Any
    outcome: Outcome
    model: str


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through a session, from its root on.

    Attributes:
        calls: in the order in which the model made them.
        steps: what `replay` shows the guards.
    """

    calls: tuple[RecordedCall, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session in memory.

    Attributes:
        source: the file.
        session: its id; empty if the header is missing.
        version: 1 to 3; 0 if the header is missing.
        cwd: the folder that Pi worked in.
        branches: one, unless the session was branched with `/tree`.
        broken: lines of the file that were skipped.
    """

    source: str
    session: str
    version: int
    cwd: str
    branches: tuple[Branch, ...]
    broken: tuple[BrokenLine, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that a guard refused.

    Attributes:
        call: its place in the branch's `calls`, from 0.
        guard: `engine` or `police`.
    """

    call: int
    guard: str


@dataclass(frozen=True, slots=True)
class BranchReplay:
    """What the guards did with a branch.

    Attributes:
        refusals: in the order of the calls.
        detections: how often the guards found what.
        longest_run: the most identical calls in direct succession.
        strongest_repeat: the most identical calls among any twenty in succession.
    """

    refusals: tuple[Refusal, ...]
    detections: dict[str, int]
    longest_run: int
    strongest_repeat: int


def read_session(path: str | PathLike[str]) -> list[RecordedSession]:
    """Read the sessions of one file into memory: one, but for concatenated files.

    Args:
        path: a session file or `--mode json` stream, compressed or not, or an address.

    Raises:
        SourceError: if it cannot be read, or is not one file.
    """
    with tempfile.TemporaryDirectory(prefix="satyrn-") as spool:
        source, *more = find_sources([str(path)], Path(spool))
        if isinstance(source, SourceError):
            raise source
        if more:
            raise SourceError(f"{path}: is more than one file; use scan_sessions for a folder")
        gathering = _Gathering(source.name)
        read_steps(source, set(), gathering)
        return gathering.sessions()


def replay(
    session: RecordedSession,
    guards: Sequence[str] = ("engine",),
    police_config: str | PathLike[str] | None = None,
) -> list[BranchReplay]:
    """Replay each branch of a session through the shipped guards.

    Args:
        session: from `read_session`.
        guards: `engine`, `police` or both, in the order in which Pi would load them.
        police_config: a `loop-police.json`.

    Raises:
        ConfigError: if there is no such guard, or the configuration cannot be used.
        NodeError: if there is no Node.js that can run them.
        WorkerDiedError: if the process that runs them ends.
    """
    config = None if police_config is None else Path(police_config)
    worker = Worker(resolve_guards(guards, config))
    try:
        return [_replay(worker, session, branch) for branch in session.branches]
    finally:
        worker.close()


def scan_sessions(
    paths: Iterable[str | PathLike[str]] = (),
    guards: Sequence[str] = ("engine",),
    police_config: str | PathLike[str] | None = None,
    jobs: int | None = None,
    cache: str | PathLike[str] | None = None,
    *,
    cluster: str | None = None,
) -> Iterator[SessionReport | Skipped]:
    """Scan many sessions, and yield what the guards would have done in each as it is known.

    Args:
        paths: files, folders, globs, addresses. Default: Pi's own session folder.
        guards: `engine`, `police` or both, in the order in which Pi would load them.
        police_config: a `loop-police.json`.
        jobs: processes that run the guards. Default: one for each core.
        cache: a folder that keeps reports of sessions that have not changed.
        cluster: the address of a Dask scheduler whose workers scan, or `local` for a Dask cluster
            of processes on this machine. The workers need this package, Node.js, and the same
            paths.

    Raises:
        ConfigError: if the request cannot be carried out as it is.
        NodeError: if there is no Node.js that can run the guards.
        ClusterError: if the cluster cannot be reached, or cannot do the work.
    """
    config = None if police_config is None else Path(police_config)
    resolved = resolve_guards(guards, config)
    kept = None if cache is None else Cache(Path(cache), resolved)
    named = [str(path) for path in paths] or [str(default_folder())]
    check_workforce(jobs, cluster, named)
    with tempfile.TemporaryDirectory(prefix="satyrn-") as spool:
        sources = find_sources(named, Path(spool))
        yield from scan_all(sources, new_workforce(resolved, jobs, cluster), kept)


def _replay(worker: Worker, session: RecordedSession, branch: Branch) -> BranchReplay:
    worker.begin(session.session, session.cwd)
    for step in branch.steps:
        worker.show(step)
    verdict: Verdict = worker.verdict()
    detections: dict[str, int] = {}
    for _, kind in verdict.detections:
        detections[kind] = detections.get(kind, 0) + 1
    refusals = tuple(Refusal(call, guard) for call, guard in verdict.refusals)
    return BranchReplay(refusals, detections, verdict.longest_run, verdict.strongest_repeat)


class _Gathering:
    """Keeps the steps of each branch."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._begun: list[SessionBegun] = []
        self._branches: list[list[list[Step]]] = []
        self._broken: list[BrokenLine] = []

    def session(self, begun: SessionBegun) -> None:
        self._begun.append(begun)
        self._branches.append([])

    def branch(self) -> None:
        self._branches[-1].append([])

    def step(self, step: Step) -> None:
        self._branches[-1][-1].append(step)

    def branch_end(self) -> None:
        """Nothing is left to do."""

    def restart(self) -> None:
        self._branches[-1].clear()

    def session_end(self) -> None:
        """Nothing is left to do."""

    def broken(self, line: Broken) -> None:
        self._broken.append(BrokenLine(line.line, line.reason))

    def damaged(self, reason: str) -> None:
        raise SourceError(f"{self._source}: {reason}")

    def sessions(self) -> list[RecordedSession]:
        return [
            RecordedSession(
                self._source,
                begun.id,
                begun.version,
                begun.cwd,
                tuple(Branch(_calls(steps), tuple(steps)) for steps in branches),
                tuple(self._broken),
            )
            for begun, branches in zip(self._begun, self._branches, strict=True)
        ]


def _calls(steps: list[Step]) -> tuple[RecordedCall, ...]:
    return tuple(
        RecordedCall(call.tool, msgspec.json.decode(call.arguments), call.outcome, step.model)
        for step in steps
        if isinstance(step, Turn)
        for call in step.calls
    )
