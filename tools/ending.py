"""An orderly end for programs that keep others running or a scratch folder."""

from __future__ import annotations

import signal

# Ctrl-C, `kill`, and a terminal or connection that is closed.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_by_signals() -> None:
    """Let each signal that asks for an end raise `KeyboardInterrupt` once.

    What is asked again while the program cleans up is not heard, so that nothing is left running.
    A signal that whoever started the program ignores stays ignored, as `nohup` wants it.
    """
    for number in _ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(_number: int, _frame: object) -> None:
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
