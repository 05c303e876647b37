"""The scan of one source, or of one family of forks: read, branch, replay and summarise, joined."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from satyrn_engine._account import Account
from satyrn_engine._records import Broken, Line, read_lines
from satyrn_engine._sources import Source
from satyrn_engine._steps import SessionBegun, Step, read_steps
from satyrn_engine._tree import entry_key
from satyrn_engine._worker import Replayer, Worker
from satyrn_engine.errors import SourceError, WorkerDiedError
from satyrn_engine.reports import SessionReport, Skipped


@dataclass(frozen=True, slots=True)
class Fork:
    """A session that copies entries of another one, and so waits for it.

    Attributes:
        source: the fork.
        parent: where the other one lay when it was forked.
        started: when that was; ISO 8601.
    """

    source: Source
    parent: str
    started: str


@dataclass(frozen=True, slots=True)
class Task:
    """What one process scans in one go.

    Attributes:
        sources: in their order. Entries that stand in several of them are counted in the first.
        ancestors: sources whose entries were counted elsewhere.
        forks_wait: whether a fork is handed back instead of scanned.
    """

    sources: tuple[Source, ...]
    ancestors: tuple[Source, ...] = ()
    forks_wait: bool = True


Finding = SessionReport | Skipped | Fork


def scan_task(
    task: Task, take: Callable[[], Worker], drop: Callable[[], None], retries: int
) -> list[Finding]:
    """Scan the sources of a task. Whatever is wrong with them is among the findings.

    Args:
        task: what to scan.
        take: returns a worker, a new one if need be.
        drop: is called when that worker has died.
        retries: how often a source is tried again then.
    """
    known: set[int] = set()
    for ancestor in task.ancestors:
        with suppress(SourceError):
            known |= entry_keys(ancestor)
    findings: list[Finding] = []
    for source in task.sources:
        why = ""
        for _ in range(retries + 1):
            seen = set(known)
            try:
                found = scan_source(source, take(), seen, forks_wait=task.forks_wait)
            except WorkerDiedError as error:
                why = str(error)
                drop()
            except SourceError as error:
                findings.append(Skipped(source.name, str(error).removeprefix(f"{source.name}: ")))
                break
            else:
                known = seen
                findings += found
                break
        else:
            findings.append(died_finding(source, why, retries))
    return findings


def died_finding(source: Source, why: str, retries: int) -> Skipped:
    """Return what is reported of a source whose process died each time."""
    return Skipped(source.name, f"{why}; tried {retries + 1} times")


def scan_source(
    source: Source, replayer: Replayer, known: set[int], *, forks_wait: bool = False
) -> list[Finding]:
    """Scan the sessions of one source.

    Args:
        source: what to scan.
        replayer: runs the guards.
        known: keys of entries that were counted elsewhere; the source's own are added.
        forks_wait: stop at the header of a fork, and return a `Fork` for the whole source.

    Raises:
        SourceError: if it cannot be opened.
        WorkerDiedError: if the replayer's process died.
    """
    scan = _SourceScan(source, replayer, forks_wait=forks_wait)
    try:
        read_steps(source, known, scan)
    except _ForkWaits as waits:
        return [waits.fork]
    return scan.findings()


class _ForkWaits(Exception):
    def __init__(self, fork: Fork) -> None:
        super().__init__()
        self.fork = fork


class _SourceScan:
    """Listens to the sessions of a source, shows them to the guards, and adds them up."""

    def __init__(self, source: Source, replayer: Replayer, *, forks_wait: bool) -> None:
        self._source = source
        self._replayer = replayer
        self._forks_wait = forks_wait
        self._reports: list[SessionReport] = []
        self._damage: str | None = None
        #: Broken lines before the first session.
        self._early: list[Broken] = []
        self._account: Account | None = None

    def session(self, begun: SessionBegun) -> None:
        if self._forks_wait and self._account is None and begun.parent is not None:
            raise _ForkWaits(Fork(self._source, begun.parent, begun.started))
        self._begun = begun
        self._account = account = Account(self._source.name, begun)
        for line in self._early:
            account.broken(line)
        self._early.clear()
        # One lookup less for each of the steps, of which there are millions.
        self._take = account.take
        self._show = self._replayer.show

    def branch(self) -> None:
        self._replayer.begin(self._begun.id, self._begun.cwd)
        self._now.begin_branch()

    def step(self, step: Step) -> None:
        self._show(step)
        self._take(step)

    def branch_end(self) -> None:
        self._now.end_branch(self._replayer.verdict())

    def restart(self) -> None:
        self._replayer.drop()
        self._now.restart()

    def session_end(self) -> None:
        self._reports.append(self._now.finish())

    def broken(self, line: Broken) -> None:
        if self._account is None:
            self._early.append(line)
        else:
            self._account.broken(line)

    def damaged(self, reason: str) -> None:
        self._damage = reason

    def findings(self) -> list[Finding]:
        """Return the sessions' reports, and what kept the source from being read entirely."""
        findings: list[Finding] = [*self._reports]
        if self._damage is not None:
            findings.append(Skipped(self._source.name, self._damage))
        elif not findings:
            findings.append(Skipped(self._source.name, self._nothing()))
        return findings

    def _nothing(self) -> str:
        if not self._early:
            return "holds no session; it is empty, or another kind of file"
        first = self._early[0]
        return f"holds no session; line {first.line} is {first.reason}"

    @property
    def _now(self) -> Account:
        assert self._account is not None
        return self._account


def entry_keys(source: Source) -> set[int]:
    """Return the keys of a source's entries.

    Raises:
        SourceError: if it cannot be opened.
    """
    keys: set[int] = set()
    with source.open() as stream, suppress(Exception):
        for line in read_lines(stream):
            if isinstance(line, Line) and line.record.id is not None:
                keys.add(entry_key(line.record))
    return keys
