"""The scripted model as a server: what it answers, records and survives."""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from satyrn_engine.testing import (
    Failure,
    PiTimeoutError,
    Reply,
    Request,
    ScriptedModel,
    Text,
    bash,
    say,
)

SECONDS = 10.0


@contextmanager
def asked(model: ScriptedModel, body: Any = None) -> Iterator[http.client.HTTPResponse]:  # noqa: ANN401
    """Post a chat completion and give the response, still open."""
    place = urlsplit(model.base_url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=SECONDS)
    data = body if isinstance(body, bytes) else json.dumps(body or {"messages": []})
    connection.request("POST", f"{place.path}/chat/completions", data)
    response = connection.getresponse()
    try:
        yield response
    finally:
        response.close()
        connection.close()


def answer(model: ScriptedModel, body: Any = None) -> str:  # noqa: ANN401
    """Post a chat completion and return the text of the whole answer."""
    with asked(model, body) as response:
        events = response.read().split(b"\n\n")[:-2]
    chunks = [json.loads(event.removeprefix(b"data: ")) for event in events]
    return "".join(
        choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"]
    )


def hang_up_after(model: ScriptedModel, size: int) -> None:
    """Post a chat completion, read so many bytes, and close the connection."""
    with asked(model) as response:
        response.read(size)
    model.wait_until_idle(SECONDS)


def test_replies_come_in_order_and_then_the_final_one() -> None:
    with ScriptedModel([say("One."), say("Two.")], final="The end.") as model:
        assert [answer(model) for _ in range(4)] == ["One.", "Two.", "The end.", "The end."]
        assert model.errors == ()


def test_a_used_up_script_without_a_final_answer_is_an_error_that_the_test_can_see() -> None:
    with ScriptedModel([say("One.")], final=None) as model:
        answer(model)
        with asked(model) as response:
            assert response.status == 400
        assert model.errors == ("the script was used up at request 2",)


def test_a_script_may_be_a_function_of_the_request() -> None:
    def script(request: Request) -> Reply | None:
        return say(f"{request.number}: {request.text}") if request.number < 2 else None

    with ScriptedModel(script) as model:
        assert answer(model, {"messages": [{"role": "user", "content": "Hello"}]}) == "1: Hello"
        assert answer(model) == "Done."


def test_a_script_may_be_endless_and_the_number_of_requests_is_not() -> None:
    with ScriptedModel(itertools.repeat(say("Again.")), max_requests=3) as model:
        assert [answer(model) for _ in range(3)] == ["Again."] * 3
        with asked(model) as response:
            assert response.status == 400
        assert "more than 3 requests" in model.errors[0]


def test_a_script_that_raises_is_an_error_that_the_test_can_see() -> None:
    def script(_: Request) -> Reply:
        raise KeyError("oops")

    with ScriptedModel(script) as model:
        with asked(model) as response:
            assert response.status == 400
        assert model.errors == ("the script raised KeyError('oops') at request 1",)


def test_a_failure_is_sent_as_it_is() -> None:
    with ScriptedModel([Failure(503, "busy"), say("Now.")]) as model:
        with asked(model) as response:
            assert response.status == 503
            assert json.loads(response.read())["error"]["message"] == "busy"
        assert answer(model) == "Now."
        assert model.errors == ()


def test_requests_are_recorded_with_the_results_that_the_model_sees() -> None:
    messages = [
        {
            "role": "user",
            "content": [{"type": "text", "text": "Go "}, {"type": "text", "text": "on"}],
        },
        {"role": "tool", "tool_call_id": "a", "content": "first"},
        {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "second"}]},
    ]
    with ScriptedModel([]) as model:
        answer(model, {"model": "scripted", "messages": messages})
        (request,) = model.requests
    assert request.body["model"] == "scripted"
    assert request.messages == messages
    assert [(seen.call_id, seen.text) for seen in request.tool_results] == [
        ("a", "first"),
        ("b", "second"),
    ]
    assert request.text == "Go on\nfirst\nsecond"


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused_and_noted(body: bytes) -> None:
    with ScriptedModel([say("One.")]) as model:
        with asked(model, body) as response:
            assert response.status == 400
        assert len(model.errors) == 1
        assert answer(model) == "One."


def test_an_answer_that_was_read_to_its_end_is_counted_as_finished() -> None:
    with ScriptedModel([say("abc", piece=1)]) as model:
        with asked(model) as response:
            size = len(response.read())
        model.wait_until_idle(SECONDS)
        (exchange,) = model.exchanges
    # The role, three letters, the finish reason, the usage, and the end.
    assert exchange.chunks_sent == 7
    assert exchange.bytes_sent == size
    assert exchange.finished
    assert not exchange.hung_up


def test_the_count_stops_when_the_client_hangs_up_early() -> None:
    endless = Reply((Text("word ", times=100_000),), delay=0.01)
    with ScriptedModel([endless]) as model:
        hang_up_after(model, 2000)
        (exchange,) = model.exchanges
    assert exchange.hung_up
    assert not exchange.finished
    # 2000 bytes are some ten chunks; a slow machine may send a few more before it notices.
    assert 5 <= exchange.chunks_sent < 100


def test_a_huge_stream_is_never_built_in_memory_and_stops_with_its_reader() -> None:
    huge = Reply((Text("x" * 1000, times=10_000_000),))
    with ScriptedModel([huge]) as model:
        hang_up_after(model, 1_000_000)
        (exchange,) = model.exchanges
    assert exchange.hung_up
    # Socket buffers hold a few megabytes at most; the whole stream has ten gigabytes.
    assert 1_000_000 <= exchange.bytes_sent < 50_000_000


def test_parallel_requests_are_answered_at_the_same_time() -> None:
    gate = threading.Barrier(2, timeout=SECONDS)
    with ScriptedModel([say("a", delay=0.01), say("b", delay=0.01)]) as model:

        def ask() -> None:
            with asked(model) as response:
                gate.wait()
                response.read()

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        model.wait_until_idle(SECONDS)
        assert [exchange.finished for exchange in model.exchanges] == [True, True]


def test_leaving_the_block_cuts_an_answer_that_is_under_way() -> None:
    slow = Reply((Text("word ", times=1000),), delay=5.0)
    before = threading.active_count()
    begin = time.monotonic()
    with ScriptedModel([slow]) as model, asked(model) as response:
        response.read(10)
        model.close()
    assert time.monotonic() - begin < 4.0
    assert threading.active_count() == before
    assert not model.exchanges[0].hung_up


def test_after_the_block_nothing_listens_any_more() -> None:
    with ScriptedModel([]) as model:
        place = urlsplit(model.base_url)
    with pytest.raises(OSError, match=r"refused|reset"):
        socket.create_connection((place.hostname or "", place.port or 0), timeout=SECONDS)


def test_a_model_that_was_never_entered_can_be_closed() -> None:
    ScriptedModel([]).close()


def test_waiting_for_requests_ends_with_them_or_with_the_deadline() -> None:
    with ScriptedModel([bash("ls")]) as model:
        answer(model)
        assert len(model.wait_for_requests(1, SECONDS)) == 1
        with pytest.raises(PiTimeoutError, match="1 of 2 requests"):
            model.wait_for_requests(2, 0.05)


def test_the_report_names_the_last_requests_and_the_errors() -> None:
    with ScriptedModel([say("One.")], final=None) as model:
        answer(model, {"messages": [{"role": "user", "content": "Go on"}]})
        with asked(model) as response:
            response.read()
        report = model.report()
    assert "2 requests" in report
    assert "Go on" in report
    assert "used up" in report
