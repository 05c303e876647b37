"""Recoveries in every mode of a real Pi: delivered, escalated, ended, and reset by the user."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from satyrn_engine.testing import (
    JsonObject,
    RealPi,
    Reply,
    Request,
    ScriptedModel,
    Text,
    Thinking,
    bash,
    call,
    say,
)
from tests.police.watched import SENTENCE, Watched, endless

pytestmark = pytest.mark.integration

THINKING_LOOP = endless(Thinking(SENTENCE))
OUTPUT_LOOP = endless(Text(SENTENCE))


def texts_of(events: Sequence[JsonObject]) -> str:
    return json.dumps(list(events), ensure_ascii=False)


def test_in_json_mode_the_recovery_and_the_answer_are_events(watched: Watched) -> None:
    outcome = watched.run([THINKING_LOOP, say("Done.")], mode="json")
    assert outcome.events == ["thinking_loop"]
    ended = [event for event in outcome.run.events if event.get("type") == "message_end"]
    roles = [event["message"]["role"] for event in ended]
    assert roles[-3:] == ["assistant", "custom", "assistant"]
    assert "Done." in texts_of(ended[-1:])
    assert SENTENCE.strip() not in texts_of(ended)


def test_in_rpc_mode_the_recovery_runs_and_the_session_goes_on(watched: Watched) -> None:
    watched.configure()
    script = [OUTPUT_LOOP, say("Recovered."), bash("echo a"), bash("echo a"), say("Second.")]
    with ScriptedModel(script) as model:
        watched.home.use_model(model)
        with RealPi(watched.home).rpc() as rpc:
            aborted = rpc.prompt("Go on.")
            rpc.wait_for("agent_settled", since=len(aborted))
            first = rpc.events
            second = rpc.prompt("And now?")
        assert "Recovered." in texts_of(first[len(aborted) :])
        assert "Second." in texts_of(second)
        assert "OUTPUT LOOP:" in json.dumps(model.requests[1].body)
    notified = [event for event in rpc.events if event.get("method") == "notify"]
    assert "the answer repeated itself" in texts_of(notified)
    status = [event for event in rpc.events if event.get("method") == "setStatus"]
    assert "police: 2 loops" in texts_of(status)


def test_loops_in_a_row_escalate_and_a_sound_answer_ends_them(watched: Watched) -> None:
    outcome = watched.run([THINKING_LOOP, OUTPUT_LOOP, THINKING_LOOP, say("Done.")])
    assert outcome.events == ["thinking_loop", "output_loop", "thinking_loop"]
    assert [detail["escalated"] for detail in outcome.details] == [False, True, True]
    assert [payload["consecutiveLoops"] for payload in outcome.heard] == [1, 2, 3]
    assert "THINKING LOOP:" in outcome.request(2)
    assert "CONSECUTIVE LOOP (2x):" in outcome.request(3)
    assert "CONSECUTIVE LOOP (3x):" in outcome.request(4)
    assert outcome.run.stdout == "Done.\n"


def test_a_model_that_loops_on_is_stopped_and_the_user_is_told(watched: Watched) -> None:
    outcome = watched.run([OUTPUT_LOOP] * 9, exit_code=1)
    assert len(outcome.model.exchanges) == 4, "three recoveries"
    assert outcome.run.stderr.count("the model kept looping after 3 recoveries") == 1
    assert "kept looping after 3 recoveries" in outcome.stored


def test_the_limit_can_be_raised(watched: Watched) -> None:
    settings = {"RECOVERY_LIMIT": 5}
    outcome = watched.run([OUTPUT_LOOP] * 5 + [say("Done.")], settings=settings)
    assert len(outcome.model.exchanges) == 6
    assert outcome.run.stdout == "Done.\n"


def test_the_user_s_word_starts_the_counts_anew(watched: Watched) -> None:
    watched.configure({"FILE_SCAN_LIMIT": 2, "REREAD_WINDOW": 0})
    watched.home.project.joinpath("a").write_text("a\n" * 9)
    reads = [call("read", {"path": "a", "offset": n}) for n in range(1, 8)]
    script = [*reads[:3], say("One."), *reads[3:6], say("Two.")]
    with ScriptedModel(script) as model:
        watched.home.use_model(model)
        with RealPi(watched.home).rpc() as rpc:
            rpc.prompt("First.")
            rpc.prompt("Second.")
        results = [result.text for result in model.requests[-1].tool_results]
    refused = ["FILE READ CEILING" in text for text in results]
    assert refused == [False, False, True, False, False, True]


AGAIN = """
export default function (pi) {
  pi.registerCommand("again", { handler: async () => pi.sendUserMessage("Once more.") });
}
"""


@pytest.mark.parametrize("compacts", [True, False], ids=["compacted", "not-compacted"])
def test_compaction_forgets_what_was_read_and_an_extension_s_prompt_does_not(
    watched: Watched, compacts: bool
) -> None:
    again = watched.home.agent_dir / "extensions" / "again.ts"
    again.write_text(AGAIN)
    watched.configure({"FILE_SCAN_LIMIT": 4, "REREAD_WINDOW": 0})
    # Pi compacts nothing below some 20,000 tokens.
    watched.home.project.joinpath("a").write_text(f"{SENTENCE}\n" * 900)
    reads = [call("read", {"path": "a", "offset": n}) for n in range(1, 7)]
    script = [*reads[:5], say("One."), reads[5], say("Two.")]

    def reply(request: Request) -> Reply | None:
        if "tools" not in request.body:
            return say("A summary.")
        return script.pop(0) if script else None

    with ScriptedModel(reply) as model:
        watched.home.use_model(model)
        with RealPi(watched.home).rpc() as rpc:
            rpc.prompt("First.")
            assert "FILE READ CEILING" in model.requests[-1].tool_results[-1].text
            if compacts:
                rpc.request("compact")
            mark = rpc.mark()
            rpc.request("prompt", message="/again")
            rpc.wait_for("agent_settled", since=mark)
        last = model.requests[-1].tool_results[-1].text
    again.unlink()
    assert ("FILE READ CEILING" in last) is not compacts


def test_a_suffix_rides_along(watched: Watched) -> None:
    outcome = watched.run([OUTPUT_LOOP, say("Done.")], settings={"MSG_SUFFIX": "Ask the advisor."})
    assert "Ask the advisor." in outcome.request(2)
