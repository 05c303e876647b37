"""The testing library against a real Pi: what it scripts arrives, what it counts is so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from satyrn_engine.testing import (
    Failure,
    PiFailedError,
    PiHome,
    PiProgram,
    RealPi,
    Reply,
    ScriptedModel,
    Text,
    Thinking,
    bash,
    call,
    say,
)

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def pi(program: PiProgram) -> Iterator[RealPi]:
    """A Pi with nothing installed."""
    with PiHome(program) as home:
        yield RealPi(home)


def test_text_reaches_standard_output_in_whatever_pieces_it_is_sent(pi: RealPi) -> None:
    text = "Grüße, \u2028 and so on."
    with ScriptedModel([say(text, piece=3)]) as model:
        pi.home.use_model(model)
        assert pi.run("Hello").stdout.strip() == text
        assert "Hello" in model.requests[0].text


def test_thinking_and_text_are_kept_apart_in_the_session(pi: RealPi) -> None:
    with ScriptedModel([Reply((Thinking("Hm. ", times=3), Text("So.")))]) as model:
        pi.home.use_model(model)
        content = pi.run("Hello").session.messages[-1]["content"]
    assert [(block["type"], block[block["type"]]) for block in content] == [
        ("thinking", "Hm. Hm. Hm. "),
        ("text", "So."),
    ]


def test_the_events_of_json_mode_tell_the_run(pi: RealPi) -> None:
    with ScriptedModel([bash("echo seen"), say("Done.")]) as model:
        pi.home.use_model(model)
        events = pi.run("Hello", mode="json").events
    kinds = [event["type"] for event in events]
    assert kinds[0] == "session"
    assert kinds.count("tool_execution_end") == 1
    assert "agent_end" in kinds


def test_the_model_sees_the_result_that_the_session_keeps(pi: RealPi) -> None:
    with ScriptedModel([bash("echo seen")]) as model:
        pi.home.use_model(model)
        (result,) = pi.run("Hello").session.results
        (seen,) = model.requests[1].tool_results
    assert seen.text == result.text
    assert seen.text.strip() == "seen"
    assert seen.call_id == result.call_id


def test_arguments_are_sent_as_they_stand_even_when_they_are_broken(pi: RealPi) -> None:
    with ScriptedModel([call("bash", '{"command": 5, "command": '), bash("echo good")]) as model:
        pi.home.use_model(model)
        broken, good = pi.run("Hello").session.results
    assert broken.is_error
    assert not good.is_error


def test_a_refused_request_fails_the_run_with_the_reason(pi: RealPi) -> None:
    with ScriptedModel([Failure(400, "no such model here")]) as model:
        pi.home.use_model(model)
        with pytest.raises(PiFailedError, match="no such model here"):
            pi.run("Hello")


def test_an_abort_stops_the_stream_early_and_the_count_shows_it(pi: RealPi) -> None:
    endless = Reply((Text("word ", times=100_000),), delay=0.01)
    with ScriptedModel([endless]) as model:
        pi.home.use_model(model)
        with pi.rpc() as rpc:
            rpc.request("prompt", message="Hello")
            rpc.wait_for("message_update")
            rpc.request("abort")
            model.wait_until_idle()
        (exchange,) = model.exchanges
    assert exchange.hung_up
    assert 0 < exchange.chunks_sent < 10_000


def test_an_answer_that_nobody_aborts_is_sent_to_its_end(pi: RealPi) -> None:
    with ScriptedModel([Reply((Text("word ", times=100),), delay=0.001)]) as model:
        pi.home.use_model(model)
        with pi.rpc() as rpc:
            rpc.prompt("Hello")
        (exchange,) = model.exchanges
    assert exchange.finished
    assert exchange.chunks_sent > 100
