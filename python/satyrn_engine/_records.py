"""Read: bytes to records. One line of a session file, decoded as far as the scan needs it.

Every line is checked to be JSON, but only the fields below are built. What is large and not always
needed (a message's content, a call's arguments) stays as the bytes that stood in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec
from msgspec import Raw

#: Bytes that are read at a time.
CHUNK = 1 << 20
#: A longer line is skipped and counted as broken, so that no file can fill the memory. The longest
#: lines that Pi writes hold images, of at most a few megabytes.
MAX_LINE = 64 << 20

_NOTHING = Raw(b"null")


class Cost(msgspec.Struct, frozen=True):
    """Money, in US dollars."""

    total: float = 0.0


class Usage(msgspec.Struct, frozen=True, rename="camel"):
    """What one answer of a model used, in tokens."""

    total_tokens: float = 0
    input: float = 0
    output: float = 0
    cache_read: float = 0
    cache_write: float = 0
    cost: Cost = Cost()

    @property
    def tokens(self) -> int:
        """All tokens; old files do not add them up."""
        parts = self.input + self.output + self.cache_read + self.cache_write
        return int(self.total_tokens or parts)


class Message(msgspec.Struct, rename="camel"):
    """A message of the conversation; which fields it has depends on its role."""

    role: str = ""
    content: Raw = _NOTHING
    provider: str | None = None
    model: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    tool_call_id: str | None = None
    is_error: bool = False
    duration_ms: float | None = None
    tools_added: Raw = _NOTHING
    custom_type: str | None = None


class Result(msgspec.Struct, frozen=True):
    """What the end of a compaction tells in a `--mode json` stream."""

    usage: Usage | None = None


class Record(msgspec.Struct, rename="camel"):
    """One line: a session's header, one of its entries, or an event of a `--mode json` stream."""

    type: str
    id: str | None = None
    parent_id: str | None = None
    timestamp: str | float | None = None
    version: int | None = None
    cwd: str | None = None
    parent_session: str | None = None
    branched_from: str | None = None
    custom_type: str | None = None
    message: Message | None = None
    usage: Usage | None = None
    provider: str | None = None
    model: str | None = None
    model_id: str | None = None
    entry: Raw = _NOTHING
    result: Result | None = None


class Block(msgspec.Struct, gc=False):
    """A part of an assistant's message. Only calls have the fields after `type`."""

    type: str = ""
    id: str | int | None = None
    name: str = ""
    arguments: Raw = _NOTHING


class _Outline(msgspec.Struct, frozen=True, rename="camel"):
    """What any entry has, also one that this version does not know."""

    type: str
    id: str | None = None
    parent_id: str | None = None


#: The types whose other fields are read, and so must be well-formed.
_KNOWN = frozenset(
    {
        "session",
        "message",
        "message_end",
        "custom",
        "custom_message",
        "compaction",
        "compaction_end",
        "branch_summary",
        "usage",
        "entry_appended",
    }
)


# These two are made for every line, and structs are made many times as fast as dataclasses.
class Line(msgspec.Struct, gc=False):
    """A line that was understood.

    Attributes:
        number: of the line in its file, 1 for the first.
        offset: of its first byte.
        data: the line's bytes.
        record: what stands in it.
    """

    number: int
    offset: int
    data: bytes
    record: Record


class Broken(msgspec.Struct, gc=False):
    """A line that was skipped.

    Attributes:
        line: its number in its file, 1 for the first.
        reason: what is wrong with it.
    """

    line: int
    reason: str


_decode_record = msgspec.json.Decoder(Record).decode
_decode_outline = msgspec.json.Decoder(_Outline).decode
_decode_blocks = msgspec.json.Decoder(list[Block]).decode


def read_lines(stream: BinaryIO, first_line: int = 1, offset: int = 0) -> Iterator[Line | Broken]:
    """Decode a stream line by line, in memory that depends on the longest line alone.

    Args:
        stream: at the start of a line.
        first_line: the number of that line.
        offset: where in its file the stream stands.

    Raises:
        OSError: if reading fails.
        EOFError: if compressed data ends early; other faults of the compression likewise come
            through as the decompressor raises them.
    """
    number = first_line
    for data, length in _split(stream):
        if data is None:
            yield Broken(number, f"longer than {MAX_LINE >> 20} MiB")
        elif data and not data.isspace():
            try:
                yield Line(number, offset, data, _decode(data))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                yield Broken(number, _reason(error))
        number += 1
        offset += length + 1


def blocks(content: Raw) -> list[Block]:
    """Return the parts of an assistant's message.

    Raises:
        msgspec.DecodeError: if it has none, as when its content is a text.
    """
    return _decode_blocks(content)


def _decode(data: bytes) -> Record:
    try:
        return _decode_record(data)
    except msgspec.ValidationError:
        outline = _decode_outline(data)
        if outline.type in _KNOWN:
            raise
        return Record(outline.type, outline.id, outline.parent_id)


def _reason(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return f"not an entry of a Pi session: {error}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"not JSON: {error}"


def _split(stream: BinaryIO) -> Iterator[tuple[bytes | None, int]]:
    r"""Cut at `\n` bytes alone. Yield each line and its length; None for one that is too long."""
    pending: list[bytes] = []
    length = 0
    # What one read brings is used before the next one fails, as in a file that was cut.
    read = getattr(stream, "read1", stream.read)
    while chunk := read(CHUNK):
        first, *rest = chunk.split(b"\n")
        length += len(first)
        if length <= MAX_LINE:
            pending.append(first)
        if not rest:
            continue
        yield (b"".join(pending) if length <= MAX_LINE else None), length
        for line in rest[:-1]:
            yield line, len(line)
        pending, length = [rest[-1]], len(rest[-1])
    if length:
        yield (b"".join(pending) if length <= MAX_LINE else None), length
