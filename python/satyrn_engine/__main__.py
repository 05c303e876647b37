"""`python -m satyrn_engine` is the command `satyrn-engine`."""

import os
import signal
import sys
from types import FrameType

# INTERRUPTED of satyrn_engine.cli, which is not loaded by then.
_INTERRUPTED = 130


def entry() -> None:
    """Run the command and end the process: what the script `satyrn-engine` calls."""
    # Loading takes a moment, and a traceback out of other people's modules helps nobody.
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heard:
        signal.signal(signal.SIGINT, _end)
    from satyrn_engine.cli import main

    if heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main())


def _end(_number: int, _frame: FrameType | None) -> None:
    # Nothing was begun, and an exception would be shown.
    os._exit(_INTERRUPTED)


if __name__ == "__main__":
    entry()
