"""Branch: which entries of a session follow one another.

Entries form a tree: each names its parent. Most sessions are one line, in which each entry's parent
is the one before, and such a session needs no second look. Old files and `--mode json` streams have
no ids; there the order of the file is the order of the session.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from satyrn_engine._records import Record

_NO_PARENT = -1

#: What a node is to the scan. An inherited one has its place, and is neither shown nor counted.
_INHERITED = 1
_FRESH = 2
#: Fresh, and a branch that has nothing else is worth a look.
_WEIGHTY = 3


class Tree:
    """The entries of one session, numbered in the order of the file.

    It keeps a few numbers an entry, never what stands in it.

    Attributes:
        linear: whether every entry so far follows the one before it.
        keys: of the entries that have an id; equal for equal entries in other files.
    """

    __slots__ = (
        "_known",
        "_last_named",
        "_numbers",
        "_parents",
        "_repeated",
        "_states",
        "_tip",
        "keys",
        "linear",
    )

    def __init__(self, known: AbstractSet[int]) -> None:
        """`known` holds the keys of entries that were counted elsewhere."""
        self.linear = True
        self.keys = array("q")
        self._known = known
        self._numbers: dict[str, int] = {}
        #: The parents of those that do not follow the entry before them.
        self._parents: dict[int, int] = {}
        self._states = bytearray()
        self._last_named = _NO_PARENT
        #: What an entry follows that does not say what it follows.
        self._tip = _NO_PARENT
        #: The places in the file of entries that stood there before.
        self._repeated: set[int] = set()

    def add(self, record: Record, *, weighty: bool) -> bool:
        """Take the next entry of the file; return whether it is new and to be counted.

        An entry that stood here before, under the same id and time, is no new one. One that was
        counted elsewhere (a fork copies its parent's entries) has its place in the tree and nothing
        else. An entry whose parent is missing follows the entry before it.

        Args:
            record: the entry.
            weighty: whether a branch that has nothing but this entry is worth a look.
        """
        number = len(self._states)
        state = _WEIGHTY if weighty else _FRESH
        parent = self._tip
        key = 0
        if (name := record.id) is not None:
            key = entry_key(record)
            numbers = self._numbers
            same_name = numbers.setdefault(name, number)
            if same_name != number and self.keys[same_name] == key:
                self._repeated.add(number + len(self._repeated))
                return False
            if record.parent_id is None:
                parent = _NO_PARENT
            else:
                # An entry that names itself, or a later one, has no known parent: no way is a ring.
                known = numbers.get(record.parent_id, parent)
                parent = parent if known == number else known
            if parent == self._last_named:
                # Entries without an id stand where the file has them.
                parent = number - 1
            self._last_named = number
            if same_name != number:
                numbers[name] = number
            if key in self._known:
                state = _INHERITED
        if parent != number - 1:
            self.linear = False
            self._parents[number] = parent
        if weighty or name is None:
            self._tip = number
        self.keys.append(key)
        self._states.append(state)
        return state != _INHERITED

    def paths(self) -> Iterator[list[bool | None]]:
        """Yield the way from a root to each last entry of weight, in the order of the file.

        A way tells of each entry of the file whether it is to be counted, or None if it is not to
        be shown.
        """
        size = len(self._states)
        parents = array("q", range(_NO_PARENT, size - 1))
        for node, parent in self._parents.items():
            parents[node] = parent
        inner = bytearray(size)
        for node in range(size - 1, -1, -1):
            parent = parents[node]
            if parent != _NO_PARENT and (inner[node] or self._states[node] == _WEIGHTY):
                inner[parent] = 1
        taken = bytearray(size)
        for leaf in range(size):
            if inner[leaf] or self._states[leaf] != _WEIGHTY:
                continue
            nodes = _way_to(leaf, parents)
            way: list[bool | None] = [None] * size
            for node in nodes:
                if self._states[node] != _INHERITED:
                    way[node] = not taken[node]
                taken[node] = 1
            for place in sorted(self._repeated):
                way.insert(place, None)
            yield way


def _way_to(leaf: int, parents: array[int]) -> list[int]:
    nodes = []
    node = leaf
    while node != _NO_PARENT:
        nodes.append(node)
        node = parents[node]
    return nodes


def entry_key(record: Record) -> int:
    """Return what tells an entry from others: its id alone is unique in one session only."""
    return hash((record.id, record.timestamp))
