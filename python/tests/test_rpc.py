"""The RPC session, against a made-up program that speaks the protocol."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from satyrn_engine.testing import PiFailedError, PiTimeoutError, RpcSession

SECONDS = 20.0

SPEAKER = r"""
import json, os, subprocess, sys, time

def say(**record):
    data = json.dumps(record, ensure_ascii=False).encode() + b"\n"
    # In two halves, as a pipe may deliver them.
    for half in (data[: len(data) // 2], data[len(data) // 2 :]):
        sys.stdout.buffer.write(half)
        sys.stdout.buffer.flush()

for line in sys.stdin.buffer:
    command = json.loads(line)
    def respond(success=True, **more):
        say(type="response", id=command["id"], command=command["type"], success=success, **more)
    match command["type"]:
        case "prompt":
            respond(data={"disposition": "started"})
            say(type="agent_start")
            say(type="message_end", text="a\u2028b")
            say(type="agent_end")
            if command["message"] != "never settle":
                say(type="agent_settled")
        case "get_state":
            respond(data={"isStreaming": False})
        case "bad":
            respond(False, error="no such thing")
        case "empty":
            respond()
        case "noise":
            sys.stdout.buffer.write(b"noise\n\xff\n[1]\n")
            respond()
        case "silence":
            pass
        case "die":
            print("it hurts", file=sys.stderr, flush=True)
            sys.exit(7)
        case "die slowly":
            os.close(1)
            time.sleep(0.5)
            print("it hurts", file=sys.stderr, flush=True)
            os._exit(7)
        case "die and leave a child":
            child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
            print("left", child.pid, file=sys.stderr, flush=True)
            os._exit(7)
        case "hang":
            import signal
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            respond()
            time.sleep(600)
"""

Start = Callable[..., RpcSession]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start the program; the options are RpcSession's."""

    def begin(*, settles: bool = True) -> RpcSession:
        command = [sys.executable, "-c", SPEAKER]
        return RpcSession(
            command,
            cwd=tmp_path,
            env={"PATH": os.defpath},
            settles=settles,
            report=lambda: "what the model saw",
        )

    return begin


def test_a_request_returns_the_data_of_its_response(start: Start) -> None:
    with start() as rpc:
        assert rpc.request("get_state", timeout=SECONDS) == {"isStreaming": False}
        assert rpc.request("empty", timeout=SECONDS) == {}


def test_a_failed_request_raises_with_what_pi_said(start: Start) -> None:
    with start() as rpc, pytest.raises(PiFailedError, match="bad: no such thing"):
        rpc.request("bad", timeout=SECONDS)


def test_a_prompt_returns_its_records_once_pi_has_settled(start: Start) -> None:
    with start() as rpc:
        for _ in range(2):
            records = rpc.prompt("Go on", timeout=SECONDS)
            types = [record["type"] for record in records]
            assert types == ["response", "agent_start", "message_end", "agent_end", "agent_settled"]
            assert records[2]["text"] == "a\u2028b"


def test_a_pi_that_never_settles_is_waited_for_until_the_deadline(start: Start) -> None:
    with start() as rpc, pytest.raises(PiTimeoutError, match="agent_settled"):
        rpc.prompt("never settle", timeout=1.0)


def test_a_pi_that_knows_no_settling_is_asked_for_its_state(start: Start) -> None:
    with start(settles=False) as rpc:
        records = rpc.prompt("never settle", timeout=SECONDS)
        assert records[-1]["command"] == "get_state"


def test_a_wait_looks_only_behind_its_mark(start: Start) -> None:
    with start() as rpc:
        rpc.prompt("Go on", timeout=SECONDS)
        assert rpc.wait_for("agent_end", timeout=SECONDS)["type"] == "agent_end"
        with pytest.raises(PiTimeoutError, match="no agent_end came"):
            rpc.wait_for("agent_end", since=rpc.mark(), timeout=0.1)


def test_lines_that_are_no_objects_are_counted_and_skipped(start: Start) -> None:
    with start() as rpc:
        rpc.request("noise", timeout=SECONDS)
        assert rpc.broken_lines == 3


def test_silence_ends_with_the_deadline_and_the_error_shows_what_is_known(start: Start) -> None:
    with start() as rpc, pytest.raises(PiTimeoutError) as caught:
        rpc.request("silence", timeout=0.2)
    assert "what the model saw" in str(caught.value)


def test_the_end_of_pi_ends_a_wait_at_once_with_its_standard_error(start: Start) -> None:
    with start() as rpc:
        with pytest.raises(PiFailedError, match="it hurts"):
            rpc.request("die", timeout=SECONDS)
        assert rpc.close() == 7
        with pytest.raises(PiFailedError, match="took no more commands"):
            rpc.send("empty")


def test_what_pi_says_after_its_last_record_is_awaited(start: Start) -> None:
    with start() as rpc, pytest.raises(PiFailedError, match="it hurts"):
        rpc.request("die slowly", timeout=SECONDS)


def test_a_child_that_keeps_standard_error_open_delays_the_end_by_seconds_only(
    start: Start,
) -> None:
    begun = time.monotonic()
    rpc = start()
    with pytest.raises(PiFailedError, match=r"left \d+") as caught:
        rpc.request("die and leave a child", timeout=SECONDS)
    assert time.monotonic() - begun < SECONDS / 2
    left = re.search(r"left (\d+)", str(caught.value))
    assert left is not None
    os.kill(int(left[1]), signal.SIGKILL)
    assert rpc.close() == 7


def test_closing_gives_pi_the_end_of_its_input_and_may_be_repeated(start: Start) -> None:
    with start() as rpc:
        assert rpc.close(SECONDS) == 0
        assert rpc.close(SECONDS) == 0


def test_closing_ends_a_pi_that_hangs(start: Start) -> None:
    rpc = start()
    rpc.request("hang", timeout=SECONDS)
    assert rpc.close(timeout=0.2) < 0
