"""A real Dask scheduler and its workers for tests: processes that end with the test."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

PROGRAM = Path(__file__).with_name("dask_program.py")


class DaskProcess:
    """A process of a cluster."""

    def __init__(self, kind: str, *arguments: str, **environment: str) -> None:
        """Start it, and wait until it says its address."""
        node = os.environ.get("SATYRN_NODE")
        known = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **({"SATYRN_NODE": str(Path(node).absolute())} if node else {}),
        }
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), kind, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=known | environment,
        )
        self.address = _pipe(self.process.stdout).readline().decode().strip()
        assert self.address, f"the {kind} did not start"

    @property
    def pid(self) -> int:
        """Its id."""
        return self.process.pid

    def ask_to_end(self) -> None:
        """Let it end."""
        with suppress(OSError):
            _pipe(self.process.stdin).close()

    def close(self) -> None:
        """Let it end, and wait for it."""
        self.ask_to_end()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        _pipe(self.process.stdout).close()


class DaskCluster:
    """A scheduler, and workers with one thread each."""

    def __init__(self, **environment: str) -> None:
        """Start the scheduler.

        Args:
            **environment: variables of the scheduler and the workers; see `dask_tricks`.
        """
        self._environment = environment
        self.scheduler = DaskProcess("scheduler", **environment)
        self.workers: list[DaskProcess] = []
        self.address = self.scheduler.address

    def add(self, kind: str = "worker", **environment: str) -> DaskProcess:
        """Start another worker.

        Args:
            kind: `worker`, or `nanny` for one that is started again when it ends.
            **environment: further variables of its own.
        """
        worker = DaskProcess(kind, self.address, **(self._environment | environment))
        self.workers.append(worker)
        return worker

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        for worker in self.workers:
            worker.ask_to_end()
        for each in [*self.workers, self.scheduler]:
            each.close()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe
