"""What mmdebstrap and apt say, as stages."""

from __future__ import annotations

import re

from .words import Progress

_VERBS = (
    (re.compile(r"Get:\d+ "), "downloading"),
    (re.compile(r"Unpacking "), "unpacking"),
    (re.compile(r"Setting up "), "setting up"),
)


class Narration:
    """Turns the lines of one run of mmdebstrap into stages with counts."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._total = 0
        self._verb = ""
        self._count = 0

    def hear(self, line: str) -> None:
        """Take the next line."""
        total = re.search(r" (\d+) newly installed", line)
        if total:
            self._total = int(total[1])
        for pattern, verb in _VERBS:
            # Before apt says how many, these are the few packages that everything needs.
            if self._total and pattern.match(line):
                self._step(verb)
        if line.startswith("I: ") and line.endswith("...") and " signal " not in line:
            self._total = 0
            self._progress.stage(line[3:-3])

    def _step(self, verb: str) -> None:
        if verb != self._verb:
            self._verb, self._count = verb, 0
        self._count += 1
        self._progress.stage(f"{verb} {self._total} packages")
        self._progress.detail = f"{self._count} so far"
