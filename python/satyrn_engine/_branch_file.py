"""Fixture: one branch of a session, as a file of its own that has no other.

The way that Pi takes when it opens a session: from the last entry back to the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from satyrn_engine._sources import Source
from satyrn_engine.errors import ConfigError, SourceError

_NONE = -1


class _Entry(msgspec.Struct, rename="camel"):
    """What tells where an entry stands."""

    type: str = ""
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | float | None = None


@dataclass(frozen=True, slots=True)
class BranchFile:
    """A branch that stands alone.

    Attributes:
        source: the file.
        leaf: id of the branch's last entry; empty for a session without ids, which has no branches.
        others: ids at which the session's other branches end.
    """

    source: Source
    leaf: str
    others: tuple[str, ...]


def branch_file(source: Source, leaf: str | None, spool: Path) -> BranchFile:
    """Copy one branch of a session.

    Args:
        source: the session.
        leaf: id of the branch's last entry; by default the last entry of the file.
        spool: the folder for the copy.

    Raises:
        SourceError: if the session cannot be read.
        ConfigError: if it has no entry with that id, or there is more than one session.
    """
    lines = _lines(source)
    entries = [_decode(line) for line in lines]
    sessions = [entry.id or "?" for entry in entries if entry.type == "session"]
    if len(sessions) > 1:
        raise ConfigError(
            f"{source.name}: holds {len(sessions)} sessions ({', '.join(sessions)}); "
            "write the one that you want to a file of its own"
        )
    tree = _Tree(entries)
    end = tree.last if leaf is None else tree.find(leaf)
    if end is None:
        raise ConfigError(
            f"{source.name}: no entry has the id {leaf}; branches end at {', '.join(tree.leaves())}"
            if tree.names
            else f"{source.name}: its entries have no ids, so there are no branches to choose from"
        )
    way = tree.way_to(end)
    copy = spool / "branch.jsonl"
    with copy.open("wb") as file:
        file.writelines(line for place, line in enumerate(lines) if place in way)
    name = entries[end].id or "" if end != _NONE else ""
    others = tuple(each for each in tree.leaves() if each != name)
    return BranchFile(Source(source.name, str(copy)), name, others)


class _Tree:
    """The entries of a session by their places in the file."""

    def __init__(self, entries: list[_Entry]) -> None:
        self.names: dict[str, int] = {}
        self.last = _NONE
        self._entries = entries
        self._parents: dict[int, int] = {}
        #: Entries without an id, and the header: they belong to every branch.
        self._anonymous: set[int] = set()
        for place, entry in enumerate(entries):
            if entry.id is None or entry.type == "session":
                self._anonymous.add(place)
                continue
            known = self.names.get(entry.id)
            if known is not None and entries[known].timestamp == entry.timestamp:
                continue
            parent = _NONE
            if entry.parent_id is not None:
                parent = self.names.get(entry.parent_id, self.last)
            self._parents[place] = parent
            self.names[entry.id] = self.last = place

    def find(self, name: str) -> int | None:
        """Return the place of the entry with an id."""
        return self.names.get(name)

    def way_to(self, end: int) -> set[int]:
        """Return the places on the way from the root to an entry; all if none has an id."""
        way = set(self._anonymous)
        while end != _NONE:
            way.add(end)
            end = self._parents[end]
        return way

    def leaves(self) -> list[str]:
        """Return the ids at which branches with a message end, in the order of the file."""
        return [self._entries[place].id or "" for place in sorted(self._leaves())]

    def _leaves(self) -> Iterator[int]:
        told: set[int] = set()
        for place in sorted(self._parents, reverse=True):
            if self._entries[place].type == "message" and place not in told:
                yield place
            if place in told or self._entries[place].type == "message":
                told.add(self._parents[place])


def _lines(source: Source) -> list[bytes]:
    with source.open() as stream:
        try:
            return [line for line in stream if line.strip()]
        except Exception as error:
            # Whatever a file system or decompressor has: here nothing is better than a part.
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise SourceError(
                f"{source.name}: cannot be read to its end ({reason}); copy it again"
            ) from error


def _decode(line: bytes) -> _Entry:
    try:
        return msgspec.json.decode(line, type=_Entry)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # A broken line belongs to every branch, so that whoever reads the copy tells of it.
        return _Entry()
