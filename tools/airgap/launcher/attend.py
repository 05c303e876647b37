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
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import IO

from .children import SIGNALS

# Ctrl-C reaches the child by its terminal; Bazel counts them, so it must not get it twice.
_PASSED_ON = (signal.SIGHUP, signal.SIGTERM)


def heard() -> list[signal.Signals]:
    """The signals that end this process as things are, and that the child has to hear."""
    return [each for each in SIGNALS if signal.getsignal(each) is not signal.SIG_IGN]


def hearing(signals: Sequence[signal.Signals], inner: Sequence[str]) -> list[str]:
    """The command that runs `inner` in the root with its own ear for what is ignored around it."""
    names = ",".join(each.name.removeprefix("SIG") for each in signals)
    return ["/usr/bin/env", f"--default-signal={names}", *inner] if names else [*inner]


def attend(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run bubblewrap and return the exit status of what it runs; 128 and more for a signal.

    Args:
        command: that of bubblewrap; at its end what `hearing` made.
        environ: the environment.
    """
    signals = heard()
    ear = _Ear()
    for each in signals:
        signal.signal(each, ear.hear if each in _PASSED_ON else signal.SIG_IGN)
    told, tell = os.pipe()
    with os.fdopen(told, "rb") as telling:
        try:
            process = subprocess.Popen(
                [command[0], "--info-fd", str(tell), *command[1:]],
                env=dict(environ),
                pass_fds=(tell,),
                preexec_fn=lambda: _ignore(signals),  # noqa: PLW1509 - there are no threads
            )
        finally:
            os.close(tell)
        ear.listen_for(_child(telling))
    status = process.wait()
    return status if status >= 0 else 128 - status


def _ignore(signals: Sequence[signal.Signals]) -> None:
    for each in signals:
        signal.signal(each, signal.SIG_IGN)


class _Ear:
    """Hears for the child, also what comes before it is known."""

    def __init__(self) -> None:
        self._child: int | None = None
        self._early: list[int] = []

    def hear(self, number: int, _frame: FrameType | None) -> None:
        if self._child is None:
            self._early.append(number)
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._child, number)

    def listen_for(self, child: int | None) -> None:
        self._child = child
        for number in self._early if child is not None else ():
            self.hear(number, None)


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
