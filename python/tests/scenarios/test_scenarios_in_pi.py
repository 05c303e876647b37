"""The Pi double tells the truth: a guard does in a real Pi what it does in the double.

A sample of the scenarios, with every kind of event, is played in a real Pi whose model says the
scenario's messages and whose tools return its results. What a guard finds and does there must be
what it finds and does in the replay, in the same order and at the same events.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine.testing import PiHome, PiProgram
from tests.scenarios.played import Player, Scenario, Sign

pytestmark = pytest.mark.integration

SIGNS = Path(__file__).with_name("signs.mjs").resolve()

# Both labels of each kind of event: calls that succeed and fail, batches, calls that Pi rejects for
# their arguments or their name, streams with and without repetitions, prompts and compactions.
SAMPLE = [
    "announces-and-never-acts",
    "announces-then-acts",
    "batch-seven-different",
    "batch-seven-identical",
    "edit-not-found-over-and-over",
    "fence-with-imports",
    "identical-listing",
    "loop-through-compaction",
    "one-sentence-forever",
    "plan-turned-over-thinking",
    "poll-percent",
    "refusal-ignored",
    "rejected-edit-25",
    "reread-after-compaction",
    "same-call-across-prompts",
    "same-thought-verbatim-each-turn",
    "table-row-forever",
    "the-the-the",
    "unknown-tool-forever",
]

ENGINE_SAMPLE = [
    "batch-seven-different",
    "batch-seven-identical",
    "identical-listing",
    "poll-percent",
]


def scenario_file(sources: Path, name: str) -> Path:
    return sources / "fixtures" / "scenarios" / f"{name}.json"


def read(file: Path) -> Scenario:
    scenario: Scenario = json.loads(file.read_bytes())
    return scenario


@cache
def in_the_double(
    node: Path, sources: Path, guard: str, profile: str, names: tuple[str, ...]
) -> Mapping[str, Sequence[Sign]]:
    """Return the signs of scenarios in the double, by their names."""
    files = [str(scenario_file(sources, name)) for name in names]
    command = [str(node), "--disable-warning=ExperimentalWarning", "--experimental-strip-types"]
    command += [str(SIGNS), str(sources), guard, profile, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    assert [run["problems"] for run in runs] == [[]] * len(names)
    return {name: _signs(run["signs"]) for name, run in zip(names, runs, strict=True)}


def _signs(signs: Sequence[Mapping[str, Any]]) -> tuple[Sign, ...]:
    """Return what a real Pi shows as well, which is not that a block asks for the run's end."""
    told = [(sign["event"], sign.get("enforced") or sign["kind"]) for sign in signs]
    return tuple(sign for sign in told if sign[1] != "terminate")


@pytest.mark.parametrize("profile", ["classic", "evidence"])
@pytest.mark.parametrize("name", SAMPLE)
def test_the_police_do_in_a_real_pi_what_they_do_in_the_double(
    name: str, profile: str, police_home: PiHome, program: PiProgram, sources: Path
) -> None:
    scenario = read(scenario_file(sources, name))
    settings = {"CONFIG_VERSION": 4, **scenario.get("config", {}), "PROFILE": profile}
    stored = police_home.agent_dir / "loop-police.json"
    stored.write_text(json.dumps(settings), encoding="utf-8")
    double = in_the_double(program.node, sources, "police", profile, tuple(SAMPLE))
    assert Player(scenario).play(police_home) == double[name]


@pytest.mark.parametrize("name", ENGINE_SAMPLE)
def test_the_engine_does_in_a_real_pi_what_it_does_in_the_double(
    name: str, engine_home: PiHome, program: PiProgram, sources: Path
) -> None:
    double = in_the_double(program.node, sources, "engine", "-", tuple(ENGINE_SAMPLE))
    assert Player(read(scenario_file(sources, name))).play(engine_home) == double[name]


@pytest.mark.parametrize(
    ("guard", "profile", "names"),
    [
        ("police", "classic", SAMPLE),
        ("police", "evidence", SAMPLE),
        ("engine", "-", ENGINE_SAMPLE),
    ],
)
def test_the_sample_has_scenarios_in_which_something_is_found_and_others(
    guard: str, profile: str, names: list[str], program: PiProgram, sources: Path
) -> None:
    double = in_the_double(program.node, sources, guard, profile, tuple(names))
    assert {bool(signs) for signs in double.values()} == {True, False}


def test_the_sample_has_every_kind_of_event(sources: Path) -> None:
    scenarios = [read(scenario_file(sources, name)) for name in SAMPLE]
    events = [event for scenario in scenarios for event in scenario["events"]]
    fields = {field for event in events for field in event}
    assert fields >= {
        *("user", "call", "batch", "invalid", "thinking", "text", "compaction"),
        *("repeat", "chunk"),
    }
    errors = {event["result"]["isError"] for event in events if "result" in event}
    assert errors == {True, False}
    assert {scenario["label"] for scenario in scenarios} == {"loop", "legitimate"}
