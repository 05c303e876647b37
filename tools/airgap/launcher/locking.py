"""One at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


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
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            waiting(f"process {holder}" if holder else "another process")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)
