"""Signals that wait while something is half done: a child that nobody knows yet, a removal."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Self

_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

_Handler = Callable[[int, FrameType | None], object]


class HeldSignals:
    """Within its block, the handlers of the signals that ask for an end wait until it is left.

    What a handler raises comes out of the block's end, or of `let_through`. Only handlers written
    in Python wait: the default action and ignoring stay as they are. Blocks may be nested. In
    other threads than the main one, where Python runs no handlers, the block does nothing.
    """

    def __init__(self) -> None:
        """Hold nothing yet."""
        self._before: dict[signal.Signals, _Handler] = {}
        self._arrived: list[int] = []
        self._holding = False

    def __enter__(self) -> Self:
        """Hold signals from here on."""
        self._holding = True
        if threading.current_thread() is threading.main_thread():
            try:
                for number in _ENDING:
                    handler = signal.getsignal(number)
                    if callable(handler):
                        self._before[number] = handler
                        signal.signal(number, self._note)
            except BaseException as error:
                # One that is not held yet has raised: without this, the others would be for ever.
                self.__exit__(type(error), error, error.__traceback__)
                raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the handlers back, then let them have what has arrived."""
        self._holding = False
        # A handler that raises in between leaves others to `_note`, which then only passes on.
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._deliver()

    @contextlib.contextmanager
    def let_through(self) -> Iterator[None]:
        """Within it, signals reach their handlers at once; those that have waited come first."""
        try:
            self._holding = False
            self._deliver()
            yield
        finally:
            self._holding = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._holding:
            self._arrived.append(number)
        else:
            self._before[signal.Signals(number)](number, frame)

    def _deliver(self) -> None:
        while self._arrived:
            number = self._arrived.pop(0)
            self._before[signal.Signals(number)](number, None)
