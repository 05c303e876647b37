"""Branch: what became of a call, from how a session shows it.

The guards must be shown exactly the calls that reached Pi's `tool_call` hook. Pi refuses some calls
before: those whose tool does not exist, whose arguments are no JSON or do not fit the tool's
schema, or were cut off. The texts are those of Pi 1.6.
"""

from __future__ import annotations

from enum import Enum

import msgspec

from satyrn_engine._records import Block, Message


class Outcome(Enum):
    """What became of a call.

    Attributes:
        REACHED: it reached the `tool_call` hook: it ran, or an extension refused it.
        REJECTED: Pi refused it before the hook.
        UNCLEAR: it was aborted, the answer that held it failed, or no result was recorded.
    """

    REACHED = "reached"
    REJECTED = "rejected"
    UNCLEAR = "unclear"


_decode_text = msgspec.json.Decoder(str).decode
_CUT = "was not executed: the response hit the output token limit"


def outcome_of(tool: str, result: Message | None) -> Outcome:
    """Tell what became of a call to `tool` from the message that holds its result, if any."""
    if result is None:
        return Outcome.UNCLEAR
    # Only a tool that ran has a duration, and what it says is its own affair.
    if not result.is_error or result.duration_ms is not None:
        return Outcome.REACHED
    text = _first_text(result.content)
    if text == "Operation aborted":
        return Outcome.UNCLEAR
    rejected = (
        text.startswith((f'Validation failed for tool "{tool}":', "Invalid arguments for tool "))
        or text in {f"Tool {tool} not found", f'Tool "{tool}" not found'}
        or (text.startswith("Tool call ") and _CUT in text)
    )
    return Outcome.REJECTED if rejected else Outcome.REACHED


def _first_text(content: list[Block] | str | None) -> str:
    if not isinstance(content, list):
        return ""
    try:
        texts = [_decode_text(part.text) if len(part.text) else "" for part in content]
    except msgspec.DecodeError:
        return ""
    return texts[0] if texts else ""
