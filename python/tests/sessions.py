"""Makes sessions for tests: the lines that Pi would have written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Entry = dict[str, Any]

STARTED = "2026-01-02T03:04:05.000Z"


def header(version: int | None = 3, **more: object) -> Entry:
    """Return a session's first line."""
    numbered = {} if version is None else {"version": version}
    return {"type": "session", **numbered, "id": "s1", "timestamp": STARTED, "cwd": "/p", **more}


def call(tool: str = "bash", call_id: str = "c1", **arguments: object) -> Entry:
    """Return a call, as a part of an answer."""
    return {"type": "toolCall", "id": call_id, "name": tool, "arguments": arguments}


def answer(*parts: Entry, stop: str = "toolUse", tokens: int = 10, cost: float = 0.5) -> Entry:
    """Return a model's message."""
    return {
        "role": "assistant",
        "content": list(parts),
        "provider": "test",
        "model": "model",
        "usage": {"totalTokens": tokens, "cost": {"total": cost}},
        "stopReason": stop,
    }


def result(
    call_id: str = "c1", text: str = "done", *, is_error: bool = False, **more: object
) -> Entry:
    """Return the message that holds a call's result."""
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "bash",
        "content": [{"type": "text", "text": text}],
        "isError": is_error,
        **more,
    }


def user(text: str = "go on") -> Entry:
    """Return a prompt."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def turn(tool: str = "bash", call_id: str = "c1", **arguments: object) -> list[Entry]:
    """Return an answer with one call, and its result."""
    return [answer(call(tool, call_id, **arguments)), result(call_id)]


def repeated(times: int, command: str = "ls") -> list[Entry]:
    """Return that many identical calls to `bash`."""
    return [message for _ in range(times) for message in turn(command=command)]


def chain(
    messages: Iterable[Entry], *, parent: str | None = None, prefix: str = "e", minute: int = 0
) -> list[Entry]:
    """Return the messages as entries that follow one another."""
    entries: list[Entry] = []
    for number, message in enumerate(messages):
        entry = {
            "type": "message",
            "id": f"{prefix}{number}",
            "parentId": parent,
            "timestamp": f"2026-01-02T04:{minute:02}:{number % 60:02}.{number // 60:03}Z",
            "message": message,
        }
        parent = f"{prefix}{number}"
        entries.append(entry)
    return entries


def as_v1(messages: Iterable[Entry]) -> list[Entry]:
    """Return the messages as entries of version 1, which has no ids."""
    return [{"type": "message", "timestamp": STARTED, "message": message} for message in messages]


def as_stream(messages: Iterable[Entry]) -> list[Entry]:
    """Return the messages as `pi --mode json` would tell them: several times over."""
    events: list[Entry] = [{"type": "agent_start"}]
    for message in messages:
        events.append({"type": "message_start", "message": message})
        if message["role"] == "assistant":
            events.append({"type": "message_update", "assistantMessageEvent": {"type": "start"}})
        events.append({"type": "message_end", "message": message})
        events.append({"type": "turn_end", "message": message, "toolResults": []})
    return [*events, {"type": "agent_end", "messages": list(messages), "willRetry": False}]


def lines(entries: Iterable[Entry]) -> bytes:
    """Return the entries as JSON Lines."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def write(path: Path, entries: Sequence[Entry]) -> Path:
    """Write a session file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(entries))
    return path
