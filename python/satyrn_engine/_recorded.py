"""Fixture: one branch of a session in memory, as what was said and done."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from satyrn_engine._outcome import Outcome
from satyrn_engine._records import Broken
from satyrn_engine._sources import Source
from satyrn_engine._steps import (
    Compacted,
    GuardsRestarted,
    Prompt,
    SessionBegun,
    Step,
    ToolsDeclared,
    Turn,
    read_steps,
)
from satyrn_engine.errors import SourceError

#: What stands for a picture, of which a scenario has only the place.
PICTURE = "[…]"


@dataclass(slots=True)
class CallMade:
    """A call of the model.

    Attributes:
        number: its place in the branch, 1 for the first call; in a fork, for its own first call.
        tool: the tool's name.
        arguments: as the model wrote them.
        outcome: what became of it.
        text: of its result; None without one.
        is_error: whether the tool failed.
    """

    number: int
    tool: str
    arguments: Any
    outcome: Outcome
    text: str | None
    is_error: bool


@dataclass(slots=True)
class Said:
    """A message of the model: its reasoning, its answer and its calls.

    Attributes:
        joined: whether the message had several blocks of a kind, which stand here as one.
    """

    thinking: str
    text: str
    calls: list[CallMade]
    joined: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """The user spoke."""

    text: str


@dataclass(frozen=True, slots=True)
class Cut:
    """The context was cut down to a summary."""


Event = Said | Asked | Cut


@dataclass(slots=True)
class RecordedBranch:
    """One branch of a session.

    Attributes:
        cwd: the folder that Pi worked in.
        events: in their order; of a fork, its own.
        copied: how many calls a fork copied from its parent, whose guards are not its own.
        tools: that the model was given, each as a session tells of it.
        broken: what is wrong with lines that were skipped.
    """

    cwd: str = ""
    events: list[Event] = field(default_factory=list)
    copied: int = 0
    tools: list[Any] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    @property
    def calls(self) -> list[CallMade]:
        """All calls, in the order in which the model made them."""
        said = (event for event in self.events if isinstance(event, Said))
        return [call for message in said for call in message.calls]


def read_branch(source: Source) -> RecordedBranch:
    """Read a source that has one session with one branch.

    Raises:
        SourceError: if it cannot be read, or holds no session.
    """
    listener = _Listener(source.name)
    try:
        read_steps(source, set(), listener)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{source.name}: a line cannot be read ({error})") from error
    if listener.sessions == 0:
        raise SourceError(f"{source.name}: holds no session; name a file that Pi wrote")
    return listener.branch_read


class _Listener:
    """Keeps what the steps tell."""

    def __init__(self, name: str) -> None:
        self.branch_read = RecordedBranch()
        self.sessions = 0
        self._name = name
        self._calls = 0

    def session(self, begun: SessionBegun) -> None:
        self.sessions += 1
        self.branch_read.cwd = begun.cwd

    def branch(self) -> None:
        """There is only one."""

    def step(self, step: Step) -> None:
        events = self.branch_read.events
        match step:
            case Turn():
                events.append(self._said(step))
            case Prompt():
                events.append(Asked(_text_of(_message(step.line)) or PICTURE))
            case Compacted():
                events.append(Cut())
            case GuardsRestarted():
                events.clear()
                self.branch_read.copied, self._calls = self._calls, 0
            case ToolsDeclared():
                self.branch_read.tools += json.loads(bytes(step.tools))
            case _:
                pass

    def branch_end(self) -> None:
        """Nothing is left to do."""

    def restart(self) -> None:
        """A session that is one line has no branches after all."""

    def session_end(self) -> None:
        """Nothing is left to do."""

    def broken(self, line: Broken) -> None:
        self.branch_read.broken.append(line.reason)

    def damaged(self, reason: str) -> None:
        raise SourceError(f"{self._name}: {reason}")

    def _said(self, turn: Turn) -> Said:
        blocks = _blocks(_message(turn.line))
        thinking = [str(block.get("thinking") or "") for block in blocks]
        text = [str(block.get("text") or "") for block in blocks if block.get("type") == "text"]
        said, answered = list(filter(None, thinking)), list(filter(None, text))
        results = [_message(line) for line in turn.results]
        calls = []
        for call in turn.calls:
            self._calls += 1
            result = _take(results, str(call.id))
            calls.append(
                CallMade(
                    self._calls,
                    call.tool,
                    self._arguments(bytes(call.arguments)),
                    call.outcome,
                    None if result is None else _text_of(result),
                    bool(result and result.get("isError")),
                )
            )
        joined = len(said) > 1 or len(answered) > 1
        return Said("\n\n".join(said), "\n\n".join(answered), calls, joined)

    def _arguments(self, text: bytes) -> Any:  # noqa: ANN401 - JSON
        try:
            return json.loads(text.decode("utf-8", "replace"))
        except (ValueError, RecursionError) as error:
            raise SourceError(
                f"{self._name}: call {self._calls} cannot be read ({error}); leave it out (--calls)"
            ) from error


def _message(line: bytes) -> dict[str, Any]:
    # The scan reads such lines, too: half a character does not matter there.
    entry = json.loads(line.decode("utf-8", "replace"))
    message = entry.get("message") or (entry.get("entry") or {}).get("message")
    return message if isinstance(message, dict) else {}


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def _text_of(message: dict[str, Any]) -> str:
    return "\n".join(
        str(block.get("text") or "") if block.get("type") == "text" else PICTURE
        for block in _blocks(message)
    )


def _take(results: list[dict[str, Any]], call_id: str) -> dict[str, Any] | None:
    for place, result in enumerate(results):
        if str(result.get("toolCallId")) == call_id:
            return results.pop(place)
    return None
