"""Plays a scenario in a real Pi: the scripted model says its messages, the witness its results."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from satyrn_engine.testing import (
    PiHome,
    PiProgram,
    RealPi,
    Reply,
    Request,
    ScriptedModel,
    Text,
    Thinking,
    ToolCall,
    parse_jsonl,
)

WITNESS = Path(__file__).with_name("witness.mjs").resolve()

Scenario = Mapping[str, Any]
Sign = tuple[int, str]
"""The number of an event, and what was found (`tool_loop`) or done (`block`, `abort`) then."""

_DEFAULT_CHUNK = 20
_SETTLE_SECONDS = 120.0


@contextmanager
def guarded_home(program: PiProgram, guard: Path) -> Iterator[PiHome]:
    """Give a home in which a guard is installed, and in which any session is too long as it is.

    So Pi compacts it before the next request as soon as it may do that by itself.
    """
    with PiHome(program) as home:
        RealPi(home).install(guard)
        settings = json.loads(home.settings.read_text(encoding="utf-8"))
        settings["compaction"] = {"enabled": False, "keepRecentTokens": 1, "reserveTokens": 127_999}
        home.settings.write_text(json.dumps(settings), encoding="utf-8")
        yield home


@dataclass
class Message:
    """An assistant message.

    Attributes:
        streams: The event numbers and events of its blocks, in order.
        calls: The event number of its calls, and the calls.
        compacted: Whether a compaction follows.
    """

    streams: list[tuple[int, Mapping[str, Any]]] = field(default_factory=list)
    calls: tuple[int, Sequence[Mapping[str, Any]]] | None = None
    compacted: bool = False

    def reply(self) -> Reply:
        """Return what the model streams."""
        parts: list[Text | Thinking | ToolCall] = []
        chunks = {stream.get("chunk", _DEFAULT_CHUNK) for _, stream in self.streams}
        for _, stream in self.streams:
            said = "thinking" if "thinking" in stream else "text"
            kind = Thinking if said == "thinking" else Text
            parts.append(kind(stream[said] * stream.get("repeat", 1)))
        for call_id, given in self.identified():
            asked = given.get("call") or given["invalid"]
            parts.append(ToolCall(asked["toolName"], asked["input"], id=call_id))
        return Reply(tuple(parts), piece=max(chunks, default=None))

    def identified(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield each call with its id, which begins with its event number."""
        number, calls = self.calls or (0, ())
        for position, given in enumerate(calls):
            yield f"{number}-{position}", given

    def event_of(self, block: int | None) -> int:
        """Return the event number of a block, or of what there is if no block streamed."""
        if block is not None:
            return self.streams[block][0]
        return self.streams[-1][0] if self.streams else (self.calls or (0,))[0]


@dataclass
class Stretch:
    """What happens from one prompt to the next."""

    prompt: str
    messages: list[Message] = field(default_factory=list)


def stretches(scenario: Scenario) -> Iterator[Stretch]:
    """Group the events as the description of the scenarios' schema says.

    Raises:
        ValueError: The first event is no prompt, or a compaction follows a prompt.
    """
    current: Stretch | None = None
    message = Message()
    for number, event in enumerate(scenario["events"], start=1):
        if "user" in event:
            if current is not None:
                yield _closed(current, message)
            current = Stretch(event["user"])
            message = Message()
            continue
        if current is None:
            raise ValueError(f"event {number} comes before any prompt")
        if "thinking" in event or "text" in event:
            if not _may_follow(message, event):
                current.messages.append(message)
                message = Message()
            message.streams.append((number, event))
            continue
        if "compaction" not in event:
            message.calls = (number, event.get("batch", [event]))
        _closed(current, message)
        message = Message()
        if "compaction" in event:
            current.messages[-1].compacted = True
    if current is not None:
        yield _closed(current, message)


def _may_follow(message: Message, event: Mapping[str, Any]) -> bool:
    return not message.streams or ("thinking" in message.streams[-1][1] and "text" in event)


