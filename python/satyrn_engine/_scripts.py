"""Fixture: the scripts of the world, as far as masking must tell them apart.

A word is a run of letters of one script, marks included. Where a script writes no spaces, what
stands for a word differs: a Chinese character does, a run of Thai letters has to.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Script:
    """How the words of a script are masked.

    Attributes:
        name: of the script.
        ranges: its code points; the script of all other letters has none.
        pool: code points that stand in for its letters, in stages: the next one is used when the
            one before is used up.
        shortest: a word of fewer letters stays as it is: it tells little, and there are too few
            others of its length.
        single: whether each letter is a word.
    """

    name: str
    ranges: tuple[_Range, ...]
    pool: tuple[tuple[_Range, ...], ...]
    shortest: int
    single: bool = False


_HAN = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF))
_HIRAGANA = ((0x3041, 0x3096),)
_KATAKANA = ((0x30A1, 0x30FA),)
_HANGUL = ((0xAC00, 0xD7A3),)

#: Letters of most scripts: the pool is Latin, and is drawn from in `_mask`.
OTHER = Script("other", (), (), 3)

SCRIPTS = (
    Script(
        "Han",
        ((0x3005, 0x3006), *_HAN, (0xF900, 0xFAFF), (0x2A700, 0x323AF)),
        tuple((each,) for each in _HAN),
        1,
        single=True,
    ),
    Script("Hiragana", ((0x3041, 0x309F),), (_HIRAGANA,), 3),
    Script("Katakana", ((0x30A1, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F)), (_KATAKANA,), 3),
    Script(
        "Hangul",
        (*_HANGUL, (0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xD7B0, 0xD7FB)),
        (_HANGUL,),
        1,
    ),
    Script("Thai", ((0x0E00, 0x0E7F),), (((0x0E01, 0x0E2E),),), 3),
    Script(
        "Lao", ((0x0E80, 0x0EFF),), (((0x0E94, 0x0E97), (0x0E99, 0x0E9F), (0x0EA1, 0x0EA3)),), 3
    ),
    Script("Khmer", ((0x1780, 0x17FF),), (((0x1780, 0x17A2),),), 3),
    Script("Myanmar", ((0x1000, 0x109F),), (((0x1000, 0x1020),),), 3),
)


@functools.cache
def words_pattern() -> re.Pattern[str]:
    """Return a pattern for what masking looks at: a run of letters, marks and digits."""
    first = _ranges_of("L") + _ranges_of("Nd")
    return re.compile(f"[{first}][{first}{_ranges_of('M')}]*")


@functools.cache
def runs_pattern() -> re.Pattern[str]:
    """Return a pattern that cuts such a run into words: the group's name is the script's."""
    marks = _ranges_of("M")
    letters = _ranges_of("L")
    special = "".join(_class(each.ranges) for each in SCRIPTS)
    parts = [(OTHER, f"(?![{special}])")]
    parts += [(each, f"(?=[{_class(each.ranges)}])") for each in SCRIPTS]
    return re.compile(
        "|".join(
            f"(?P<{script.name}>(?:{belongs}[{letters}][{marks}]*){'' if script.single else '+'})"
            for script, belongs in parts
        )
    )


def characters(ranges: Iterable[_Range]) -> Iterator[str]:
    """Yield the letters of some ranges of code points."""
    for first, last in ranges:
        yield from filter(str.isalpha, map(chr, range(first, last + 1)))


def _class(ranges: Iterable[_Range]) -> str:
    return "".join(f"{_escaped(first)}-{_escaped(last)}" for first, last in ranges)


@functools.cache
def _ranges_of(category: str) -> str:
    """Return the code points of a general category of Unicode, for use within brackets."""
    found: list[_Range] = []
    start: int | None = None
    for point in range(sys.maxunicode + 2):
        inside = point <= sys.maxunicode and unicodedata.category(chr(point)).startswith(category)
        if inside and start is None:
            start = point
        elif not inside and start is not None:
            found.append((start, point - 1))
            start = None
    return _class(found)


def _escaped(point: int) -> str:
    return f"\\U{point:08x}"
