r"""JSON Lines as Pi writes them: records end with `\n` and with nothing else.

U+2028 and its kin are legal inside a JSON string and end no record, so `str.splitlines` and text
mode are both wrong here; everything is cut as bytes.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A parsed JSON object whose members have not been checked yet."""


class LineCutter:
    r"""Cuts a byte stream into lines, however the stream was divided on its way.

    >>> cutter = LineCutter()
    >>> cutter.feed(b'{"a":1}\n{"b"'), cutter.feed(b":2}\n"), cutter.rest()
    ([b'{"a":1}'], [b'{"b":2}'], b'')
    """

    def __init__(self) -> None:
        """Start at the beginning of a line."""
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        r"""Return the lines that `data` completes, without their `\n` or `\r\n`."""
        head, newline, tail = data.partition(b"\n")
        self._pieces.append(head)
        if not newline:
            return []
        lines = [b"".join(self._pieces), *tail.split(b"\n")]
        self._pieces = [lines.pop()]
        return [line.removesuffix(b"\r") for line in lines]

    def rest(self) -> bytes:
        r"""Return what came after the last `\n`."""
        return b"".join(self._pieces)


def parse_line(line: bytes) -> JsonObject | None:
    """Return the object on `line`; None when it is broken or is something other than an object."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_jsonl(data: bytes) -> tuple[tuple[JsonObject, ...], int]:
    r"""Return the objects in `data` and how many lines were neither blank nor an object.

    A last line without its `\n` counts when it is whole: a writer may just have stopped there.
    """
    cutter = LineCutter()
    lines = [*cutter.feed(data), cutter.rest()]
    filled = [line for line in lines if line.strip()]
    parsed = [parse_line(line) for line in filled]
    objects = tuple(value for value in parsed if value is not None)
    return objects, len(filled) - len(objects)
