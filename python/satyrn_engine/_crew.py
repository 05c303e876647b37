"""Tune: threads with a worker each, which try one choice of settings after the other.

Police read their settings whenever a branch begins, so a worker needs no new process for them: to
start one takes longer than to replay most sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from satyrn_engine._node import Guards
from satyrn_engine._scan import Finding, Task, scan_task
from satyrn_engine._worker import Worker
from satyrn_engine.errors import SatyrnError, WorkerDiedError
from satyrn_engine.reports import Skipped

#: How often a task is tried with a new process after the one that worked on it has died.
RETRIES = 1
#: A wait without end could not be interrupted on every system.
_GLANCE = 0.5


@dataclass(slots=True)
class _Place:
    """A thread's worker, and the settings that it has."""

    worker: Worker | None = None
    settings: str = ""


class Crew:
    """Replays sessions through police, several at a time, until it is closed."""

    def __init__(self, jobs: int) -> None:
        """Workers start with their first task."""
        self._threads = ThreadPoolExecutor(jobs)
        self._here = threading.local()
        self._places: list[_Place] = []
        self._closed = False

    def shift(self, settings: str) -> Shift:
        """Return what scans tasks with these settings: the text of a `loop-police.json`."""
        return Shift(self, settings)

    def submit(self, task: Task, settings: str) -> Future[list[Finding]]:
        """Begin a task."""
        return self._threads.submit(self._scan, task, settings)

    def close(self) -> None:
        """End the workers, at once if tasks are open."""
        self._closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for place in list(self._places):
            if place.worker is not None:
                place.worker.kill()
        self._threads.shutdown()
        for place in self._places:
            if place.worker is not None:
                place.worker.close()

    def _scan(self, task: Task, settings: str) -> list[Finding]:
        place: _Place | None = getattr(self._here, "place", None)
        if place is None:
            place = self._here.place = _Place()
            self._places.append(place)
        at = place

        def take() -> Worker:
            if self._closed:
                raise WorkerDiedError("the work was ended")
            if at.worker is None:
                at.worker = Worker(Guards(("police",), settings))
            elif at.settings != settings:
                at.worker.configure(settings)
            at.settings = settings
            return at.worker

        def drop() -> None:
            worker, at.worker = at.worker, None
            if worker is not None:
                worker.close()

        try:
            return scan_task(task, take, drop, RETRIES)
        except SatyrnError:
            raise
        except Exception as error:  # noqa: BLE001
            why = f"cannot be scanned ({type(error).__name__}: {error})"
            return [Skipped(source.name, why) for source in task.sources]


class Shift:
    """The crew at work on one choice of settings; a `Workforce`."""

    def __init__(self, crew: Crew, settings: str) -> None:
        """`settings` is the text of a `loop-police.json`."""
        self._crew = crew
        self._settings = settings
        self._open: dict[Future[list[Finding]], Task] = {}

    def put(self, task: Task) -> Iterator[tuple[Task, list[Finding]]]:
        """Add a task, and yield what is done."""
        self._open[self._crew.submit(task, self._settings)] = task
        yield from self._done([each for each in self._open if each.done()])

    def drain(self) -> Iterator[tuple[Task, list[Finding]]]:
        """Yield what comes of all open tasks."""
        while self._open:
            done, _ = wait(self._open, timeout=_GLANCE, return_when=FIRST_COMPLETED)
            yield from self._done(list(done))

    def close(self) -> None:
        """Leave what has not begun: the crew goes on with other settings."""
        for each in self._open:
            each.cancel()
        self._open.clear()

    def _done(self, futures: list[Future[list[Finding]]]) -> Iterator[tuple[Task, list[Finding]]]:
        for future in futures:
            yield self._open.pop(future), future.result()
