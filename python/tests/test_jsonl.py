"""Cutting and reading JSON Lines."""

from __future__ import annotations

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st
from satyrn_engine.testing import LineCutter, parse_jsonl, parse_line

STREAMS = st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"{", b"\xe2\x80\xa8", b"a"])).map(
    b"".join
)


@given(STREAMS, st.lists(st.integers(0, 60)))
def test_lines_do_not_depend_on_how_the_stream_was_divided(stream: bytes, cuts: list[int]) -> None:
    places = sorted({0, *(min(cut, len(stream)) for cut in cuts), len(stream)})
    cutter = LineCutter()
    lines = [
        line for begin, end in itertools.pairwise(places) for line in cutter.feed(stream[begin:end])
    ]
    *whole, rest = stream.split(b"\n")
    assert lines == [line.removesuffix(b"\r") for line in whole]
    assert cutter.rest() == rest


def test_a_unicode_line_separator_inside_a_string_ends_no_record() -> None:
    record = {"text": "one\u2028two\u2029three\x85four"}
    data = json.dumps(record, ensure_ascii=False).encode() + b"\n"
    assert parse_jsonl(data) == ((record,), 0)


def test_broken_lines_are_counted_and_the_others_kept() -> None:
    data = b'{"a": 1}\n{"a": \n\n[1]\n"text"\n{"b": 2}'
    assert parse_jsonl(data) == (({"a": 1}, {"b": 2}), 3)


def test_a_line_that_is_nested_too_deep_is_broken_and_raises_nothing() -> None:
    assert parse_line(b'{"a":' * 200_000) is None
    assert parse_line(b'{"a":{"a":{}}}') == {"a": {"a": {}}}


@given(st.lists(st.dictionaries(st.text(), st.integers() | st.text())), st.binary())
def test_any_objects_survive_and_any_bytes_are_survived(
    objects: list[dict[str, int | str]], noise: bytes
) -> None:
    data = b"".join(json.dumps(value).encode() + b"\n" for value in objects)
    assert parse_jsonl(data) == (tuple(objects), 0)
    parsed, broken = parse_jsonl(data + noise)
    assert parsed[: len(objects)] == tuple(objects)
    assert broken <= noise.count(b"\n") + 1
