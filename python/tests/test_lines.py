"""Reading a line: what is read of it in one decoding is what is read of it step by step."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import Raw
from satyrn_engine import _records
from satyrn_engine._outcome import _first_text
from satyrn_engine._records import Broken, Line, Record, read_lines
from satyrn_engine._steps import _calls

NAMES = [
    *("type", "id", "parentId", "timestamp", "message", "role", "content", "text", "name"),
    *("arguments", "usage", "cost", "total", "version", "customType", "isError", "toString"),
]
WORDS = ["message", "session", "custom", "turn_end", "toolCall", "text", "assistant", "toolResult"]

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(WORDS),
    st.text(max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    ),
    max_leaves=8,
)
blocks = st.fixed_dictionaries(
    {"type": st.sampled_from(["toolCall", "text", "thinking"])},
    optional={
        "id": st.one_of(st.sampled_from(["c1", 7]), values),
        "name": st.one_of(st.just("bash"), values),
        "arguments": values,
        "text": st.one_of(st.just("Operation aborted"), values),
        "thinking": values,
    },
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["assistant", "toolResult", "user"])},
    optional={
        "content": st.one_of(st.lists(st.one_of(blocks, values), max_size=3), values),
        "toolCallId": st.one_of(st.just("c1"), values),
        "isError": st.one_of(st.booleans(), values),
        "usage": st.one_of(st.just({"totalTokens": 3, "cost": {"total": 0.5}}), values),
    },
)
entries = st.fixed_dictionaries(
    {"type": st.one_of(st.sampled_from(WORDS), values)},
    optional={
        "id": st.one_of(st.just("e1"), values),
        "parentId": st.one_of(st.just("e0"), values),
        "timestamp": st.one_of(st.just("2026-01-02T03:04:05.000Z"), values),
        "message": st.one_of(messages, values),
        "extra": values,
    },
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """JSON of an entry, written as nobody writes it, or damaged."""
    entry: Any = draw(st.one_of(entries, entries, values))
    ascii_only = draw(st.booleans())
    text = json.dumps(entry, ensure_ascii=ascii_only)
    if draw(st.booleans()):
        # The same name, escaped.
        text = text.replace('"type"', '"t\\u0079pe"').replace('"content"', '"\\u0063ontent"')
    if draw(st.booleans()) and text.startswith("{"):
        # A name that stands there twice: the last one counts.
        name = draw(st.sampled_from(["type", "id", "message", "content"]))
        twice = f'"{name}": {json.dumps(draw(values))}, '
        text = (
            "{" + twice + text[1:] if draw(st.booleans()) else text[:-1] + ", " + twice[:-2] + "}"
        )
    if draw(st.booleans()):
        text = draw(st.sampled_from([" ", "\t", "\r", ""])) + text.replace(": ", " :\t") + "\r"
    data = text.encode("utf-8", "surrogatepass")
    damage = draw(st.sampled_from(["none", "none", "cut", "byte"]))
    place = draw(st.integers(0, max(0, len(data) - 1)))
    if damage == "cut":
        data = data[:place]
    elif damage == "byte" and data:
        byte = draw(
            st.sampled_from([b'"', b"\\", b"{", b"]", b",", b"\x00", b"\x1f", b"\xff", b"0"])
        )
        data = data[:place] + byte + data[place + 1 :]
    return data.replace(b"\n", b" ")


def naive(data: bytes) -> Record | str | None:
    """Read a line in steps, none of which is skipped. Return its record, or what is wrong."""
    if not data or data.isspace():
        return None
    try:
        try:
            record = msgspec.json.decode(data, type=_records._AnyRecord)
        except msgspec.ValidationError:
            outline = msgspec.json.decode(data, type=_records._Outline)
            if outline.type in _records._KNOWN:
                raise
            return Record(outline.type, outline.id, outline.parent_id)
    except msgspec.ValidationError as error:
        return f"not an entry of a Pi session: {error}"
    except RecursionError:
        return "nested too deeply"
    except msgspec.DecodeError as error:
        return f"not JSON: {error}"
    return record


def content_of(record: Record) -> Raw:
    assert record.message is not None
    content: object = record.message.content
    assert isinstance(content, Raw)
    return content


def naive_calls(content: Raw) -> list[tuple[object, str, bytes]]:
    class Part(msgspec.Struct):
        type: str = ""
        id: str | int | None = None
        name: str = ""
        arguments: Raw = Raw(b"null")
        text: Raw = Raw(b"")

    try:
        parts = msgspec.json.decode(content, type=list[Part])
    except msgspec.DecodeError:
        return []
    return [(p.id, p.name, bytes(p.arguments)) for p in parts if p.type == "toolCall"]


def naive_text(content: Raw) -> str:
    class Text(msgspec.Struct):
        text: str = ""

    try:
        parts = msgspec.json.decode(content, type=list[Text])
    except msgspec.DecodeError:
        return ""
    return parts[0].text if parts else ""


def read_one(data: bytes, end: bytes) -> Line | Broken | None:
    found = list(read_lines(io.BytesIO(data + end)))
    assert len(found) <= 1
    return found[0] if found else None


MESSAGE = b'{"type":"message","message":{"role":"assistant","content":%b}}'


@given(texts(), st.sampled_from([b"", b"\n"]))
@example(MESSAGE % b'[{"type":"toolCall","id":1.5}]', b"\n")
@example(MESSAGE % b'[{"type":"toolCall","name":"\xff"}]', b"\n")
@example(MESSAGE % b'[{"type":"text","id":{},"text":"Operation aborted"}]', b"\n")
@example(MESSAGE % b'[{"text":"a"},{"text":null}]', b"\n")
@example(MESSAGE % b'[{"text":"a"},3]', b"")
@example(MESSAGE % b'5,"content":[{"type":"toolCall","name":"x"}]', b"\n")
@example(b'{"type":"x","deep":%b0%b}' % (b"[" * 900, b"]" * 900), b"\n")
@example(b'{"type":"x","deep":%b' % (b"[" * 100_000), b"\n")
@example(b'{"type":"message","message":{"role":"user","content":"a', b"\n")
@example(b'{"type":"x","big":1e999,"long":' + b"9" * 5000 + b"}", b"\n")
@example(b'{"type":"x","half":"\\ud800"}', b"\n")
def test_a_line_says_the_same_however_it_is_read(data: bytes, end: bytes) -> None:
    found, expected = read_one(data, end), naive(data)
    if expected is None:
        assert found is None
    elif isinstance(expected, str):
        assert isinstance(found, Broken)
        assert found.reason == expected
    else:
        assert isinstance(found, Line)
        record = found.record
        for name in Record.__struct_fields__:
            if name not in ("message", "entry"):
                assert getattr(record, name) == getattr(expected, name), name
        assert (record.message is None) == (expected.message is None)
        if record.message is not None and expected.message is not None:
            for name in ("role", "model", "usage", "tool_call_id", "is_error", "duration_ms"):
                assert getattr(record.message, name) == getattr(expected.message, name), name
            content = content_of(expected)
            calls = [(c.id, c.name, bytes(c.arguments)) for c in _calls(record.message.content)]
            assert calls == naive_calls(content)
            assert _first_text(record.message.content) == naive_text(content)


def _constant(name: str) -> None:
    raise ValueError(name)


@given(texts().filter(lambda data: b"\\ud" not in data))
@example(b'{"type":"x","n":NaN}')
@example(b'{"type":"x","n":01}')
@example(b'{"type":"x","s":"\x01"}')
@example(b'{"type":"x"} {}')
@example(b'{"type":"x",}')
def test_what_is_not_json_is_broken_wherever_it_stands(data: bytes) -> None:
    """Seen by another reader of JSON, also for what stands in parts that are not decoded."""
    if not data or data.isspace():
        return
    found = read_one(data, b"\n")
    try:
        json.loads(data.decode("ascii"), parse_constant=_constant)
    except UnicodeDecodeError:
        return
    except ValueError:
        assert isinstance(found, Broken)
    else:
        assert not (isinstance(found, Broken) and found.reason.startswith("not JSON"))


@given(
    st.lists(st.sampled_from([b"", b"{}", b'{"type":"x"}', b"x" * 19, b"x" * 20, b"y" * 21, b" "])),
    st.integers(1, 50),
)
def test_lines_have_their_number_and_place_whatever_their_length(
    parts: list[bytes], chunk: int
) -> None:
    data = b"\n".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_records, "CHUNK", chunk)
        patch.setattr(_records, "MAX_LINE", 20)
        found = list(read_lines(io.BytesIO(data), first_line=3, offset=100))
    expected: list[tuple[object, ...]] = []
    offset = 100
    for number, part in enumerate(data.split(b"\n"), 3):
        if len(part) > 20:
            expected.append((number, "longer than 0 MiB"))
        elif part == b'{"type":"x"}':
            expected.append((number, offset, part))
        elif part.strip():
            expected.append((number,))
        offset += len(part) + 1
    assert [
        (each.number, each.offset, each.data.rstrip(b"\n"))
        if isinstance(each, Line)
        else (each.line, each.reason)
        if each.reason.startswith("longer")
        else (each.line,)
        for each in found
    ] == expected
