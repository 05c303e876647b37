"""One at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


def holder_of(file: Path) -> str | None:
    """Who holds the file locked, as `process 4711`; None when nobody does, or it is not there."""
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(descriptor)
    finally:
        os.close(descriptor)
    return None


@contextlib.contextmanager
def exclusive(file: Path, waiting: Callable[[str], None]) -> Iterator[int]:
    """Hold the file locked, and yield its descriptor.

    Args:
        file: made when it is not there.
        waiting: called once, with who holds it, when somebody does. The kernel lets go of the
            lock when its holder ends, however it ends.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting(_named(descriptor))
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _named(descriptor: int) -> str:
    holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
    return f"process {holder}" if holder else "another process"
