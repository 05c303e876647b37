"""The scan on a Dask cluster: this process finds the sources, the cluster's workers do the rest."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import logging
import os
import queue
import time
import uuid
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import Any

from satyrn_engine._node import Guards
from satyrn_engine._pool import AHEAD
from satyrn_engine._scan import Finding, Fork, Task
from satyrn_engine._sources import Source
from satyrn_engine._version import VERSION
from satyrn_engine.errors import ClusterError, SatyrnError
from satyrn_engine.reports import Skipped

#: Seconds until an address counts as unreachable.
CONNECT = 5.0
#: Seconds between two looks at how many workers there are.
LOOK = 2.0
#: Seconds that open tasks wait for a worker when there is none.
PATIENCE = 60.0


class ClusterWorkforce:
    """Tasks on a Dask cluster, a bounded number of them at a time.

    A task whose worker ends is run again by Dask. One that Dask gives up, because its workers ended
    again and again, is tried once more, with nothing else at work: so none is blamed for another
    one that shared its worker.
    """

    def __init__(
        self,
        guards: Guards,
        cluster: AbstractContextManager[str],
        *,
        here: bool,
        patience: float = PATIENCE,
    ) -> None:
        """Connect to the cluster and look at its workers.

        Args:
            guards: what the workers replay.
            cluster: holds the scheduler's address as long as the workforce needs it.
            here: whether the workers are on this machine, and see what is kept for this scan alone.
            patience: seconds that the scan waits when there is no worker.

        Raises:
            ClusterError: if there is no such cluster, or its workers cannot run the scan.
        """
        self._here = here
        self._patience = patience
        self._name = f"satyrn-engine-{uuid.uuid4().hex}"
        self._number = 0
        self._open: dict[str, tuple[Task, Any]] = {}
        self._suspects: list[Task] = []
        self._done: queue.SimpleQueue[tuple[str, object]] = queue.SimpleQueue()
        self._looked = self._worked = 0.0
        self._limit = 1
        with ExitStack() as stack:
            distributed = _distributed()
            self._worker_side = importlib.import_module("satyrn_engine._cluster_worker")
            self._killed: type[Exception] = distributed.KilledWorker
            stack.enter_context(_quiet())
            self._address = stack.enter_context(cluster)
            self._client = stack.enter_context(_connected(distributed, self._address))
            stack.enter_context(_stationed(self._client, self._worker_side, self._name, guards))
            self._look()
            self._stack = stack.pop_all()
        # A scan that is never ended would be closed when the client's thread is gone: a long wait.
        atexit.register(self.close)

    def put(self, task: Task) -> Iterator[tuple[Task, list[Finding]]]:
        """Add a task, and yield what is done; wait if there are too many open tasks."""
        kept_here = [source for source in task.sources if source.path != source.name]
        if kept_here and not self._here:
            why = "can be read only once; save it as a file that every worker sees"
            yield task, [Skipped(source.name, why) for source in kept_here]
            return
        self._submit(task)
        while self._open and (not self._done.empty() or len(self._open) >= self._limit):
            yield from self._next()

    def drain(self) -> Iterator[tuple[Task, list[Finding]]]:
        """Yield what comes of all open tasks."""
        while self._open:
            yield from self._next()
        suspects, self._suspects = self._suspects, []
        for task in suspects:
            self._submit(task)
            yield from self._next(alone=True)

    def close(self) -> None:
        """End the work, at once if tasks are open."""
        atexit.unregister(self.close)
        futures = [future for _, future in self._open.values()]
        self._open.clear()
        if futures:
            with suppress(Exception):
                self._client.cancel(futures, force=True)
        self._stack.close()

    def _submit(self, task: Task) -> None:
        self._number += 1
        key = f"{self._name}-{self._number}"
        sent = replace(
            task,
            sources=tuple(_absolute(source) for source in task.sources),
            ancestors=tuple(_absolute(source) for source in task.ancestors),
        )
        try:
            future = self._client.submit(
                self._worker_side.scan_here, self._name, sent, key=key, pure=False
            )
        except Exception as error:
            if self._client.status == "running":
                raise
            raise _lost(self._address) from error
        self._open[key] = task, future
        self._client.loop.add_callback(self._follow, key, future)

    async def _follow(self, key: str, future: Any) -> None:  # noqa: ANN401 - distributed's
        """Fetch what comes of a task, in the client's own thread."""
        outcome: object
        try:
            outcome = await future
        except BaseException as error:  # noqa: BLE001 - cancelled or failed, the task is over
            outcome = error
        self._done.put((key, outcome))

    def _next(self, *, alone: bool = False) -> Iterator[tuple[Task, list[Finding]]]:
        while True:
            # A wait without end could not be interrupted on every system.
            with suppress(queue.Empty):
                key, outcome = self._done.get(timeout=0.5)
                break
            self._look()
        self._look()
        task, _ = self._open.pop(key)
        if isinstance(outcome, list):
            yield task, [_as_it_was(found, task) for found in outcome]
        elif isinstance(outcome, self._killed) and not alone:
            self._suspects.append(task)
        elif isinstance(outcome, self._killed):
            why = "each worker of the cluster that scanned it ended; is it too large for them?"
            yield task, [Skipped(source.name, why) for source in task.sources]
        else:
            yield task, [_failure(source, outcome, self._address) for source in task.sources]

    def _look(self) -> None:
        """Look now and then how many tasks the cluster can work on, and if there is a cluster."""
        now = time.monotonic()
        if now - self._looked < LOOK:
            return
        try:
            threads = sum(self._client.nthreads().values())
        except Exception as error:
            raise _lost(self._address) from error
        self._looked = time.monotonic()
        if threads or not self._worked:
            self._worked = self._looked
        elif self._looked - self._worked > self._patience:
            raise ClusterError(
                f"{self._address}: for {self._patience:.0f} s the cluster has had no worker; start "
                f"one (dask worker {self._address}) and scan again"
            )
        self._limit = max(1, threads) * AHEAD


