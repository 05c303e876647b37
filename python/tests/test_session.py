"""Reading a session file that Pi wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine.testing import (
    CalledTool,
    CustomEntry,
    Session,
    SessionFormatError,
    ToolResult,
    read_session,
)

HEADER = {"type": "session", "version": 3, "id": "s-1", "cwd": "/project"}


def entry(kind: str, number: int, **fields: Any) -> dict[str, Any]:  # noqa: ANN401
    parent = f"e{number - 1}" if number else None
    return {"type": kind, "id": f"e{number}", "parentId": parent, **fields}


ENTRIES = [
    entry("message", 0, message={"role": "user", "content": "Go on"}),
    entry(
        "message",
        1,
        message={
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Well"},
                {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}},
                {"type": "toolCall", "id": "c2", "name": "read", "arguments": {"path": "a"}},
            ],
        },
    ),
    entry(
        "message",
        2,
        message={
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "bash",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
            "isError": False,
            "durationMs": 12,
        },
    ),
    entry(
        "message",
        3,
        message={
            "role": "toolResult",
            "toolCallId": "c2",
            "toolName": "read",
            "content": [{"type": "text", "text": "refused"}],
            "isError": True,
            "details": {},
        },
    ),
    entry("custom", 4, customType="loop_broken", data={"tool": "read"}),
    entry("custom", 5, customType="other", data=None),
]


def read(tmp_path: Path, *lines: object, raw: str = "") -> Session:
    file = tmp_path / "session.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in lines) + raw
    file.write_text(text, encoding="utf-8")
    return read_session(file)


def test_calls_and_results_are_found_in_order(tmp_path: Path) -> None:
    session = read(tmp_path, HEADER, *ENTRIES)
    assert session.id == "s-1"
    assert session.calls == (
        CalledTool("c1", "bash", {"command": "ls"}),
        CalledTool("c2", "read", {"path": "a"}),
    )
    assert session.results == (
        ToolResult("c1", "bash", "ab", is_error=False, details=None, duration_ms=12),
        ToolResult("c2", "read", "refused", is_error=True, details={}, duration_ms=None),
    )


def test_custom_entries_are_found_by_type(tmp_path: Path) -> None:
    session = read(tmp_path, HEADER, *ENTRIES)
    assert session.custom("loop_broken") == (CustomEntry("loop_broken", {"tool": "read"}),)
    assert session.custom("nothing") == ()
    assert [custom.custom_type for custom in session.custom()] == ["loop_broken", "other"]


def test_entries_keep_their_place_in_the_tree(tmp_path: Path) -> None:
    session = read(tmp_path, HEADER, *ENTRIES[:2])
    assert [(item.id, item.parent_id) for item in session.entries] == [("e0", None), ("e1", "e0")]


def test_a_broken_line_is_counted_and_costs_nothing_else(tmp_path: Path) -> None:
    session = read(tmp_path, HEADER, *ENTRIES, raw='{"type": "mess')
    assert session.broken_lines == 1
    assert len(session.entries) == len(ENTRIES)


@pytest.mark.parametrize("lines", [(), ({"type": "message"},), ("text",)])
def test_a_file_that_is_no_session_is_refused_by_name(tmp_path: Path, lines: tuple[object]) -> None:
    with pytest.raises(SessionFormatError, match=r"session\.jsonl"):
        read(tmp_path, *lines)
    assert read(tmp_path, HEADER).entries == ()
