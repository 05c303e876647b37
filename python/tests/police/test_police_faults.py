"""Faults around the police, in a real Pi: detection goes on, and no call is refused for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from satyrn_engine.testing import RealPi, Reply, ScriptedModel, Text, bash, call, say
from tests.police.watched import SENTENCE, Watched, endless

pytestmark = pytest.mark.integration

LOOP = [bash("echo ran >> runs.txt")] * 2 + [say("Done.")]
DIFFERENT = [bash(f"echo {n} >> runs.txt") for n in range(4)] + [say("Done.")]


def extension(watched: Watched, code: str, name: str = "00-first.ts") -> Path:
    """Put one more extension into the home, for this test only; Pi loads by name."""
    path = watched.home.agent_dir / "extensions" / name
    path.write_text(f"export default function (pi) {{ {code} }}\n", encoding="utf-8")
    return path


HOOKS = [
    pytest.param("/no/such/program", "could not be run (ENOENT)", id="missing"),
    pytest.param("false", "exited with 1", id="fails"),
    pytest.param("sleep 60", "", id="hangs"),
]


@pytest.mark.parametrize(("hook", "warning"), HOOKS)
def test_a_hook_command_that_is_broken_changes_nothing(
    watched: Watched, hook: str, warning: str
) -> None:
    watched.configure({"HOOK_CMD": hook})
    with ScriptedModel(LOOP) as model:
        watched.home.use_model(model)
        run = RealPi(watched.home).run("Go on.", timeout=30)
    assert watched.runs() == 1
    assert run.stdout == "Done.\n"
    assert warning in run.stderr


def test_a_log_that_cannot_be_written_changes_nothing(watched: Watched) -> None:
    watched.configure({"HOOK_LOG": "/no/such/folder/log.jsonl"})
    with ScriptedModel(LOOP) as model:
        watched.home.use_model(model)
        run = RealPi(watched.home).run("Go on.")
    assert watched.runs() == 1
    assert run.stdout == "Done.\n"
    assert run.stderr.count("HOOK_LOG failed (ENOENT)") == 1


@pytest.mark.parametrize("content", ["{", "5", '{"STRIDE": "50"}', '{"toString": 5}'])
def test_a_damaged_configuration_is_warned_of_and_left_alone(
    watched: Watched, content: str
) -> None:
    path = watched.home.agent_dir / "loop-police.json"
    path.write_text(content)
    with ScriptedModel(LOOP) as model:
        watched.home.use_model(model)
        run = RealPi(watched.home).run("Go on.")
    assert watched.runs() == 1, "the defaults are at work"
    assert run.stderr.count("loop-police.json") == 1
    assert path.read_text() == content


def test_a_configuration_that_can_neither_be_read_nor_written_changes_nothing(
    watched: Watched,
) -> None:
    path = watched.home.agent_dir / "loop-police.json"
    path.unlink(missing_ok=True)
    path.mkdir()
    with ScriptedModel(LOOP) as model:
        watched.home.use_model(model)
        run = RealPi(watched.home).run("Go on.")
    path.rmdir()
    assert watched.runs() == 1
    assert "could not be read (EISDIR)" in run.stderr


def test_the_configuration_is_written_on_first_load_and_a_project_s_file_is_ignored(
    watched: Watched,
) -> None:
    path = watched.home.agent_dir / "loop-police.json"
    path.unlink(missing_ok=True)
    hostile = json.dumps({"CONFIG_VERSION": 4, "TOOL_LOOP_BAN": 0, "HOOK_CMD": "touch pwned"})
    for folder in (".", ".pi", "extensions", ".pi/extensions"):
        (watched.home.project / folder).mkdir(exist_ok=True)
        (watched.home.project / folder / "loop-police.json").write_text(hostile)
    with ScriptedModel(LOOP) as model:
        watched.home.use_model(model)
        RealPi(watched.home).run("Go on.", "--approve")
    assert watched.runs() == 1
    assert not (watched.home.project / "pwned").exists()
    assert json.loads(path.read_text())["TOOL_LOOP_BAN"] == 1


def test_an_extension_that_throws_does_not_disturb(watched: Watched) -> None:
    events = ["message_update", "message_end", "tool_execution_start", "turn_end", "context"]
    thrower = "".join(
        f'pi.on("{event}", () => {{ throw new Error("other"); }});' for event in events
    )
    thrower += 'pi.events.on("loop-police:detection", () => { throw new Error("listener"); });'
    path = extension(watched, thrower)
    outcome_of = watched.configure
    outcome_of()
    with ScriptedModel([endless(Text(SENTENCE)), *LOOP]) as model:
        watched.home.use_model(model)
        run = RealPi(watched.home).run("Go on.")
    path.unlink()
    assert watched.runs() == 1
    assert run.stdout == "Done.\n"


def test_an_extension_that_blocks_first_is_counted_as_a_refusal(watched: Watched) -> None:
    path = extension(
        watched,
        'pi.on("tool_call", (e) => e.toolName === "bash" ? { block: true, reason: "No." } : {});',
    )
    outcome = watched.run([bash("echo ran >> runs.txt")] * 9, exit_code=1)
    path.unlink()
    assert watched.runs() == 0
    assert outcome.events == ["refusal_ignored"]
    assert len(outcome.model.exchanges) == 5


HOSTILE_INPUTS = [
    pytest.param("event.input.self = event.input", id="cycle"),
    pytest.param(
        'Object.defineProperty(event.input, "trap", '
        '{ enumerable: true, get() { throw new Error("trap"); } })',
        id="getter",
    ),
    pytest.param("event.input.big = 5n", id="bigint"),
    pytest.param(
        "let deep = 1; for (let i = 0; i < 20000; i++) deep = [deep]; event.input.deep = deep",
        id="deep",
    ),
]


@pytest.mark.parametrize("mutation", HOSTILE_INPUTS)
def test_inputs_that_another_extension_made_strange_are_not_refused(
    watched: Watched, mutation: str
) -> None:
    path = extension(watched, f'pi.on("tool_call", (event) => {{ {mutation}; }});')
    outcome = watched.run(DIFFERENT)
    path.unlink()
    assert watched.runs() == 4
    assert outcome.events == []


def test_arguments_nested_as_deep_as_pi_takes_them_are_told_apart(watched: Watched) -> None:
    def nested(command: str) -> Reply:
        # Pi itself ends with a stack overflow somewhere below 20,000.
        deep = "[" * 1000 + "]" * 1000
        return call("bash", f'{{"command": "{command}", "extra": {deep}}}')

    commands = ["echo 1 >> runs.txt", "echo 2 >> runs.txt"]
    outcome = watched.run([*map(nested, commands), say("Done.")])
    assert outcome.events == []
    assert outcome.run.stdout == "Done.\n"


def test_ten_megabytes_of_sound_text_pass(watched: Watched) -> None:
    text = "".join(f"{n * 7919} is number {n}. " for n in range(400_000))
    outcome = watched.run([Reply((Text(text),), piece=65_536)])
    assert len(outcome.run.stdout) > 10_000_000 - 1
    assert outcome.events == []