def _distributed() -> Any:  # noqa: ANN401 - a module
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise ClusterError(
            f"a cluster needs a package that is not installed ({error}): "
            'pip install "satyrn-engine[cluster]"'
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the cluster's libraries log away from the terminal: errors are told by the scan."""
    names = [
        name
        for name in [*logging.root.manager.loggerDict]
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio")
    ]
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextmanager
def _connected(distributed: Any, address: str) -> Iterator[Any]:  # noqa: ANN401 - no types
    try:
        with warnings.catch_warnings():
            # Other versions of Dask's packages work as a rule; if not, the tasks' errors say so.
            warnings.simplefilter("ignore")
            _find_scheduler(distributed, address)
            client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise ClusterError(
            f"{address}: no Dask scheduler answers there ({reason}); check the address, or start "
            "one (dask scheduler)"
        ) from error
    try:
        yield client
    finally:
        with suppress(Exception):
            client.close(timeout=CONNECT)


def _find_scheduler(distributed: Any, address: str) -> None:  # noqa: ANN401
    """Ask who is at an address: the client waits much longer than it was told to for an answer."""

    async def ask() -> Any:  # noqa: ANN401 - what distributed says
        options = distributed.Security().get_connection_args("client")
        async with distributed.rpc(address, connection_args=options) as server:
            return await server.identity()

    async def ask_and_wait() -> str:
        try:
            identity = await asyncio.wait_for(ask(), CONNECT)
        except TimeoutError:
            raise TimeoutError(f"nothing came within {CONNECT:.0f} s") from None
        return str(identity["type"])

    # In a thread, for this one may have a loop of its own, as in a notebook.
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(asyncio.run, ask_and_wait()).result()
    if found != "Scheduler":
        raise ValueError(f"this is a {found.lower()}")


@contextmanager
def _stationed(client: Any, worker_side: Any, name: str, guards: Guards) -> Iterator[None]:  # noqa: ANN401
    """Have stations on all workers, also on those that come later, as long as the scan lasts."""
    address = client.scheduler.address
    expected = worker_side.identity(guards)
    try:
        client.run_on_scheduler(worker_side.check_scheduler)
    except Exception as error:
        raise ClusterError(_cannot(f"the scheduler {address}", error)) from error
    checked = client.run(worker_side.check_worker, guards, expected, on_error="return")
    if not checked:
        raise ClusterError(
            f"{address}: the cluster has no worker; start one (dask worker {address})"
        )
    for worker, problem in sorted(checked.items()):
        if problem is not None:
            where = f"the worker {worker}"
            said = _cannot(where, problem) if isinstance(problem, Exception) else problem
            raise ClusterError(said)
    client.register_plugin(worker_side.Stations(guards, expected), name=name)
    try:
        yield
    finally:
        with suppress(Exception):
            client.unregister_worker_plugin(name)


def _cannot(where: str, error: Exception) -> str:
    if isinstance(error, SatyrnError):
        return f"{where}: {error}"
    reason = f"{type(error).__name__}: {error}"
    return (
        f"{where} cannot load satyrn-engine {VERSION} ({reason}); install it there: "
        f'pip install "satyrn-engine[cluster]=={VERSION}"'
    )


def _failure(source: Source, outcome: object, address: str) -> Skipped:
    """Return what is reported of a source whose task failed, if it is no failure of the scan."""
    if isinstance(outcome, SatyrnError):
        raise outcome
    if isinstance(outcome, ImportError):
        raise ClusterError(_cannot("a worker", outcome)) from outcome
    if not isinstance(outcome, Exception) or type(outcome).__name__.endswith("CancelledError"):
        raise _lost(address)
    return Skipped(source.name, f"cannot be scanned ({type(outcome).__name__}: {outcome})")


def _lost(address: str) -> ClusterError:
    return ClusterError(
        f"{address}: the connection to the scheduler was lost; scan again, with --cache DIR to "
        "keep what is done"
    )


def _absolute(source: Source) -> Source:
    """Return a source whose path means the same in every folder."""
    return source if "://" in source.path else replace(source, path=os.path.abspath(source.path))  # noqa: PTH100


def _as_it_was(found: Finding, task: Task) -> Finding:
    """Return a fork with the source that was put in, not the one that was sent."""
    if isinstance(found, Fork):
        for source in task.sources:
            if source.name == found.source.name:
                return replace(found, source=source)
    return found
