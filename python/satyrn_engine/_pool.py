"""The scan of many sources: as many stations as there are cores, each fed by a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import PurePath, PurePosixPath
from typing import Protocol

from satyrn_engine._cache import Cache
from satyrn_engine._node import Guards
from satyrn_engine._scan import Finding, Fork, Task
from satyrn_engine._sources import Source
from satyrn_engine._station import RemoteStation
from satyrn_engine.errors import SatyrnError, SourceError
from satyrn_engine.reports import SessionReport, Skipped

#: Sources that wait for each process, so that it never waits for the search through the folders.
AHEAD = 4


def scan_all(
    sources: Iterable[Source | SourceError], workforce: Workforce, cache: Cache | None = None
) -> Iterator[SessionReport | Skipped]:
    """Scan sources as they are found, and yield what comes of each as soon as it is known.

    Forks come last: each waits for the session that it copied entries from.

    Args:
        sources: what to scan; an error among them is yielded as something skipped.
        workforce: does the work. It is closed at the end, however that comes.
        cache: knows sources that were scanned before.

    Raises:
        SatyrnError: if no process with the guards can be started.
    """
    forks: list[Fork] = []
    scanned: set[int] = set()
    try:
        for source in sources:
            if isinstance(source, SourceError):
                name, _, reason = str(source).partition(": ")
                yield Skipped(name, reason)
                continue
            scanned.add(hash(source.path))
            cached = None if cache is None else cache.get(source)
            if cached is not None:
                yield from cached
                continue
            yield from _take(workforce.put(Task((source,))), forks, cache)
        yield from _take(workforce.drain(), forks, cache)
        for task in families(forks, lambda path: hash(path) in scanned):
            yield from _take(workforce.put(task), forks, None)
        yield from _take(workforce.drain(), forks, None)
    finally:
        workforce.close()


def _take(
    done: Iterable[tuple[Task, list[Finding]]], forks: list[Fork], cache: Cache | None
) -> Iterator[SessionReport | Skipped]:
    for task, findings in done:
        reports = [each for each in findings if isinstance(each, SessionReport)]
        if cache is not None and len(reports) == len(findings) and len(task.sources) == 1:
            cache.put(task.sources[0], reports)
        for finding in findings:
            if isinstance(finding, Fork):
                forks.append(finding)
            else:
                yield finding


def families(forks: list[Fork], scanned: Callable[[str], bool]) -> Iterator[Task]:
    """Group forks that may share entries, the oldest first, behind the session that they come from.

    Args:
        forks: all forks of the scan.
        scanned: tells of a path whether a session was scanned there.
    """
    by_path = {fork.source.path: fork for fork in forks}
    groups: dict[str, list[Fork]] = {}
    for fork in sorted(forks, key=lambda each: (each.started, each.source.path)):
        root = _find(fork, lambda path: path in by_path or scanned(path))
        chain = {fork.source.path}
        while root in by_path and root not in chain:
            chain.add(root)
            root = _find(by_path[root], lambda path: path in by_path or scanned(path))
        groups.setdefault(root, []).append(fork)
    for root, group in groups.items():
        ancestors = (Source(root, root),) if scanned(root) and root not in by_path else ()
        yield Task(tuple(fork.source for fork in group), ancestors, forks_wait=False)


def _find(fork: Fork, there: Callable[[str], bool]) -> str:
    """Find a fork's parent where it was, or where it is if the folders were moved as a whole."""
    parent = PurePath(fork.parent)
    # A path would make one slash of the two of an address.
    scheme, mark, rest = fork.source.path.rpartition("://")
    here = PurePosixPath(rest) if mark else PurePath(rest)
    moved = here.parent.parent.joinpath(*parent.parts[-2:])
    beside = here.parent / parent.name
    for path in (str(parent), f"{scheme}{mark}{beside}", f"{scheme}{mark}{moved}"):
        if there(path):
            return path
    return str(parent)


class Workforce(Protocol):
    """Scans tasks, several at a time."""

    def put(self, task: Task) -> Iterator[tuple[Task, list[Finding]]]:
        """Add a task, and yield what is done; wait if there are too many open tasks."""

    def drain(self) -> Iterator[tuple[Task, list[Finding]]]:
        """Yield what comes of all open tasks."""

    def close(self) -> None:
        """End the work, at once if tasks are open."""


class LocalWorkforce:
    """Threads that take tasks from a queue, each with a station in a process of its own."""

    def __init__(self, guards: Guards, jobs: int) -> None:
        """Start the threads; their processes start with their first task."""
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[Task, list[Finding] | SatyrnError]] = (
            queue.SimpleQueue()
        )
        self._open = 0
        self._limit = jobs * AHEAD
        self._closed = False
        self._stations = [RemoteStation(guards) for _ in range(jobs)]
        self._threads = [
            threading.Thread(target=self._run, args=(station,), daemon=True)
            for station in self._stations
        ]
        for thread in self._threads:
            thread.start()

    def put(self, task: Task) -> Iterator[tuple[Task, list[Finding]]]:
        """Add a task, and yield what is done; wait if there are too many open tasks."""
        self._tasks.put(task)
        self._open += 1
        while not self._done.empty() or self._open >= self._limit:
            yield self._next()

    def drain(self) -> Iterator[tuple[Task, list[Finding]]]:
        """Yield what comes of all open tasks."""
        while self._open:
            yield self._next()

    def close(self) -> None:
        """End the threads and processes, at once if tasks are open."""
        self._closed = True
        for _ in self._threads:
            self._tasks.put(None)
        if self._open:
            for station in self._stations:
                station.kill()
        for thread in self._threads:
            thread.join()

    def _next(self) -> tuple[Task, list[Finding]]:
        while True:
            # A wait without end could not be interrupted on every system.
            with suppress(queue.Empty):
                task, outcome = self._done.get(timeout=0.5)
                break
        self._open -= 1
        if isinstance(outcome, SatyrnError):
            raise outcome
        return task, outcome

    def _run(self, station: RemoteStation) -> None:
        try:
            while (task := self._tasks.get()) is not None and not self._closed:
                try:
                    self._done.put((task, station.scan(task)))
                except SatyrnError as error:
                    self._done.put((task, error))
                except Exception as error:  # noqa: BLE001
                    self._done.put((task, [_fault(source, error) for source in task.sources]))
        finally:
            station.close()


def _fault(source: Source, error: Exception) -> Skipped:
    return Skipped(source.name, f"cannot be scanned ({type(error).__name__}: {error})")
