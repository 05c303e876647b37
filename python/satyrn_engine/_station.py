"""A Python process with a Node process: one reads sessions and the other runs the guards.

`Station` is such a pair within this process; `RemoteStation` has it in a child of its own, so that
several sessions are read at the same time. The child is this module, run as a program.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from contextlib import suppress
from typing import IO

from satyrn_engine._children import python_environment
from satyrn_engine._node import Guards
from satyrn_engine._scan import Finding, Task, died_finding, scan_task
from satyrn_engine._worker import Worker
from satyrn_engine.errors import SatyrnError

#: How often a task is tried with a new process after the one that worked on it has died.
RETRIES = 1


class Station:
    """Keeps a worker, and starts another one when it dies."""

    def __init__(self, guards: Guards) -> None:
        """The worker starts with the first task."""
        self._guards = guards
        self._worker: Worker | None = None

    def scan(self, task: Task) -> list[Finding]:
        """Scan the sources of a task. Whatever is wrong with them is among the findings.

        Raises:
            SatyrnError: if no worker can be started.
        """
        return scan_task(task, self._take, self.close, RETRIES)

    def close(self) -> None:
        """End the worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()

    def _take(self) -> Worker:
        if self._worker is None:
            self._worker = Worker(self._guards)
        return self._worker


class RemoteStation:
    """A station in a child process."""

    def __init__(self, guards: Guards) -> None:
        """The child starts with the first task."""
        self._guards = guards
        self._child: subprocess.Popen[bytes] | None = None
        #: For what the child keeps on disk: a child that is killed removes nothing.
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._stopped = False

    def scan(self, task: Task) -> list[Finding]:
        """Scan the sources of a task. Whatever is wrong with them is among the findings.

        Raises:
            SatyrnError: if no worker can be started.
        """
        code = 0
        for _ in range(RETRIES + 1):
            child = self._child = self._child or self._start()
            if self._stopped:
                child.kill()
            try:
                pickle.dump(task, _pipe(child.stdin))
                _pipe(child.stdin).flush()
                answer = pickle.load(_pipe(child.stdout))  # noqa: S301
            except (OSError, EOFError, pickle.UnpicklingError):
                code = child.wait()
                self.close()
                if self._stopped:
                    break
                continue
            if isinstance(answer, SatyrnError):
                raise answer
            findings: list[Finding] = answer
            return findings
        why = f"the process that reads sessions ended with {code}"
        return [died_finding(source, why, RETRIES) for source in task.sources]

    def kill(self) -> None:
        """End the child for good, from any thread; its worker ends with it."""
        self._stopped = True
        child = self._child
        if child is not None:
            child.kill()

    def close(self) -> None:
        """End the child and its worker."""
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(OSError):
            _pipe(child.stdin).close()
        child.wait()
        _pipe(child.stdout).close()
        if self._folder is not None:
            self._folder.cleanup()

    def _start(self) -> subprocess.Popen[bytes]:
        self._folder = tempfile.TemporaryDirectory(prefix="satyrn-", ignore_cleanup_errors=True)
        return _start(self._guards, self._folder.name)


def _start(guards: Guards, folder: str) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [sys.executable, "-m", "satyrn_engine._station"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=python_environment(folder),
        # Ctrl-C is the parent's to handle.
        start_new_session=True,
    )
    pickle.dump(guards, _pipe(child.stdin))
    return child


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    station = Station(pickle.load(tasks))  # noqa: S301
    try:
        while True:
            try:
                task = pickle.load(tasks)  # noqa: S301
            except EOFError:
                return
            answer: list[Finding] | SatyrnError
            try:
                answer = station.scan(task)
            except SatyrnError as error:
                answer = error
            pickle.dump(answer, answers)
            answers.flush()
    finally:
        station.close()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
