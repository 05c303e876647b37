"""Ctrl-C that no finaliser swallows."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self


class Interruption:
    """Remembers, as long as it is entered, that Ctrl-C was pressed.

    Python raises `KeyboardInterrupt` wherever the program is just then. In a finaliser, such as
    those of Dask's futures, the exception would be printed and forgotten, and the work go on.
    """

    def __init__(self) -> None:
        """Be ready to be entered, in any thread; only the main one is ever interrupted."""
        self._pressed = False
        self._before: object = None

    def __enter__(self) -> Self:
        ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        if threading.current_thread() is threading.main_thread() and not ignored:
            self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if callable(self._before) or isinstance(self._before, int):
            signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if Ctrl-C was pressed: call it between two pieces of work."""
        if self._pressed:
            raise KeyboardInterrupt

    def _press(self, _number: int, frame: FrameType | None) -> None:
        self._pressed = True
        while frame is not None:
            if frame.f_code.co_name == "__del__":
                return
            frame = frame.f_back
        raise KeyboardInterrupt