def _closed(stretch: Stretch, message: Message) -> Stretch:
    if message.streams or message.calls:
        stretch.messages.append(message)
    return stretch


class Player:
    """The scripted model's side of a scenario, and the user's."""

    def __init__(self, scenario: Scenario) -> None:
        """Take the scenario apart."""
        self._stretches = list(stretches(scenario))
        self._left: list[Message] = []
        self._served: dict[int, Message] = {}
        self._compacting = False
        self._scenario = scenario

    def play(self, home: PiHome) -> tuple[Sign, ...]:
        """Play it in the guarded Pi of `home`, and return what the guard found and did."""
        home.clear()
        signs = home.root / "signs.jsonl"
        signs.unlink(missing_ok=True)
        plan = home.root / "plan.json"
        plan.write_text(json.dumps({**self._plan(), "signs": str(signs)}), encoding="utf-8")
        env = {"SCENARIO_PLAN": str(plan)}
        with ScriptedModel(self._answer, final=None) as model:
            home.use_model(model)
            with RealPi(home).rpc("-e", str(WITNESS), env=env) as self._rpc:
                for stretch in self._stretches:
                    self._play_stretch(stretch, model)
            assert model.errors == ()
        noted = parse_jsonl(signs.read_bytes())[0] if signs.exists() else ()
        return tuple((self._event_of(sign), sign.get("found") or sign["did"]) for sign in noted)

    def _plan(self) -> dict[str, Any]:
        messages = itertools.chain.from_iterable(s.messages for s in self._stretches)
        calls = [pair for message in messages for pair in message.identified()]
        valid = [(call_id, given) for call_id, given in calls if "call" in given]
        nothing = {"text": ""}
        results = {call_id: given.get("result", nothing) for call_id, given in valid}
        return {
            "tools": sorted({given["call"]["toolName"] for _, given in valid}),
            "results": {i: {"isError": False, **result} for i, result in results.items()},
        }

    def _answer(self, request: Request) -> Reply:
        message = self._left.pop(0) if self._left else Message()
        self._served[request.number] = message
        if message.compacted != self._compacting:
            self._compacting = message.compacted
            self._rpc.request("set_auto_compaction", enabled=message.compacted)
        return message.reply()

    def _play_stretch(self, stretch: Stretch, model: ScriptedModel) -> None:
        self._left = list(stretch.messages)
        self._run(stretch.prompt)
        while self._left and not self._ended_by_guard(model):
            self._run("/go-on")

    def _run(self, prompt: str) -> None:
        mark = self._rpc.mark()
        self._rpc.prompt(prompt, timeout=_SETTLE_SECONDS)
        # A guard may have started a new run.
        while True:
            settled = len(self._settled())
            if self._rpc.request("get_state").get("isStreaming") is False:
                return
            self._wait_until_settled(settled + 1, mark)

    def _settled(self) -> list[Mapping[str, Any]]:
        return [event for event in self._rpc.events if event.get("type") == "agent_settled"]

    def _wait_until_settled(self, times: int, mark: int) -> None:
        def often_enough(record: Mapping[str, Any]) -> bool:
            return record.get("type") == "agent_settled" and len(self._settled()) >= times

        self._rpc.wait_for(often_enough, since=mark, timeout=_SETTLE_SECONDS)

    def _ended_by_guard(self, model: ScriptedModel) -> bool:
        """Tell whether the last run was aborted, or ended right behind calls."""
        last = self._served[model.requests[-1].number]
        return bool(self._settled()[-1].get("aborted")) or last.calls is not None

    def _event_of(self, sign: Mapping[str, Any]) -> int:
        if "call" in sign:
            return int(str(sign["call"]).split("-", 1)[0])
        number = int(str(sign["response"]).removeprefix("chatcmpl-"))
        return self._served[number].event_of(sign.get("block"))
