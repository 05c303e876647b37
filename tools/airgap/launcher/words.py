"""What the launcher says: problems with their remedy, and progress that a person can follow."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO


class Problem(Exception):
    """Something that only the person can mend.

    Attributes:
        what: one sentence that says what is wrong.
        remedy: one sentence that says what to do; always the last line that is printed.
    """

    def __init__(self, what: str, remedy: str) -> None:
        """Take both sentences."""
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        """Both, the remedy on the last line."""
        return f"{self.what}\nWhat to do: {self.remedy}"


class Progress:
    """Prints one line for each stage, with the minutes and seconds since the first.

    Attributes:
        detail: how far the current stage is, for `tick`.
        patience: seconds of silence after which `tick` repeats the stage that is under way.
    """

    def __init__(
        self,
        out: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        patience: float = 15,
    ) -> None:
        """Print to `out`, the standard error by default."""
        self._out = out if out is not None else sys.stderr
        self._clock = clock
        self._start: float | None = None
        self._said = 0.0
        self._current = ""
        self.detail = ""
        self.patience = patience

    def note(self, text: str) -> None:
        """Print a line that belongs to no stage."""
        print(f"tools/bazel: {text}", file=self._out, flush=True)

    def stage(self, text: str) -> None:
        """Begin a stage; saying the current one again prints nothing."""
        if text != self._current:
            self._current = text
            self.detail = ""
            self._print(text)

    def tick(self) -> None:
        """Say that the current stage still goes on, when nothing was said for `patience`."""
        if self._current and self._clock() - self._said >= self.patience:
            self._print(f"still {self._current}" + (f" ({self.detail})" if self.detail else ""))

    def elapsed(self) -> float:
        """Seconds since the first stage began."""
        return 0.0 if self._start is None else self._clock() - self._start

    def _print(self, text: str) -> None:
        now = self._clock()
        if self._start is None:
            self._start = now
        self._said = now
        minutes, seconds = divmod(int(now - self._start), 60)
        print(f"  [{minutes}:{seconds:02}] {text}", file=self._out, flush=True)


def size(count: float) -> str:
    """A number of bytes, as a person reads it."""
    step = 1000
    for unit in ("bytes", "kB", "MB"):
        if count < step:
            return f"{count:.0f} {unit}"
        count /= step
    return f"{count:.1f} GB"
