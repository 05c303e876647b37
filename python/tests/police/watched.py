"""Runs a scripted model under the police and says what each of their three channels heard."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from satyrn_engine.testing import (
    JsonObject,
    PiHome,
    PiRun,
    RealPi,
    Reply,
    ScriptedModel,
    Session,
    Text,
    Thinking,
    ToolCall,
    parse_jsonl,
)

Settings = Mapping[str, str | int | float]

# An extension that writes down what it hears on Pi's event bus.
_LISTENER = """
import { appendFileSync } from "node:fs";
export default function (pi) {
  pi.events.on("loop-police:detection", (payload) => {
    appendFileSync(%s, JSON.stringify(payload) + "\\n");
  });
}
"""

# A hook command that writes down its last argument.
_HOOK = """
import { appendFileSync } from "node:fs";
appendFileSync(%s, process.argv.at(-1) + "\\n");
"""

SENTENCE = (
    "alder birch cedar dogwood elm fir ginkgo hazel ivy juniper larch maple oak pine rowan spruce "
    "teak willow yew acacia beech chestnut ebony hickory linden mahogany olive poplar sequoia. "
)
"""Some 200 characters without any repetition."""


@dataclass(frozen=True)
class Outcome:
    """A run that ended, with what was heard of it.

    Attributes:
        run: How Pi ended.
        session: What it stored.
        heard: The payloads on the event bus.
        logged: The lines of HOOK_LOG.
        hooked: The arguments of HOOK_CMD, in the order of `heard`.
        model: The scripted model.
    """

    run: PiRun
    session: Session
    heard: tuple[JsonObject, ...]
    logged: tuple[JsonObject, ...]
    hooked: tuple[JsonObject, ...]
    model: ScriptedModel

    @property
    def events(self) -> list[str]:
        """The names of what was found."""
        return [str(payload["event"]) for payload in self.heard]

    @property
    def details(self) -> list[Any]:
        """The details of what was found."""
        return [payload["details"] for payload in self.heard]

    @property
    def stored(self) -> str:
        """The whole transcript as text."""
        return self.session.path.read_text(encoding="utf-8")

    def request(self, number: int) -> str:
        """Return the body of a request, from 1, as text."""
        return json.dumps(self.model.requests[number - 1].body, ensure_ascii=False)


class Watched:
    """A home with the police in it."""

    def __init__(self, home: PiHome) -> None:
        """Take the home; `listen` put the listener there."""
        self.home = home

    def clear(self) -> Watched:
        """Forget what earlier tests left."""
        self.home.clear()
        for name in ("heard", "logged", "hooked"):
            self._file(name).unlink(missing_ok=True)
        return self

    def configure(self, settings: Settings | None = None) -> None:
        """Write `loop-police.json`, with all channels on besides `settings`."""
        hook = self.home.root / "hook.mjs"
        hook.write_text(_HOOK % json.dumps(str(self._file("hooked"))), encoding="utf-8")
        channels = {"HOOK_LOG": str(self._file("logged")), "HOOK_CMD": f"node {hook}"}
        stored = {"CONFIG_VERSION": 4, **channels, **(settings or {})}
        path = self.home.agent_dir / "loop-police.json"
        path.write_text(json.dumps(stored), encoding="utf-8")

    def run(
        self,
        script: Sequence[Reply],
        *arguments: str,
        settings: Settings | None = None,
        mode: Literal["text", "json"] = "text",
        exit_code: int = 0,
    ) -> Outcome:
        """Run one prompt to its end and hold the three channels to each other."""
        self.configure(settings)
        with ScriptedModel(script) as model:
            self.home.use_model(model)
            run = RealPi(self.home).run("Go on.", *arguments, mode=mode, check=False)
            model.wait_until_idle()
        assert run.exit_code == exit_code, run.explain()
        assert model.errors == ()
        assert "Extension error" not in run.stderr
        return self.outcome(run, model)

    def run_as_configured(self, script: Sequence[Reply]) -> PiRun:
        """Run one prompt with the settings that are there, or with none."""
        with ScriptedModel(script) as model:
            self.home.use_model(model)
            return RealPi(self.home).run("Go on.")

    def outcome(self, run: PiRun, model: ScriptedModel) -> Outcome:
        """Collect what the channels heard; they must agree."""
        heard = self._read("heard")
        logged = self._read("logged")
        hooked = self._read("hooked")
        assert logged == heard
        assert sorted(map(json.dumps, hooked)) == sorted(map(json.dumps, heard))
        return Outcome(run, run.session, heard, logged, hooked, model)

    def runs(self, name: str = "runs.txt") -> int:
        """Return how often a command that appends a line to a file really ran."""
        effect = self.home.project / name
        return len(effect.read_text().splitlines()) if effect.exists() else 0

    def _file(self, name: str) -> Path:
        return self.home.root / f"{name}.jsonl"

    def _read(self, name: str) -> tuple[JsonObject, ...]:
        path = self._file(name)
        return parse_jsonl(path.read_bytes())[0] if path.exists() else ()


def listen(home: PiHome) -> None:
    """Put the listener where Pi finds it by itself."""
    folder = home.agent_dir / "extensions"
    folder.mkdir()
    heard = json.dumps(str(home.root / "heard.jsonl"))
    (folder / "listener.ts").write_text(_LISTENER % heard, encoding="utf-8")


def endless(part: Thinking | Text) -> Reply:
    """Return a reply that goes on for 400 times the part, slowly enough to be stopped."""
    return Reply((type(part)(part.text, times=400),), piece=20, delay=0.001)


def total_chunks(reply: Reply) -> int:
    """Return how many chunks a reply has when all of it is sent."""
    parts = [part for part in reply.parts if not isinstance(part, ToolCall)]
    assert reply.piece is not None
    return sum(-(-len(part.text) // reply.piece) * part.times for part in parts)
