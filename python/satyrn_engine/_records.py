"""Read: bytes to records. One line of a session file, decoded as far as the scan needs it.

Every line is checked to be JSON, but only the fields below are built. What is large and not always
needed (a text, a call's arguments) stays as the bytes that stood in the file.

Each line is decoded once, by the strictest of three readings that fits: as what Pi writes; as that
with a message whose parts are of another shape; and, of a type that the scan does not use, by its
place among the others alone.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import Raw

if TYPE_CHECKING:
    from typing_extensions import Buffer

#: Bytes that are read at a time: enough to make reading cheap, and few enough to stay in a core's
#: cache until they are decoded.
CHUNK = 1 << 17
#: A longer line is skipped and counted as broken, so that no file can fill the memory. The longest
#: lines that Pi writes hold images, of at most a few megabytes.
MAX_LINE = 64 << 20

_MOST_TOKENS = 1 << 50
_LINE_FEED = ord("\n")
_NOTHING = Raw(b"null")
_MISSING = Raw()


class Cost(msgspec.Struct, frozen=True, gc=False):
    """Money, in US dollars."""

    total: float = 0.0


class Usage(msgspec.Struct, frozen=True, rename="camel", gc=False):
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
        parts = self.total_tokens or (self.input + self.output + self.cache_read + self.cache_write)
        # More than any model has, and few enough to be added up in 64 bits.
        return int(max(-_MOST_TOKENS, min(parts, _MOST_TOKENS)))


class Block(msgspec.Struct, gc=False):
    """A part of a message. Only calls have a name and arguments, and only texts a text.

    A text that is missing takes no bytes.
    """

    type: str = ""
    id: str | int | None = None
    name: str = ""
    arguments: Raw = _NOTHING
    text: Raw = _MISSING


class Message(msgspec.Struct, rename="camel", gc=False):
    """A message of the conversation; which fields it has depends on its role."""

    role: str = ""
    content: list[Block] | str | None = None
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


class Record(msgspec.Struct, rename="camel", gc=False):
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


class _AnyMessage(Message, gc=False):
    content: Raw = _NOTHING  # type: ignore[assignment]


class _AnyRecord(Record, gc=False):
    """A record whose message may have content of any shape."""

    message: _AnyMessage | None = None


class _Text(msgspec.Struct, gc=False):
    text: Raw = _MISSING


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
        data: the line's bytes, its end included.
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
_decode_any_record = msgspec.json.Decoder(_AnyRecord).decode
_decode_outline = msgspec.json.Decoder(_Outline).decode
_decode_blocks = msgspec.json.Decoder(list[Block]).decode
_decode_texts = msgspec.json.Decoder(list[_Text]).decode


def read_lines(stream: BinaryIO, first_line: int = 1, offset: int = 0) -> Iterator[Line | Broken]:
    r"""Decode a stream line by line, in memory that depends on the longest line alone.

    Lines end at `\n` bytes alone.

    Args:
        stream: at the start of a line.
        first_line: the number of that line.
        offset: where in its file the stream stands.

    Raises:
        OSError: if reading fails.
        EOFError: if compressed data ends early; other faults of the compression likewise come
            through as the decompressor raises them.
    """
    # Lines are cut one by one, not many at once: each is decoded in the memory of the one before,
    # which the processor still has at hand.
    readline = _buffered(stream).readline
    limit = MAX_LINE
    for number, data in enumerate(iter(partial(readline, limit + 1), b""), first_line):
        length = len(data)
        if length > limit and data[-1] != _LINE_FEED:
            yield Broken(number, f"longer than {limit >> 20} MiB")
            offset += length + _skip_rest(readline)
            continue
        try:
            record = _decode_record(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if not data.isspace():
                yield _look_closer(number, offset, data)
        else:
            yield Line(number, offset, data, record)
        offset += length


def decode_entry(data: bytes | Raw) -> Record:
    """Decode an entry that stands by itself.

    Raises:
        msgspec.DecodeError: if it is none.
    """
    try:
        return _decode_record(data)
    except msgspec.DecodeError:
        record = _decode_any_record(data)
        if record.message is not None:
            record.message.content = _parts(record.message.content)  # type: ignore[assignment]
        return record


def _look_closer(number: int, offset: int, data: bytes) -> Line | Broken:
    """Read a line that is not what was expected; what is said of it is said without its end."""
    try:
        return Line(number, offset, data, _decode(data.removesuffix(b"\n")))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Broken(number, _reason(error))


def _decode(data: bytes) -> Record:
    try:
        return decode_entry(data)
    except msgspec.ValidationError:
        outline = _decode_outline(data)
        if outline.type in _KNOWN:
            raise
        return Record(outline.type, outline.id, outline.parent_id)


def _parts(content: Raw) -> list[Block] | None:
    """Decode a message's content, as far as it has parts: all of them, or what they say."""
    try:
        return _decode_blocks(content)
    except msgspec.DecodeError:
        try:
            return [Block(text=part.text) for part in _decode_texts(content)]
        except msgspec.DecodeError:
            return None


def _reason(error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return f"not an entry of a Pi session: {error}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    return f"not JSON: {error}"


def _skip_rest(readline: Callable[[int], bytes]) -> int:
    """Read to the end of a line without keeping it; return how many bytes that were."""
    skipped = 0
    while part := readline(CHUNK):
        skipped += len(part)
        if part[-1] == _LINE_FEED:
            break
    return skipped


def _buffered(stream: BinaryIO) -> io.BufferedReader:
    if isinstance(stream, io.BufferedReader):
        return stream
    return io.BufferedReader(_Pieces(stream), CHUNK)


class _Pieces(io.RawIOBase):
    """A stream in the pieces in which it comes.

    So what one read brings is used before the next one fails, as in a file that was cut.
    """

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        view = memoryview(buffer)
        data = self._read(len(view))
        view[: len(data)] = data
        return len(data)
