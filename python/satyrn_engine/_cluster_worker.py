"""The part of a scan that runs in a Dask worker, which needs this package and Node.js."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import Any

from distributed import WorkerPlugin, get_worker

from satyrn_engine._cache import guards_digest
from satyrn_engine._node import Guards, find_node
from satyrn_engine._scan import Finding, Task
from satyrn_engine._sources import Source
from satyrn_engine._station import RemoteStation
from satyrn_engine._version import VERSION
from satyrn_engine.errors import ClusterError, SatyrnError
from satyrn_engine.reports import Skipped

#: Seconds until a station without work ends: so none is left of a scan that could not clean up.
IDLE = 60.0

#: The version, and the contents of the guards.
Identity = tuple[str, str]


def identity(guards: Guards) -> Identity:
    """Return what must be the same on all machines of a scan."""
    return VERSION, guards_digest(guards)


def check_scheduler() -> None:
    """Do nothing: the scheduler reads tasks before it hands them on, so it loads this module."""


def check_worker(guards: Guards, expected: Identity, dask_worker: Any) -> str | None:  # noqa: ANN401
    """Return why this worker cannot take part in a scan, or nothing.

    Args:
        guards: what it would replay.
        expected: the identity of the machine that asks.
        dask_worker: is given by Dask.
    """
    where = f"the worker {dask_worker.address}"
    version, contents = expected
    if version != VERSION:
        return (
            f"{where} has satyrn-engine {VERSION}, and this machine has {version}; install the "
            f'same on both: pip install "satyrn-engine[cluster]=={version}"'
        )
    try:
        find_node()
        if guards_digest(guards) != contents:
            return f"{where} has other guards than this machine; install satyrn-engine there again"
    except SatyrnError as error:
        return f"{where}: {error}"
    return None


def scan_here(name: str, task: Task) -> list[Finding]:
    """Scan a task in this worker, with the stations of that name."""
    stations: Stations = get_worker().plugins[name]
    return stations.scan(task)


class Stations(WorkerPlugin):  # type: ignore[misc] # distributed is not looked into
    """The stations of a worker: as many as it has threads at work, each for many tasks.

    They are processes, so that threads do not wait for one another, and so that a session that
    ends its process does not end the worker.
    """

    def __init__(self, guards: Guards, expected: Identity) -> None:
        """This is on the machine that scans; `setup` is on the worker."""
        self._guards = guards
        self._expected = expected

    def setup(self, worker: Any) -> None:  # noqa: ANN401
        """Look if the worker can take part; the stations start with the first tasks."""
        self._address = worker.address
        self._problem = check_worker(self._guards, self._expected, worker)
        self._lock = threading.Lock()
        self._idle: list[tuple[RemoteStation, threading.Timer]] = []
        self._busy: set[RemoteStation] = set()
        self._closed = False

    def teardown(self, worker: Any) -> None:  # noqa: ANN401, ARG002
        """End all stations, also those at work."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            for station in self._busy:
                station.kill()
        for station, timer in idle:
            timer.cancel()
            station.close()

    def scan(self, task: Task) -> list[Finding]:
        """Scan a task.

        Raises:
            ClusterError: if this worker cannot.
        """
        if self._problem is not None:
            raise ClusterError(self._problem)
        why = (
            f"the worker {self._address} does not see this file; scan a folder that all "
            "machines share, or an address such as s3://bucket/sessions"
        )
        seen: list[Source] = []
        unseen: list[Finding] = []
        for source in task.sources:
            if _is_seen(source):
                seen.append(source)
            else:
                unseen.append(Skipped(source.name, why))
        if not seen:
            return unseen
        station = self._take()
        try:
            return unseen + station.scan(replace(task, sources=tuple(seen)))
        except SatyrnError as error:
            raise ClusterError(f"the worker {self._address}: {error}") from error
        finally:
            self._put_back(station)

    def _take(self) -> RemoteStation:
        with self._lock:
            if self._idle:
                station, timer = self._idle.pop()
                timer.cancel()
            else:
                station = RemoteStation(self._guards)
            self._busy.add(station)
            if self._closed:
                station.kill()
            return station

    def _put_back(self, station: RemoteStation) -> None:
        with self._lock:
            self._busy.discard(station)
            if not self._closed:
                timer = threading.Timer(IDLE, self._retire, [station])
                timer.daemon = True
                timer.start()
                self._idle.append((station, timer))
                return
        station.close()

    def _retire(self, station: RemoteStation) -> None:
        with self._lock:
            kept = [each for each in self._idle if each[0] is not station]
            if len(kept) == len(self._idle):
                return
            self._idle = kept
        station.close()


def _is_seen(source: Source) -> bool:
    return "://" in source.path or os.path.exists(source.path)  # noqa: PTH110
