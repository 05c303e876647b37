"""Runs a program with a deadline, and ends it with everything that it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from satyrn_engine.testing.signals import HeldSignals

# How long Pi gets to end its own children after SIGTERM, and the pipes to run dry after SIGKILL.
_GRACE_SECONDS = 2.0


@dataclass(frozen=True)
class Finished:
    """A program that ended, by itself or not.

    Attributes:
        exit_code: As `subprocess` gives it: negative for a signal.
        stdout: All of it.
        stderr: All of it.
        timed_out: Whether the deadline ended it.
    """

    exit_code: int
    stdout: bytes
    stderr: bytes
    timed_out: bool


def start(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: int
) -> subprocess.Popen[bytes]:
    """Start `command` as the leader of its own session and process group.

    A signal waits until the child is known: one that landed between its birth and the return of
    `Popen` would leave it running, with nobody to end it. What the signal's handler then raises
    comes out of here once the child has ended.
    """
    process = None
    try:
        with HeldSignals():
            process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
    except BaseException:
        if process is not None:
            end(process)
            _drain(process)
        raise
    return process


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str], timeout: float) -> Finished:
    """Run `command` to its end, without input and for at most `timeout` seconds.

    Whatever interrupts the start or the wait, Ctrl-C too, ends the program and what it started.
    """
    with HeldSignals() as signals:
        process = start(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL)
        try:
            with signals.let_through():
                stdout, stderr = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            end(process)
            stdout, stderr = _drain(process)
            return Finished(process.returncode, stdout, stderr, timed_out=True)
        except BaseException:
            end(process)
            _drain(process)
            raise
        return Finished(process.returncode, stdout, stderr, timed_out=False)


def end(process: subprocess.Popen[bytes]) -> None:
    """End `process`, its group, and descendants that left the group (as Pi's commands do).

    Signals wait for the few seconds that this may take.
    """
    with HeldSignals():
        _end_family(process)


def _end_family(process: subprocess.Popen[bytes]) -> None:
    family = _descendants(process.pid)
    _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)
    _signal_group(process, signal.SIGKILL)
    for pid, born in family.items():
        # A number may have been given to someone else meanwhile: the time of birth tells.
        if _birth(pid) == born:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    # Not yet waited for means that the number, which is also the group's, is still ours.
    if process.returncode is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, number)


def _drain(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    try:
        return process.communicate(timeout=_GRACE_SECONDS)
    except subprocess.TimeoutExpired as error:
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        return error.stdout or b"", error.stderr or b""


def _descendants(pid: int) -> dict[int, str | None]:
    """Return the processes below `pid` with their times of birth; {} where there is no /proc."""
    found: dict[int, str | None] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop()
        for listing in Path(f"/proc/{parent}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                children = [int(word) for word in listing.read_text().split()]
                waiting += [child for child in children if child not in found]
                found |= {child: _birth(child) for child in children}
    return found


def _birth(pid: int) -> str | None:
    """Return the start time of a process in clock ticks since boot (field 22 of its stat)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
