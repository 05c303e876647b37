"""Stay until what runs in the private root has ended, and pass on what asks it to end.

bubblewrap waits for its child and hands its exit status on, but ends at once of a signal that the
child still cleans up after: the prompt would be back too early after Ctrl-C, and what was ended by
TERM would live on.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import IO

# Ctrl-C reaches the child by its terminal; Bazel counts them, so it must not get it twice.
_PASSED_ON = (signal.SIGHUP, signal.SIGTERM)
_ENDING = (*_PASSED_ON, signal.SIGINT)


def heard() -> list[signal.Signals]:
    """The signals that end this process as things are, and that the child has to hear."""
    return [each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN]


def hearing(signals: Sequence[signal.Signals], inner: Sequence[str]) -> list[str]:
    """The command that runs `inner` in the root with its own ear for what is ignored around it."""
    names = ",".join(each.name.removeprefix("SIG") for each in signals)
    return ["/usr/bin/env", f"--default-signal={names}", *inner] if names else [*inner]


def attend(bwrap: str, arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run bubblewrap and return the exit status of what it runs; 128 and more for a signal.

    Args:
        bwrap: the program.
        arguments: its arguments, the command at their end made by `hearing`.
        environ: the environment.
    """
    signals = heard()
    for each in signals:
        signal.signal(each, signal.SIG_IGN)
    told, tell = os.pipe()
    with os.fdopen(told, "rb") as telling:
        try:
            process = subprocess.Popen(
                [bwrap, "--info-fd", str(tell), *arguments], env=dict(environ), pass_fds=(tell,)
            )
        finally:
            os.close(tell)
        child = _child(telling)
    with _passing_on(child, [each for each in _PASSED_ON if each in signals]):
        status = process.wait()
    return status if status >= 0 else 128 - status


def _child(telling: IO[bytes]) -> int | None:
    information = b""
    # The child may hold the other end open as long as it runs.
    while b"}" not in information:
        more = os.read(telling.fileno(), 4096)
        if not more:
            # It did not come that far, and says why.
            return None
        information += more
    return int(json.loads(information)["child-pid"])


@contextlib.contextmanager
def _passing_on(child: int | None, signals: Sequence[signal.Signals]) -> Iterator[None]:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, number)

    for each in signals:
        signal.signal(each, pass_on)
    try:
        yield
    finally:
        for each in signals:
            signal.signal(each, signal.SIG_IGN)
