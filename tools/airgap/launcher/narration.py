"""What mmdebstrap and apt say, as stages."""

from __future__ import annotations

import re

from .words import Progress

_VERBS = (
    ("downloading", re.compile(r"Get:\d+ ")),
    ("unpacking", re.compile(r"Unpacking ")),
    ("setting up", re.compile(r"Setting up ")),
)


class Narration:
    """Turns the lines of one run of mmdebstrap into stages with counts."""

    def __init__(self, progress: Progress) -> None:
        """Begin before its first line."""
        self._progress = progress
        self._total = 0
        self._counts: dict[str, int] = {}

    def hear(self, line: str) -> None:
        """Take the next line."""
        total = re.search(r" (\d+) newly installed", line)
        if total:
            self._total, self._counts = int(total[1]), {}
        for verb, pattern in _VERBS:
            # Before apt says how many, these are its own lists.
            if self._total and pattern.match(line):
                self._count(verb)
        if line.startswith("I: ") and line.endswith("...") and " signal " not in line:
            self._progress.stage(line[3:-3])

    def _count(self, verb: str) -> None:
        count = self._counts[verb] = self._counts.get(verb, 0) + 1
        # dpkg sets some up between the others: it is the stage once all are unpacked.
        if verb != "setting up" or self._counts.get("unpacking", 0) >= self._total:
            self._progress.stage(f"{verb} {self._total} packages")
            self._progress.detail = f"{count} so far"
