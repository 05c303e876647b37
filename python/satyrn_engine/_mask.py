"""Fixture: words become pseudo-words, and everything else stays.

A pseudo-word tells nothing about its word but the length and the capitals: they are handed out in
the order in which words first appear, from a list that knows nothing of the words. So there is no
table that leads back, and the same session is masked in the same way each time. How often a word
stands where still shows, as it must: that is what the guards look at.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from typing import Any

from satyrn_engine._scripts import OTHER, SCRIPTS, Script, characters, runs_pattern, words_pattern
from satyrn_engine.errors import ConfigError

#: What JSON writes for its constants: it may stand in a text, and hooks are given the constant.
JSON_WORDS = frozenset({"true", "false", "null"})

#: From so many letters and digits on, in one run, they are an identifier or a secret: its letters
#: are replaced even where there are only one or two between two digits.
OPAQUE = 8

#: A stage of a pool that has not given a new word in so many tries is used up.
_TRIES = 300

_BY_NAME = {script.name: script for script in (*SCRIPTS, OTHER)}
#: Pseudo-words begin in a way that hardly a word of English or of a shell does, and end in letters
#: that no ending of a word is cut off for.
_FIRST, _CONSONANTS, _VOWELS, _LAST = "xzq", "bcdfghjklmnprstvw", "aeiou", "abfikluvz"
_ASCII = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = re.compile(r"(\d+)")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")

KeepsKey = Callable[[str, int], bool]


class Mask:
    """Masks the texts of one fixture. Equal texts stay equal, and different ones different."""

    def __init__(
        self,
        texts: Iterable[str],
        names: Iterable[str] = (),
        keep: Iterable[str] = (),
        seed: int = 0,
        folder: str | None = None,
    ) -> None:
        """Learn what a pseudo-word must not be.

        Args:
            texts: all that will be masked: no word of theirs is used for another one.
            names: what stays beside them, such as the names of tools.
            keep: words that stay, in capitals or not.
            seed: another one gives other pseudo-words.
            folder: a path that stays wherever it stands, with what lies in it masked.
        """
        self._folder = None if folder is None else folder_pattern(folder)
        self._random = random.Random(seed)  # noqa: S311 - nothing is kept secret by it
        self._kept = frozenset(
            _fold(run)[0] for word in (*JSON_WORDS, *keep) for run in _runs(word)
        )
        self._taken = set(self._kept)
        for text in (*texts, *names, folder or ""):
            self._taken.update(_fold(run)[0] for run in _runs(text))
        self._words: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._beginnings: set[str] = set()
        self._pools: dict[tuple[str, int], _Pool] = {}

    @property
    def words(self) -> int:
        """How many words were masked so far."""
        return len(self._words)

    def text(self, text: str) -> str:
        """Return the text with its words masked."""
        if self._folder is None:
            return words_pattern().sub(self._masked, text)
        parts = self._folder.split(text)
        parts[::2] = [words_pattern().sub(self._masked, part) for part in parts[::2]]
        return "".join(parts)

    def value(self, value: Any, keeps: KeepsKey, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
        """Return JSON data with the texts in it masked.

        Args:
            value: what `json` makes of a document.
            keeps: whether the key of an object stays, by its name and the depth of the object.
            depth: of the value; 0 for a call's arguments.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each, keeps, depth + 1) for each in value]
        if isinstance(value, dict):
            return {
                key if keeps(key, depth) else self.text(key): self.value(each, keeps, depth + 1)
                for key, each in value.items()
            }
        return value

    def _masked(self, found: re.Match[str]) -> str:
        run = found[0]
        pieces = _DIGITS.split(run)
        opaque = len(run) >= OPAQUE and len(pieces) > 1 and any(pieces[::2])
        pieces[::2] = [self._piece(piece, opaque=opaque) for piece in pieces[::2]]
        return "".join(pieces)

    def _piece(self, piece: str, *, opaque: bool) -> str:
        """Mask letters that stand together, of one script or several."""
        masked, words = runs_pattern().subn(
            lambda word: self._word(word[0], _script(word), opaque=opaque), piece
        )
        if words > 1 and masked == piece and len(piece) >= OTHER.shortest:
            return self._stand_in(piece, OTHER)
        return masked

    def _word(self, word: str, script: Script, *, opaque: bool) -> str:
        if _fold(word)[0] in self._kept:
            return word
        if len(word) >= script.shortest:
            return self._stand_in(word, script)
        if opaque and word.isascii():
            return self._stand_in(word, None)
        return word

    def _stand_in(self, word: str, script: Script | None) -> str:
        """Return what stands for a word; without a script, for one or two letters."""
        folded, capitals = _fold(word)
        known = self._short if script is None else self._words
        stand_in = known.get(folded)
        if stand_in is None:
            length = len(word)
            stand_in = self._draw_short(length) if script is None else self._draw(script, length)
            known[folded] = stand_in
        return "".join(
            letter.upper() if capital else letter
            for letter, capital in zip(stand_in, capitals, strict=True)
        )

    def _draw(self, script: Script, length: int) -> str:
        pool = self._pools.get((script.name, length))
        if pool is None:
            pool = self._pools[script.name, length] = _Pool(script, length)
        while pool.stages:
            for _ in range(_TRIES):
                word = pool.stages[0](self._random)
                # Some look at the first eight letters of a long word alone.
                beginning = word[:8] if length > 8 else word
                if word not in self._taken and beginning not in self._beginnings:
                    self._taken.add(word)
                    self._beginnings.add(beginning)
                    return word
            pool.stages.pop(0)
        raise ConfigError(
            f"there are too many different words of {length} letters ({script.name}) to mask them;"
            " take fewer calls (--calls), or use --no-mask"
        )

    def _draw_short(self, length: int) -> str:
        """Return one or two letters: each is used for one other, so that none is used twice."""
        used = self._kept.union(self._short.values())
        while True:
            word = "".join(self._random.choices(_ASCII, k=length))
            if word not in used:
                return word


