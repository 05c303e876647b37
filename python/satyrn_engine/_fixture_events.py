"""Fixture: a part of a recorded branch as a document, before anything is expected of the guards."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from satyrn_engine._desk import Desk
from satyrn_engine._mask import is_name
from satyrn_engine._outcome import Outcome
from satyrn_engine._recorded import Asked, CallMade, Cut, Event, RecordedBranch, Said
from satyrn_engine.errors import ConfigError

Json = dict[str, Any]
Label = Literal["loop", "legitimate"]
Profile = Literal["classic", "evidence"]

#: Both guards are scored on a scenario from a session.
GUARDS = ["engine", "police"]


@dataclass(frozen=True, slots=True)
class CallRange:
    """Which calls of a branch, 1 for the first; both ends belong to it.

    Attributes:
        first: call.
        last: call; None for all that follow.
    """

    first: int = 1
    last: int | None = None

    def __contains__(self, number: int) -> bool:
        """Whether a call belongs to it."""
        return self.first <= number and (self.last is None or number <= self.last)


@dataclass(slots=True)
class Excerpt:
    """What of a branch goes into a document.

    Attributes:
        events: of the branch.
        inputs: of the calls that reached the hook, as it was given them, by the calls' numbers.
        names: names of arguments, by tool.
        left_out: how many calls are left out, by what became of them.
        rejected: how many calls Pi rejected.
        joined: how many messages had several blocks of a kind.
    """

    events: list[Event]
    inputs: dict[int, Json]
    names: dict[str, list[str]]
    rejected: int = 0
    unclear: int = 0
    joined: int = 0
    reached: list[CallMade] = field(default_factory=list)

    def keeps(self, tool: str) -> Callable[[str, int], bool]:
        """Return what tells which keys of a call to a tool are names of its arguments."""
        declared = self.names.get(tool)
        if declared is None:
            return lambda key, depth: depth == 0 and is_name(key)
        known = frozenset(declared)
        return lambda key, _: key in known


def excerpt(branch: RecordedBranch, wanted: CallRange, source: str, desk: Desk) -> Excerpt:
    """Take some calls of a branch, and what was said around them.

    Raises:
        ConfigError: if none of the calls is there.
    """
    events = list(_around(branch.events, wanted))
    calls = [call for event in events if isinstance(event, Said) for call in event.calls]
    if not calls and branch.calls:
        raise ConfigError(
            f"{source}: has no call {wanted.first}; this branch has {len(branch.calls)}"
        )
    reached = [call for call in calls if call.outcome is Outcome.REACHED]
    inputs, names = desk.accept(branch.tools, [(call.tool, call.arguments) for call in reached])
    return Excerpt(
        events,
        {call.number: given for call, given in zip(reached, inputs, strict=True)},
        names,
        sum(call.outcome is Outcome.REJECTED for call in calls),
        sum(call.outcome is Outcome.UNCLEAR for call in calls),
        sum(event.joined for event in events if isinstance(event, Said)),
        reached,
    )


def guard_document(taken: Excerpt, name: str, source: str) -> Json:
    """Return a guard fixture of which nothing is expected yet.

    Raises:
        ConfigError: if no call reached the guards.
    """
    if not taken.reached:
        raise ConfigError("none of these calls reached the guards; a guard fixture needs one")
    calls = [{"toolName": call.tool, "input": taken.inputs[call.number]} for call in taken.reached]
    nothing = {"blocked": 0, "entries": 0, "firstBlock": None}
    return {"name": name, "source": source, "calls": calls, "expected": nothing}


def scenario_document(
    taken: Excerpt, name: str, source: str, label: Label, profile: Profile
) -> Json:
    """Return a scenario of which nothing is expected yet.

    Raises:
        ConfigError: if nothing happens in it.
    """
    events = [made for event in taken.events for made in _events(event, taken)]
    if not events:
        raise ConfigError("nothing is said or done in this part of the session")
    return {
        "version": 1,
        "name": name,
        "source": source,
        "label": label,
        "guards": GUARDS,
        "config": {"PROFILE": profile},
        "events": events,
        "expected": {},
    }


def dump(document: Json) -> str:
    """Return a document as it is written to a file."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    # Half a character can be written in JSON, but not in UTF-8.
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text)


def _around(events: list[Event], wanted: CallRange) -> Iterator[Event]:
    """Yield the messages with these calls, what lies between, and the prompt that led to them.

    What follows the last call belongs to it up to the next call, unless a range ends there.
    """
    prompt: Asked | None = None
    begun, number = False, 0
    for event in events:
        if isinstance(event, Said) and event.calls:
            number = event.calls[-1].number
            calls = [call for call in event.calls if call.number in wanted]
            if not calls:
                if begun:
                    return
                continue
            if not begun and prompt is not None:
                yield prompt
            begun = True
            yield Said(event.thinking, event.text, calls, event.joined)
        elif begun or (wanted.first <= 1 and number == 0):
            if wanted.last is not None and number >= wanted.last:
                return
            begun = True
            yield event
        elif isinstance(event, Asked):
            prompt = event


def _events(event: Event, taken: Excerpt) -> Iterator[Json]:
    if isinstance(event, Asked):
        yield {"user": event.text}
    elif isinstance(event, Cut):
        yield {"compaction": True}
    else:
        if event.thinking:
            yield {"thinking": event.thinking}
        if event.text:
            yield {"text": event.text}
        calls = [_call(call, taken) for call in event.calls if call.outcome is not Outcome.UNCLEAR]
        if len(calls) > 1:
            yield {"batch": calls}
        else:
            yield from calls


def _call(call: CallMade, taken: Excerpt) -> Json:
    if call.outcome is Outcome.REJECTED:
        given = call.arguments
        if not isinstance(given, dict):
            given = given if isinstance(given, str) else json.dumps(given)
        return {"invalid": {"toolName": call.tool, "input": given}, "error": call.text or "?"}
    made: Json = {"call": {"toolName": call.tool, "input": taken.inputs[call.number]}}
    if call.text is not None:
        made["result"] = {"text": call.text, "isError": call.is_error}
    return made
