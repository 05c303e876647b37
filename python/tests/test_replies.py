"""The chunks in which a scripted reply is streamed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from satyrn_engine.testing import Reply, Text, Thinking, ToolCall, bash, call, calls, say
from satyrn_engine.testing.replies import SSE_DONE, Part, sse_event, stream_chunks

WORDS = st.text(st.characters(codec="utf-8"), min_size=1)
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, WORDS, st.integers(1, 4)),
    st.builds(Thinking, WORDS, st.integers(1, 4)),
    st.builds(ToolCall, WORDS, WORDS | st.dictionaries(WORDS, st.integers() | WORDS)),
)
REPLIES = st.builds(
    Reply, st.lists(PARTS).map(tuple), piece=st.none() | st.integers(1, 7), finish=st.none()
)


def decode(stream: bytes) -> list[Any]:
    """Read a stream of server-sent events in the plainest way: split at blank lines."""
    *events, end = stream.split(b"\n\n")
    assert end == b""
    assert events.pop() + b"\n\n" == SSE_DONE
    return [json.loads(event.removeprefix(b"data: ")) for event in events]


def encode(reply: Reply) -> bytes:
    chunks = stream_chunks(reply, model="scripted", turn=1)
    return b"".join(map(sse_event, chunks)) + SSE_DONE


def deltas(reply: Reply) -> list[Any]:
    return [choice["delta"] for chunk in decode(encode(reply)) for choice in chunk["choices"]]


@given(REPLIES)
def test_a_client_that_joins_the_deltas_gets_what_was_scripted(reply: Reply) -> None:
    parts = reply.parts
    joined = {"content": "", "reasoning_content": ""}
    tools: dict[int, list[str]] = {}
    for delta in deltas(reply):
        for kind in joined:
            joined[kind] += delta.get(kind, "")
        for fragment in delta.get("tool_calls", []):
            tool = tools.setdefault(fragment["index"], ["", ""])
            tool[0] += fragment["function"].get("name", "")
            tool[1] += fragment["function"]["arguments"]
    assert joined == {
        "content": "".join(part.text * part.times for part in parts if isinstance(part, Text)),
        "reasoning_content": "".join(
            part.text * part.times for part in parts if isinstance(part, Thinking)
        ),
    }
    assert list(tools.values()) == [
        [part.name, part.raw_arguments] for part in parts if isinstance(part, ToolCall)
    ]


@given(REPLIES)
def test_no_chunk_is_longer_than_the_piece(reply: Reply) -> None:
    for delta in deltas(reply):
        texts = [delta.get("content", ""), delta.get("reasoning_content", "")]
        texts += [item["function"]["arguments"] for item in delta.get("tool_calls", [])]
        assert reply.piece is None or max(map(len, texts)) <= reply.piece


@given(st.text(st.characters()))
def test_any_text_can_be_scripted_even_with_lone_surrogates(text: str) -> None:
    assert "".join(delta.get("content", "") for delta in deltas(say(text))) == text


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        (say("Done."), "stop"),
        (bash("ls"), "tool_calls"),
        (Reply((Thinking("Hm."), Text("So."))), "stop"),
        (Reply((Text("So."), ToolCall("read"))), "tool_calls"),
        (bash("ls", finish="length"), "length"),
    ],
)
def test_the_finish_reason_follows_from_the_parts_unless_it_is_given(
    reply: Reply, finish: str
) -> None:
    reasons = [
        choice["finish_reason"] for chunk in decode(encode(reply)) for choice in chunk["choices"]
    ]
    assert reasons[-1] == finish
    assert set(reasons[:-1]) == {None}


def test_arguments_keep_the_order_of_their_keys_and_raw_ones_stay_as_they_are() -> None:
    assert ToolCall("bash", {"b": 1, "a": 2}).raw_arguments == '{"b": 1, "a": 2}'
    assert ToolCall("bash", '{"b": 1, "a"').raw_arguments == '{"b": 1, "a"'


def test_every_call_has_an_id_of_its_own_unless_one_is_given() -> None:
    batch = calls([ToolCall("bash"), ToolCall("bash"), ToolCall("bash", id="mine")])
    ids = [
        item["id"]
        for turn in (1, 2)
        for chunk in stream_chunks(batch, model="scripted", turn=turn)
        for choice in chunk["choices"]
        for item in choice["delta"].get("tool_calls", [])
        if "id" in item
    ]
    assert ids == ["call_1_1", "call_1_2", "mine", "call_2_1", "call_2_2", "mine"]


def test_an_empty_text_and_empty_arguments_are_streamed_as_nothing() -> None:
    assert [delta for delta in deltas(say("")) if "role" not in delta and delta] == []
    fragments = [item for delta in deltas(call("ls", "")) for item in delta.get("tool_calls", [])]
    assert [item["function"] for item in fragments] == [{"name": "ls", "arguments": ""}]


def test_without_a_piece_a_part_is_one_chunk_however_long_it_is() -> None:
    text = "word " * 1000
    assert [delta["content"] for delta in deltas(say(text)) if delta.get("content")] == [text]


def test_the_usage_that_pi_wants_counts_the_chunks_and_comes_last() -> None:
    chunks = decode(encode(say("abcd", piece=2)))
    assert [chunk.get("usage") for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1]["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def test_a_piece_of_no_characters_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        say("Done.", piece=0)
    assert say("Done.", piece=1).piece == 1


def test_the_short_forms_build_the_same_replies() -> None:
    assert (
        bash("ls")
        == call("bash", {"command": "ls"})
        == calls([ToolCall("bash", {"command": "ls"})])
    )
