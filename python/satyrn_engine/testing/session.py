"""Pi's session files as small dataclasses.

Enough to say what happened in a run that this package drove: it reads what Pi itself has just
written and is no reader for sessions of every age.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satyrn_engine.testing.errors import SessionFormatError
from satyrn_engine.testing.jsonl import JsonObject, parse_jsonl
from satyrn_engine.testing.model import content_text


@dataclass(frozen=True)
class Entry:
    """One entry of a session.

    Attributes:
        type: `message`, `custom`, `custom_message`, `compaction`, …
        id: Pi's id of the entry.
        parent_id: The entry that it follows; None at a root.
        raw: The entry as it stands in the file.
    """

    type: str
    id: str
    parent_id: str | None
    raw: JsonObject


@dataclass(frozen=True)
class CustomEntry:
    """An entry that an extension appended for itself: telemetry, state."""

    custom_type: str
    data: Any


@dataclass(frozen=True)
class CalledTool:
    """A tool call as the assistant message keeps it, with the raw arguments."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class ToolResult:
    """A tool result.

    Attributes:
        call_id: The call that it answers.
        tool: The tool's name.
        text: Its text.
        is_error: True for a failed call and for a refused one.
        details: What the tool added for programs; `{}` when a handler blocked the call.
        duration_ms: How long the tool ran; None when it did not, or when this Pi writes none.
    """

    call_id: str
    tool: str
    text: str
    is_error: bool
    details: Any
    duration_ms: float | None


@dataclass(frozen=True)
class Session:
    """A session file.

    Attributes:
        path: The file.
        header: Its first record.
        entries: All other records, in the order of the file.
        broken_lines: Lines that hold no JSON object.
    """

    path: Path
    header: JsonObject
    entries: tuple[Entry, ...]
    broken_lines: int = 0

    @property
    def id(self) -> str:
        """The session's id."""
        return str(self.header.get("id", ""))

    @property
    def messages(self) -> tuple[JsonObject, ...]:
        """The messages, of all roles."""
        return tuple(
            entry.raw["message"]
            for entry in self.entries
            if entry.type == "message" and isinstance(entry.raw.get("message"), dict)
        )

    @property
    def calls(self) -> tuple[CalledTool, ...]:
        """All tool calls that the model made."""
        return tuple(
            CalledTool(str(block.get("id", "")), str(block.get("name", "")), block.get("arguments"))
            for message in self.messages
            if message.get("role") == "assistant"
            for block in _blocks(message)
            if block.get("type") == "toolCall"
        )

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """All tool results."""
        return tuple(
            ToolResult(
                call_id=str(message.get("toolCallId", "")),
                tool=str(message.get("toolName", "")),
                text=content_text(message.get("content")),
                is_error=message.get("isError") is True,
                details=message.get("details"),
                duration_ms=message.get("durationMs"),
            )
            for message in self.messages
            if message.get("role") == "toolResult"
        )

    def custom(self, custom_type: str | None = None) -> tuple[CustomEntry, ...]:
        """Return the custom entries, all or those of one type."""
        return tuple(
            CustomEntry(str(entry.raw.get("customType", "")), entry.raw.get("data"))
            for entry in self.entries
            if entry.type == "custom" and custom_type in (None, entry.raw.get("customType"))
        )


def read_session(path: Path) -> Session:
    """Read a session file.

    Raises:
        SessionFormatError: The first record is not a session header.
        OSError: The file cannot be read.
    """
    records, broken = parse_jsonl(path.read_bytes())
    if not records or records[0].get("type") != "session":
        msg = f"{path}: a Pi session begins with a record of type session"
        raise SessionFormatError(msg)
    return Session(path, records[0], tuple(map(_entry, records[1:])), broken)


def _entry(raw: JsonObject) -> Entry:
    parent = raw.get("parentId")
    return Entry(
        type=str(raw.get("type", "")),
        id=str(raw.get("id", "")),
        parent_id=parent if isinstance(parent, str) else None,
        raw=raw,
    )


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if isinstance(block, dict)]
