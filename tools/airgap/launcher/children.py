"""Programs that the launcher runs: their words kept in a log, and ended when it is ended."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO

# Seconds that a program gets to clean up after TERM, before KILL.
_GRACE = 10.0
# What asks a program to end.
SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Interrupted(BaseException):
    """A signal asked the launcher to stop; `number` is which."""

    def __init__(self, number: int) -> None:
        """Take the signal's number."""
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Within it, the signals that end a program raise `Interrupted` instead."""

    def stop(number: int, _frame: FrameType | None) -> None:
        # A second one must not cut the cleaning up short.
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise Interrupted(number)

    before = {each: signal.signal(each, stop) for each in SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def run(
    command: Sequence[str],
    log: Path,
    *,
    held: int,
    heard: Callable[[str], None],
    idle: Callable[[], None],
    environ: Mapping[str, str] | None = None,
    stdout: IO[bytes] | None = None,
) -> int:
    """Run a program in a process group of its own, and return its exit status.

    Args:
        command: the program, by its whole path, and its arguments.
        log: every line it says is appended here.
        held: a locked file that the program inherits: if the launcher is killed without a chance
            to end its children, the lock lasts as long as they do.
        heard: called with every line.
        idle: called at least once a second.
        environ: its environment, or None for the launcher's own.
        stdout: where its output goes, when it is not words.
    """
    with log.open("ab") as record:
        record.write(f"$ {' '.join(command)}\n".encode())
        record.flush()
        with subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE if stdout else subprocess.STDOUT,
            env=None if environ is None else dict(environ),
            pass_fds=(held,),
            start_new_session=True,
        ) as child:
            try:
                words = child.stderr if stdout else child.stdout
                assert words is not None
                for line in _lines(words, idle):
                    record.write(line + b"\n")
                    heard(line.decode(errors="replace").rstrip())
                return child.wait()
            except BaseException:
                end(child)
                raise


def end(child: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started."""
    for number, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _GRACE)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            child.poll()
            if not _alive(child.pid):
                return
            time.sleep(0.05)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        # A program of another user in the group, as apt's downloader may be.
        return True
    return True


def _lines(stream: IO[bytes], idle: Callable[[], None]) -> Iterator[bytes]:
    descriptor = stream.fileno()
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            idle()
            if not selector.select(timeout=1):
                continue
            chunk = os.read(descriptor, 65536)
            if not chunk:
                break
            *whole, rest = (rest + chunk).replace(b"\r", b"\n").split(b"\n")
            yield from whole
    if rest:
        yield rest
