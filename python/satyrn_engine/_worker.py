"""Replay: one Node process that runs the shipped guards, fed by pipe."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

import msgspec

from satyrn_engine._children import node_command, node_environment
from satyrn_engine._node import Guards
from satyrn_engine._outcome import Outcome
from satyrn_engine._steps import (
    Call,
    Compacted,
    GuardsRestarted,
    Prompt,
    Step,
    ToolsDeclared,
    Turn,
)
from satyrn_engine.errors import WorkerDiedError

#: Seconds that a branch may take after its last step. The guards take microseconds a call.
PATIENCE = 300.0
#: Seconds between two looks at whether an answer is overdue.
_LOOK = 0.25
#: Bytes that are gathered before they are written to the pipe.
_BATCH = 1 << 18
#: Names of tools that are kept as JSON.
_NAMES = 10_000


class Verdict(msgspec.Struct, frozen=True, rename="camel"):
    """What the guards did with one branch.

    Attributes:
        refusals: number of the call, from 0, rejected calls included; and the guard's name.
        detections: number of the turn, from 0, and the kind.
        first_detection: how many calls the model had made when something was first found.
        first_enforcement: the same for what was first kept from happening: a call was refused, or
            an answer stopped.
        longest_run: the most identical calls in direct succession.
        strongest_repeat: the most identical calls among any twenty that follow one another.
        faults: what the guards did wrong.
    """

    refusals: list[tuple[int, str]] = []
    detections: list[tuple[int, str]] = []
    first_detection: int | None = None
    first_enforcement: int | None = None
    longest_run: int = 0
    strongest_repeat: int = 0
    faults: list[str] = []
    error: str | None = None


class Replayer(Protocol):
    """What runs guards over the steps of a branch."""

    def begin(self, session: str, cwd: str) -> None:
        """Begin a branch of a session, with guards that have seen nothing."""

    def show(self, step: Step) -> None:
        """Show the next step."""

    def drop(self) -> None:
        """Forget the branch."""

    def verdict(self) -> Verdict:
        """End the branch and return what the guards did with it."""


class Worker:
    """A Node process with the guards loaded. One thread uses it at a time.

    Any method raises `WorkerDiedError` once the process has ended.
    """

    def __init__(self, guards: Guards, patience: float = PATIENCE) -> None:
        """Start the process, which loads the guards while it is shown the first steps.

        Raises:
            NodeError: if there is no Node that can run them.
            ConfigError: if a guard does not exist.
        """
        self._everything = guards.read_everything
        self._patience = patience
        self._batch: list[bytes] = []
        self._size = 0
        files = guards.files()
        self._folder = tempfile.TemporaryDirectory(prefix="satyrn-", ignore_cleanup_errors=True)
        self._said = (Path(self._folder.name) / "stderr").open("w+b")
        if guards.police_config is not None:
            self.configure(guards.police_config)
        self._process = subprocess.Popen(
            node_command("worker.mjs", *(f"{name}={file}" for name, file in files)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            cwd=self._folder.name,
            env=node_environment(self._folder.name),
            # Ctrl-C is ours to handle: the process ends when its input does.
            start_new_session=True,
        )
        self._ready = False
        #: When an answer is overdue, while one is waited for.
        self._deadline: float | None = None
        self._closed = threading.Event()
        self._watchdog = threading.Thread(target=self._watch, daemon=True)
        self._watchdog.start()

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def configure(self, police_config: str) -> None:
        """Change the configuration of police for the branches to come, before one begins.

        Args:
            police_config: text of a `loop-police.json`.
        """
        Path(self._folder.name, "loop-police.json").write_text(police_config, "utf-8")

    def begin(self, session: str, cwd: str) -> None:
        """Begin a branch of a session, with guards that have seen nothing."""
        place = msgspec.json.encode({"id": session, "cwd": cwd})
        self._write(b'["branch",%b]\n' % place)

    def show(self, step: Step) -> None:
        """Show the guards the next step. Nothing is waited for."""
        message = _message(step, everything=self._everything)
        if message:
            self._write(message)

    def drop(self) -> None:
        """Forget the branch."""
        self._write(b'["drop"]\n')

    def verdict(self) -> Verdict:
        """End the branch and return what the guards did with it."""
        self._batch.append(b'["end"]\n')
        self._flush()
        if not self._ready:
            self._read()
            self._ready = True
        verdict = msgspec.json.decode(self._read(), type=Verdict)
        if verdict.error is not None:
            raise WorkerDiedError(f"the guards failed ({verdict.error})")
        return verdict

    def close(self) -> None:
        """End the process and wait for it."""
        self._closed.set()
        with suppress(OSError):
            self._pipe(self._process.stdin).close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._pipe(self._process.stdout).close()
        self._said.close()
        self._folder.cleanup()

    def kill(self) -> None:
        """End the process at once, from any thread."""
        self._process.kill()

    def _write(self, message: bytes) -> None:
        self._batch.append(message)
        self._size += len(message)
        if self._size >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        data, self._batch, self._size = b"".join(self._batch), [], 0
        self._deadline = time.monotonic() + self._patience
        try:
            pipe = self._pipe(self._process.stdin)
            pipe.write(data)
            pipe.flush()
        except OSError as error:
            raise self._death() from error
        finally:
            self._deadline = None

    def _read(self) -> bytes:
        self._deadline = time.monotonic() + self._patience
        try:
            line = self._pipe(self._process.stdout).readline()
        finally:
            self._deadline = None
        if not line.endswith(b"\n"):
            raise self._death()
        return line

    def _watch(self) -> None:
        """End the process if it keeps an answer back. A timer would be a thread for each answer."""
        while not self._closed.wait(_LOOK):
            deadline = self._deadline
            if deadline is not None and time.monotonic() > deadline:
                self.kill()
                return

    def _death(self) -> WorkerDiedError:
        code = self._process.wait()
        self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - 4000))
        said = self._said.read().decode(errors="replace").strip().splitlines()
        why = f": {said[0]}" if said else ""
        for line in said:
            if "Error" in line:
                why = f": {line.strip()}"
                break
        return WorkerDiedError(f"the process that runs the guards ended with {code}{why}")

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


_names: dict[str, bytes] = {}


def _name(tool: str) -> bytes:
    """Return a tool's name as JSON; a scan meets the same few over and over."""
    found = _names.get(tool)
    if found is None:
        if len(_names) >= _NAMES:
            _names.clear()
        found = _names[tool] = msgspec.json.encode(tool)
    return found


