"""Streams that loop, in a real Pi: stopped early, trimmed, and followed by a recovery."""

from __future__ import annotations

import pytest
from satyrn_engine.testing import Reply, Text, Thinking, bash, say
from tests.police.watched import SENTENCE, Outcome, Watched, endless, total_chunks

pytestmark = pytest.mark.integration

OPENING = "Let me look at the failing parser test again and think about what its tokens are."
DRIFTING = "".join(
    f"{OPENING} This is attempt {n}, with {n * 7919} other words behind it.\n\n" for n in range(60)
)
HONEST = "".join(
    f"Step {n} reads chapter {n * 7919} and notes {n * 104729}.\n\n" for n in range(60)
)
PLAN = "I will run the very same build once more because it may well work this time around."


def slowly(part: Thinking | Text) -> Reply:
    """Return a reply that goes on slowly enough to be stopped."""
    return Reply((part,), piece=20, delay=0.002)


def assert_recovered(outcome: Outcome, reply: Reply, event: str, stream: str, kind: str) -> None:
    """Hold a run to what must happen when the first reply loops and the second one does not."""
    first = outcome.model.exchanges[0]
    assert first.hung_up
    assert first.chunks_sent < total_chunks(reply) / 2, "stopped long before its end"
    assert outcome.events == [event]
    payload = outcome.heard[0]
    assert payload["details"] == {"stream": stream, "kind": kind, "escalated": False}
    assert payload["consecutiveLoops"] == 1
    assert payload["model"] == {"id": "scripted", "name": "scripted", "provider": "scripted"}
    assert payload["sessionId"] == outcome.session.id
    assert payload["sessionFile"] == str(outcome.session.path)
    assert len(outcome.model.exchanges) == 2
    assert f"{event.replace('_', ' ').upper()}:" in outcome.request(2), "the model is told"
    assert outcome.run.stdout == "Done.\n"


STREAMS = [
    pytest.param(endless(Thinking(SENTENCE)), "thinking_loop", "thinking", "character", id="think"),
    pytest.param(slowly(Thinking(DRIFTING)), "semantic_loop", "thinking", "semantic", id="drift"),
    pytest.param(endless(Text(SENTENCE)), "output_loop", "output", "character", id="answer"),
    pytest.param(
        slowly(Text(DRIFTING)), "output_semantic_loop", "output", "semantic", id="answer-drift"
    ),
]


@pytest.mark.parametrize(("reply", "event", "stream", "kind"), STREAMS)
def test_a_stream_that_loops_is_stopped_trimmed_and_recovered(
    watched: Watched, reply: Reply, event: str, stream: str, kind: str
) -> None:
    outcome = watched.run([reply, say("Done.")])
    assert_recovered(outcome, reply, event, stream, kind)
    sentence = SENTENCE if kind == "character" else OPENING
    # A thought goes entirely; an answer keeps what it said before it repeated itself.
    kept = {"thinking": 0, "output": 1 if kind == "character" else 2}[stream]
    assert outcome.stored.count(sentence.strip()) == kept
    assert outcome.request(2).count(sentence.strip()) == kept
    assert "thinkingSignature" not in outcome.stored
    assert "by loop-police" in outcome.stored


@pytest.mark.parametrize("part", [Thinking(HONEST), Text(HONEST)], ids=["think", "answer"])
def test_a_stream_that_gets_on_is_left_alone(watched: Watched, part: Thinking | Text) -> None:
    parts = (part,) if isinstance(part, Text) else (part, Text("Done."))
    outcome = watched.run([Reply(parts, piece=20)])
    assert outcome.events == []
    assert outcome.model.exchanges[0].finished
    assert len(outcome.model.exchanges) == 1
    assert "by loop-police" not in outcome.stored


def test_a_loop_in_a_later_block_of_the_message_is_found_too(watched: Watched) -> None:
    parts = (Thinking("A short thought."), Text("An answer. "), Thinking(SENTENCE, times=200))
    outcome = watched.run([Reply(parts, piece=20, delay=0.001), say("Done.")])
    assert outcome.events == ["thinking_loop"]
    assert "An answer." in outcome.stored


def test_stagnating_thoughts_are_taken_out_of_the_message_and_out_of_requests(
    watched: Watched,
) -> None:
    thought = "The parser must be wrong somewhere so I look at the next file of it to find out"
    turns = [Reply((Thinking(f"{thought} {n % 2}"), bash(f"echo {n}").parts[0])) for n in range(4)]
    outcome = watched.run([*turns, say("Done.")])
    assert outcome.events == ["stagnation"]
    assert outcome.details == [{"window": 4, "threshold": 0.85}]
    assert thought in outcome.request(4), "before, the model saw its reasoning again"
    assert thought not in outcome.request(5)
    assert "STAGNATION:" in outcome.request(5)
    # The transcript keeps the first three for a post-mortem.
    assert outcome.stored.count(thought) == 3
    assert outcome.run.stdout == "Done.\n"


def test_thoughts_that_differ_do_not_stagnate(watched: Watched) -> None:
    thoughts = [
        "Read the parser first.",
        "Now the tests of it.",
        "One failure is left to fix.",
        "All is well.",
    ]
    turns = [Reply((Thinking(t), bash(f"echo {t}").parts[0])) for t in thoughts]
    outcome = watched.run([*turns, say("Done.")])
    assert outcome.events == []
    assert "by loop-police" not in outcome.stored


def test_reasoning_that_leads_back_to_a_refused_call_is_removed(watched: Watched) -> None:
    again = Reply((Thinking(PLAN), bash("echo ran >> runs.txt").parts[0]))
    pivot = Reply((Thinking("Something else is needed here."), Text("Done.")))
    outcome = watched.run([again, again, again, pivot], settings={"STAGNATION_WINDOW": 0})
    assert outcome.events == ["tool_loop", "rederived_reasoning", "tool_loop"]
    assert outcome.details[1] == {"streak": 1}
    assert watched.runs() == 1
    assert outcome.stored.count(PLAN) == 2, "the third time it was removed"
    assert "REDERIVED REASONING:" in outcome.request(4)
    assert outcome.run.stdout == "Done.\n"


def test_reasoning_that_pivots_after_a_refusal_is_left_alone(watched: Watched) -> None:
    again = Reply((Thinking(PLAN), bash("echo ran >> runs.txt").parts[0]))
    pivot = Reply((Thinking("Something else is needed here."), Text("Done.")))
    outcome = watched.run([again, again, pivot])
    assert outcome.events == ["tool_loop"]
    assert outcome.stored.count("Something else is needed here.") == 1
