"""Pi's terminal interface in a pseudo-terminal: types keys and reads the screen."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

import pexpect
import pyte
from satyrn_engine.testing import PROVIDER, PiHome

_COLUMNS = 120
_LINES = 60
_SECONDS = 30.0

# pyte drops the rest of a line behind it; terminals take no column for it.
_VARIATION_SELECTOR = "\ufe0f"


class Terminal:
    """Pi as a person sees it; use it in a `with` block, which ends it."""

    def __init__(self, home: PiHome) -> None:
        """Start Pi with the home's scripted model."""
        model = home.model
        assert model is not None
        program, *arguments = home.program.command
        self._process = pexpect.spawn(
            program,
            [*arguments, "--provider", PROVIDER, "--model", model.name],
            cwd=str(home.project),
            env={**home.environment(), "TERM": "xterm-256color"},
            dimensions=(_LINES, _COLUMNS),
            timeout=_SECONDS,
            encoding="utf-8",
        )
        self._screen = pyte.Screen(_COLUMNS, _LINES)
        self._stream = pyte.Stream(self._screen)

    def __enter__(self) -> Self:
        """Return the terminal, which is already running."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End Pi."""
        self._process.close(force=True)

    @property
    def text(self) -> str:
        """What the screen shows, without the blanks at the ends of its lines."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    def type(self, keys: str) -> None:
        """Type; a carriage return is the enter key."""
        self._process.send(keys)

    def wait_for(self, *words: str) -> str:
        """Wait until the screen shows all of `words`, and return it."""
        deadline = time.monotonic() + _SECONDS
        while not all(word in self.text for word in words):
            if time.monotonic() > deadline:
                raise AssertionError(f"{words} did not all come on the screen:\n{self.text}")
            self._read()
        return self.text

    def _read(self) -> None:
        try:
            data = self._process.read_nonblocking(65_536, timeout=0.1)
        except pexpect.TIMEOUT:
            return
        except pexpect.EOF:
            raise AssertionError(f"Pi ended. The last screen:\n{self.text}") from None
        self._stream.feed(data.replace(_VARIATION_SELECTOR, ""))