def _message(step: Step, *, everything: bool) -> bytes:
    match step:
        case Turn():
            return _turn_with_texts(step) if everything else _turn(step)
        case GuardsRestarted():
            return b'["restart"]\n'
        case ToolsDeclared():
            return b'["tools",%b]\n' % step.tools
        case Prompt() if everything:
            return b'["prompt",%b]\n' % step.line.rstrip()
        case Compacted() if everything:
            return b'["compacted"]\n'
        case _:
            return b""


def _turn(turn: Turn) -> bytes:
    # Joined, which takes half as long as formatting.
    calls = [
        b"".join((b'["",', _name(call.tool), b",", call.arguments, _end(call)))
        for call in turn.calls
    ]
    return b"".join((b'["turn",[', b",".join(calls), b"]]\n"))


def _end(call: Call) -> bytes:
    return b",true]" if call.outcome is _REACHED else b",false]"


def _turn_with_texts(turn: Turn) -> bytes:
    calls = [
        b"[%b,%b,%b%b"
        % (msgspec.json.encode(str(call.id)), _name(call.tool), call.arguments, _end(call))
        for call in turn.calls
    ]
    results = b",".join(line.rstrip() for line in turn.results)
    return b'["turn",[%b],%b,[%b]]\n' % (b",".join(calls), turn.line.rstrip(), results)


_REACHED = Outcome.REACHED


class NoGuards:
    """A replayer that runs nothing: for reading alone."""

    def begin(self, session: str, cwd: str) -> None:
        """Begin nothing."""

    def show(self, step: Step) -> None:
        """Look at nothing."""

    def drop(self) -> None:
        """Forget nothing."""

    def verdict(self) -> Verdict:
        """Return that nothing was found."""
        return Verdict()
