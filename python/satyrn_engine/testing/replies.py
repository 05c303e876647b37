"""What a scripted model says, and the chunks in which an OpenAI-compatible server streams it.

Nothing here touches a socket: `stream_chunks` turns a `Reply` into the JSON chunks, `sse_event`
frames one of them as a server-sent event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from satyrn_engine.testing.jsonl import JsonObject

SSE_DONE = b"data: [DONE]\n\n"
"""The event that ends an OpenAI-compatible stream."""


@dataclass(frozen=True)
class Text:
    """Visible answer text.

    Attributes:
        text: What is said.
        times: How often in a row; a model that loops is `Text(paragraph, times=1000)`, and the
            whole of it is never built in memory.
    """

    text: str
    times: int = 1


@dataclass(frozen=True)
class Thinking:
    """Reasoning, sent as `reasoning_content`; `times` as in `Text`."""

    text: str
    times: int = 1


@dataclass(frozen=True)
class ToolCall:
    """One tool call.

    Attributes:
        name: The tool, for instance `bash`.
        arguments: A mapping, sent as JSON in its own key order; or the raw string that is sent
            as it stands, so that malformed JSON and duplicate keys can be scripted too.
        id: The call's id; by default one that is unique in the conversation.
    """

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None

    @property
    def raw_arguments(self) -> str:
        """The arguments as they go over the wire."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(self.arguments, ensure_ascii=False)


Part: TypeAlias = Text | Thinking | ToolCall


@dataclass(frozen=True)
class Reply:
    """One answer of the model: its parts in order, and how they are streamed.

    Attributes:
        parts: Thinking, text and tool calls. Several tool calls are one parallel batch.
        finish: The finish reason; by default `tool_calls` when there is a call, else `stop`.
        piece: Characters in a chunk; by default each part (each repetition of it) is one chunk.
        delay: Seconds to wait before each chunk but the first. With a delay, the count of what
            was sent says how early the client hung up; without one, up to a socket buffer more
            is sent than the client has read.
    """

    parts: tuple[Part, ...]
    finish: str | None = None
    piece: int | None = None
    delay: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a piece size that would never get on."""
        if self.piece is not None and self.piece < 1:
            msg = f"Reply.piece must be at least 1 character, not {self.piece}"
            raise ValueError(msg)

    @property
    def finish_reason(self) -> str:
        """The finish reason that is sent."""
        if self.finish is not None:
            return self.finish
        return "tool_calls" if any(isinstance(part, ToolCall) for part in self.parts) else "stop"


@dataclass(frozen=True)
class Failure:
    """An HTTP error instead of an answer. Pi retries 429 and 5xx; 400 ends the run."""

    status: int
    message: str


def say(text: str, **how: Any) -> Reply:  # noqa: ANN401 - handed on to Reply
    """Return a reply of text alone; `how` are Reply's other fields."""
    return Reply((Text(text),), **how)


def call(name: str, arguments: Mapping[str, Any] | str, **how: Any) -> Reply:  # noqa: ANN401
    """Return a reply of one tool call; `how` are Reply's other fields."""
    return Reply((ToolCall(name, arguments),), **how)


def calls(batch: Sequence[ToolCall], **how: Any) -> Reply:  # noqa: ANN401
    """Return a reply of several parallel tool calls; `how` are Reply's other fields."""
    return Reply(tuple(batch), **how)


def bash(command: str, **how: Any) -> Reply:  # noqa: ANN401
    """Return a reply that calls Pi's `bash` tool with `command`."""
    return call("bash", {"command": command}, **how)


def sse_event(chunk: JsonObject) -> bytes:
    """Frame one chunk as a server-sent event.

    Lone surrogates are escaped, so any Python string can be scripted and the bytes are UTF-8.
    """
    return b"data: " + json.dumps(chunk).encode("ascii") + b"\n\n"


def stream_chunks(reply: Reply, *, model: str, turn: int) -> Iterator[JsonObject]:
    """Yield the `chat.completion.chunk` objects of `reply`.

    Args:
        reply: What is said.
        model: The model's id, repeated in each chunk.
        turn: The number of the request, from 1; makes the ids of calls unique.
    """
    yield _chunk(model, turn, {"role": "assistant", "content": ""})
    sent = 0
    position = 0
    for part in reply.parts:
        if isinstance(part, ToolCall):
            deltas = _call_deltas(part, position, f"call_{turn}_{position + 1}", reply.piece)
            position += 1
        else:
            deltas = _text_deltas(part, reply.piece)
        for delta in deltas:
            sent += 1
            yield _chunk(model, turn, delta)
    yield _chunk(model, turn, {}, finish=reply.finish_reason)
    # One token a chunk is as good as any count: Pi only needs the field to be there.
    yield {
        **_envelope(model, turn),
        "choices": [],
        "usage": {"prompt_tokens": 1, "completion_tokens": sent, "total_tokens": sent + 1},
    }


def _text_deltas(part: Text | Thinking, piece: int | None) -> Iterator[JsonObject]:
    name = "content" if isinstance(part, Text) else "reasoning_content"
    for _ in range(part.times):
        for text in _pieces(part.text, piece):
            yield {name: text}


def _call_deltas(
    part: ToolCall, position: int, default_id: str, piece: int | None
) -> Iterator[JsonObject]:
    function = {"name": part.name, "arguments": ""}
    head = {"index": position, "id": part.id or default_id, "type": "function"}
    yield {"tool_calls": [{**head, "function": function}]}
    for text in _pieces(part.raw_arguments, piece):
        yield {"tool_calls": [{"index": position, "function": {"arguments": text}}]}


def _pieces(text: str, size: int | None) -> Iterator[str]:
    step = size or max(len(text), 1)
    for start in range(0, len(text), step):
        yield text[start : start + step]


def _envelope(model: str, turn: int) -> JsonObject:
    return {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": model,
    }


def _chunk(model: str, turn: int, delta: JsonObject, finish: str | None = None) -> JsonObject:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_envelope(model, turn), "choices": [choice]}
