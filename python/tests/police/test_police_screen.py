"""The police on the screen of Pi's own terminal interface."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from satyrn_engine.testing import ScriptedModel, Thinking, bash, say
from tests.police.terminal import Terminal
from tests.police.watched import SENTENCE, Watched, endless

pytestmark = pytest.mark.integration

SCRIPT = [endless(Thinking(SENTENCE)), say("First answer."), bash("echo hi"), bash("echo hi")]


@pytest.fixture
def terminal(watched: Watched) -> Iterator[Terminal]:
    watched.configure()
    with ScriptedModel([*SCRIPT, say("Second answer.")]) as model:
        watched.home.use_model(model)
        with Terminal(watched.home) as terminal:
            terminal.wait_for("police: classic")
            yield terminal


def test_the_command_is_completed_and_answers(watched: Watched, terminal: Terminal) -> None:
    terminal.type("/loop-police ")
    terminal.wait_for("reset", "forget everything counted so far", "profile", "choose the rules")
    terminal.type("set STR")
    terminal.wait_for("STRIDE", "whole number from 1 to 100000")
    terminal.type("\t")
    terminal.wait_for("/loop-police set STRIDE=")
    terminal.type("25\r")
    terminal.wait_for("STRIDE=25 (for this session; save keeps it)")
    terminal.type("/loop-police set STRIDE=abc toString=5\r")
    terminal.wait_for("STRIDE=abc: must be a number, not a text.", "toString is not a setting.")
    terminal.type("/loop-police profile evidence\r")
    terminal.wait_for("police: evidence")
    terminal.type("/loop-police save\r")
    terminal.wait_for("Loop Police: saved")
    stored = json.loads((watched.home.agent_dir / "loop-police.json").read_text())
    assert (stored["STRIDE"], stored["PROFILE"]) == (25, "evidence")
    terminal.type("/loop-police\r")
    terminal.wait_for("recoveries: 0 of 3", "STRIDE=25", "MSG_SUFFIX")


def test_loops_are_shown_while_they_are_stopped(terminal: Terminal) -> None:
    terminal.type("Go on.\r")
    screen = terminal.wait_for(
        "loop-police: thinking repeated itself and was stopped",
        "THINKING LOOP: your reasoning was repeating itself",
        "First answer.",
        "police: 1 loop",
    )
    assert "juniper" not in screen, "the looping thought is gone from the screen"
    terminal.type("And now?\r")
    terminal.wait_for(
        "loop-police: a sequence of tool calls repeated itself; the call was refused",
        "TOOL CALL LOOP",
        "Second answer.",
        "police: 2 loops",
    )
    terminal.type("/loop-police reset\r")
    terminal.wait_for("everything counted so far is forgotten", "police: classic")