class _Pool:
    """Where pseudo-words of one length come from: one stage after the other."""

    def __init__(self, script: Script, length: int) -> None:
        self.stages: list[Callable[[random.Random], str]] = []
        if script is OTHER:
            letters = [
                each for each in characters([(0x101, 0x17F)]) if _fold(each.upper())[0] == each
            ]
            self.stages += [lambda rng: _spoken(rng, _FIRST, length)]
            self.stages += [lambda rng: _spoken(rng, _CONSONANTS, length)]
            self.stages += [lambda rng: "".join(rng.choices(_ASCII, k=length))]
            self.stages += [lambda rng: "".join(rng.choices(letters, k=length))]
        for ranges in script.pool:
            self.stages.append(_drawer(list(characters(ranges)), length))


def _drawer(letters: list[str], length: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choices(letters, k=length))


def _spoken(rng: random.Random, first: str, length: int) -> str:
    """Return consonants and vowels in turn."""
    middle = [rng.choice(_CONSONANTS if place % 2 else _VOWELS) for place in range(length - 2)]
    return rng.choice(first) + "".join(middle) + rng.choice(_LAST)


def folder_pattern(folder: str) -> re.Pattern[str]:
    """Return a pattern for a folder where it stands as a whole path, or begins one."""
    return re.compile(rf"(?<![\w./~-])({re.escape(folder)})(?![\w.-])")


def is_name(key: str) -> bool:
    """Whether a key looks like the name of an argument."""
    return _KEY.fullmatch(key) is not None


def _script(word: re.Match[str]) -> Script:
    return _BY_NAME[word.lastgroup or OTHER.name]


def _runs(text: str) -> Iterable[str]:
    """Yield all words of a text, and where several scripts stand together, these as well."""
    for found in words_pattern().finditer(text):
        for piece in _DIGITS.split(found[0])[::2]:
            yield piece
            yield from (word[0] for word in runs_pattern().finditer(piece))


def _fold(word: str) -> tuple[str, tuple[bool, ...]]:
    """Return a word in small letters, and which were capitals. The two lead back to the word."""
    if word.islower() and word.isascii():
        return word, (False,) * len(word)
    folded = [_small(letter) for letter in word]
    return "".join(folded), tuple(a != b for a, b in zip(folded, word, strict=True))


def _small(letter: str) -> str:
    small = letter.lower()
    # Not every capital has one small letter, and not every small letter leads back to it.
    return small if len(small) == 1 and small.upper() == letter else letter


def texts_in(value: Any) -> Iterable[str]:  # noqa: ANN401 - JSON
    """Yield every text in JSON data, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from texts_in(each)
