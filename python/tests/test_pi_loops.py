"""Loops in a real Pi: what ran, what the model was told, what the session file keeps.

Each refusal stands beside the sibling that must go through. Whether a command ran is read from
its effect on a file and not from what Pi says about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from satyrn_engine.testing import (
    CustomEntry,
    Package,
    PiHome,
    PiProgram,
    RealPi,
    Reply,
    ScriptedModel,
    Session,
    ToolCall,
    bash,
    call,
    calls,
)

pytestmark = pytest.mark.integration

COMMAND = "echo ran >> runs.txt"


@pytest.fixture(scope="module")
def home(program: PiProgram, engine: Package) -> Iterator[PiHome]:
    """A home in which the engine is installed."""
    with PiHome(program) as home:
        RealPi(home).install(engine.folder)
        yield home


@contextmanager
def guarded(script: Sequence[Reply], home: PiHome) -> Iterator[tuple[RealPi, ScriptedModel]]:
    """Give a Pi that has the engine and nothing else to remember, with `script` as its model."""
    home.clear()
    with ScriptedModel(script) as model:
        home.use_model(model)
        yield RealPi(home), model


def runs(pi: RealPi) -> int:
    """Return how often the command really ran."""
    effect = pi.home.project / "runs.txt"
    return len(effect.read_text().splitlines()) if effect.exists() else 0


def errors(session: Session) -> list[bool]:
    """Return which tool results were errors."""
    return [result.is_error for result in session.results]


def broken(session: Session) -> list[object]:
    """Return the data of the `loop_broken` entries."""
    return [entry.data for entry in session.custom("loop_broken")]


def telemetry(blocked_so_far: int) -> dict[str, object]:
    return {"tool": "bash", "repeats": 5, "blockedSoFar": blocked_so_far}


def test_six_identical_calls_run_five_times_and_the_model_is_told(home: PiHome) -> None:
    with guarded([bash(COMMAND)] * 6, home) as (pi, model):
        session = pi.run("Go on.").session
        assert runs(pi) == 5
        assert errors(session) == [False] * 5 + [True]
        seen = model.requests[-1].tool_results
        assert len(seen) == 6
        assert seen[5].text == session.results[5].text
        assert "bash" in seen[5].text
        assert "5" in seen[5].text
        assert session.custom() == (CustomEntry("loop_broken", telemetry(1)),)


def test_five_identical_calls_all_run_and_nothing_is_recorded(home: PiHome) -> None:
    with guarded([bash(COMMAND)] * 5, home) as (pi, _):
        session = pi.run("Go on.").session
        assert runs(pi) == 5
        assert errors(session) == [False] * 5
        assert session.custom() == ()


def test_further_retries_stay_refused_and_are_counted(home: PiHome) -> None:
    with guarded([bash(COMMAND)] * 30, home) as (pi, _):
        session = pi.run("Go on.").session
        assert runs(pi) == 5
        assert errors(session) == [False] * 5 + [True] * 25
        assert broken(session) == [telemetry(count) for count in range(1, 26)]


def test_a_different_call_goes_through_between_refusals(home: PiHome) -> None:
    other = "echo other >> others.txt"
    script = [*[bash(COMMAND)] * 6, bash(other), bash(COMMAND)]
    with guarded(script, home) as (pi, _):
        session = pi.run("Go on.").session
        assert errors(session) == [False] * 5 + [True, False, True]
        assert (pi.home.project / "others.txt").read_text() == "other\n"
        assert broken(session) == [telemetry(1), telemetry(2)]


def test_calls_that_differ_in_one_argument_all_run(home: PiHome) -> None:
    script = [call("bash", {"command": COMMAND, "timeout": 10 + n}) for n in range(8)]
    with guarded(script, home) as (pi, _):
        session = pi.run("Go on.").session
        assert runs(pi) == 8
        assert broken(session) == []


def test_calls_that_differ_only_in_the_order_of_keys_are_the_same(home: PiHome) -> None:
    first, second = (
        call("bash", '{"command": "echo ran >> runs.txt", "timeout": 10}'),
        call("bash", '{"timeout": 10, "command": "echo ran >> runs.txt"}'),
    )
    with guarded([first, second] * 3, home) as (pi, _):
        session = pi.run("Go on.").session
        assert runs(pi) == 5
        assert errors(session) == [False] * 5 + [True]
        assert broken(session) == [telemetry(1)]


def test_five_parallel_calls_in_one_message_all_run(home: PiHome) -> None:
    batch = calls([ToolCall("bash", {"command": COMMAND})] * 5)
    with guarded([batch], home) as (pi, model):
        session = pi.run("Go on.").session
        assert len(model.requests) == 2
        assert runs(pi) == 5
        assert errors(session) == [False] * 5
        assert broken(session) == []


def test_the_sixth_of_six_parallel_calls_is_refused(home: PiHome) -> None:
    batch = calls([ToolCall("bash", {"command": COMMAND})] * 6)
    with guarded([batch], home) as (pi, model):
        session = pi.run("Go on.").session
        assert len(model.requests) == 2
        assert runs(pi) == 5
        refused = [result.call_id for result in session.results if result.is_error]
        assert refused == [session.calls[5].id]
        assert broken(session) == [telemetry(1)]


def others(count: int) -> list[Reply]:
    return [bash(f"echo {n} >> others.txt") for n in range(count)]


@pytest.mark.parametrize("between", [16, 20])
def test_the_same_call_runs_again_after_enough_others(home: PiHome, between: int) -> None:
    script = [*[bash(COMMAND)] * 5, *others(between), bash(COMMAND)]
    with guarded(script, home) as (pi, _):
        session = pi.run("Go on.").session
        assert runs(pi) == 6
        assert broken(session) == []


def test_the_same_call_is_refused_while_all_five_are_among_the_last_twenty(home: PiHome) -> None:
    script = [*[bash(COMMAND)] * 5, *others(15), bash(COMMAND)]
    with guarded(script, home) as (pi, _):
        session = pi.run("Go on.").session
        assert runs(pi) == 5
        assert broken(session) == [telemetry(1)]


def test_a_new_session_in_the_same_process_starts_empty(home: PiHome) -> None:
    script = [*[bash(COMMAND)] * 6, Reply(()), *[bash(COMMAND)] * 6]
    with guarded(script, home) as (pi, _):
        with pi.rpc() as rpc:
            rpc.prompt("Go on.")
            assert runs(pi) == 5
            assert rpc.request("new_session") == {"cancelled": False}
            rpc.prompt("Go on.")
            assert runs(pi) == 10
        first, second = pi.sessions()
        for session in (first, second):
            assert errors(session) == [False] * 5 + [True]
            assert broken(session) == [telemetry(1)]


def test_a_second_prompt_in_the_same_session_does_not_start_empty(home: PiHome) -> None:
    script = [*[bash(COMMAND)] * 5, Reply(()), bash(COMMAND)]
    with guarded(script, home) as (pi, _):
        with pi.rpc() as rpc:
            rpc.prompt("Go on.")
            rpc.prompt("Go on.")
        (session,) = pi.sessions()
        assert runs(pi) == 5
        assert errors(session) == [False] * 5 + [True]


def test_calls_that_do_not_fit_the_tools_schema_never_reach_the_guard(home: PiHome) -> None:
    with guarded([call("bash", {})] * 8, home) as (pi, _):
        session = pi.run("Go on.").session
        assert {result.text.split(":")[0] for result in session.results} == {
            'Validation failed for tool "bash"'
        }
        assert broken(session) == []
