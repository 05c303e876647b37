"""Calls that loop, in a real Pi: they do not run, and the model reads why in their result."""

from __future__ import annotations

import pytest
from satyrn_engine.testing import Reply, Text, Thinking, ToolCall, bash, call, calls, say
from tests.police.watched import Outcome, Watched

pytestmark = pytest.mark.integration

COMMAND = "echo ran >> runs.txt"
TOOLS = ("--tools", "read,bash,edit,write,grep")


def read(path: str, offset: int = 1) -> Reply:
    return call("read", {"path": path, "offset": offset})


def refused(outcome: Outcome) -> list[int]:
    """Return which results are refusals, from 1. Pi notes no duration for a tool that never ran."""
    results = outcome.session.results
    for result in results:
        assert (result.duration_ms is None) == ("⚠️" in result.text)
    return [n for n, result in enumerate(results, 1) if "⚠️" in result.text]


def test_a_call_repeated_back_to_back_does_not_run_again(watched: Watched) -> None:
    outcome = watched.run([bash(COMMAND), bash(COMMAND), bash(COMMAND), say("Done.")])
    assert watched.runs() == 1
    assert refused(outcome) == [2, 3]
    assert outcome.events == ["tool_loop", "tool_loop"]
    assert outcome.details[0] == {"toolName": "bash", "windowSize": 1, "banned": False}
    assert "TOOL CALL LOOP:" in outcome.model.requests[2].tool_results[1].text
    assert outcome.run.stdout == "Done.\n"


def test_a_cycle_of_calls_is_found_in_any_spelling_of_its_arguments(watched: Watched) -> None:
    ran = [bash(f"echo {n} >> runs.txt") for n in range(3)]
    again = call("bash", '{"timeout": 9, "command": "echo x >> runs.txt"}')
    turned = call("bash", '{"command": "echo x >> runs.txt", "timeout": 9}')
    outcome = watched.run([*ran, again, *ran, turned, say("Done.")])
    assert watched.runs() == 7
    assert refused(outcome) == [8]
    assert outcome.details == [{"toolName": "bash", "windowSize": 4, "banned": False}]


def test_calls_with_another_one_in_between_all_run(watched: Watched) -> None:
    other = [bash(f"echo {n} >> runs.txt") for n in range(3)]
    outcome = watched.run(
        [bash(COMMAND), other[0], bash(COMMAND), other[1], bash(COMMAND), other[2], say("Done.")]
    )
    assert watched.runs() == 6
    assert outcome.events == []


def test_a_banned_call_stays_refused(watched: Watched) -> None:
    script = [bash(COMMAND), bash(COMMAND), bash("echo other"), bash(COMMAND), say("Done.")]
    outcome = watched.run(script, settings={"TOOL_LOOP_BAN": 2})
    assert watched.runs() == 1
    assert refused(outcome) == [2, 4]
    assert outcome.details[1] == {"toolName": "bash", "windowSize": 1, "banned": True}


def test_an_exempt_tool_may_repeat(watched: Watched) -> None:
    script = [bash(COMMAND)] * 3 + [say("Done.")]
    outcome = watched.run(script, settings={"TOOL_LOOP_EXEMPT": "BASH"})
    assert (watched.runs(), outcome.events) == (3, [])


def test_identical_calls_in_one_message_run_once(watched: Watched) -> None:
    batch = calls([ToolCall("bash", {"command": COMMAND})] * 3)
    outcome = watched.run([batch, say("Done.")])
    assert watched.runs() == 1
    assert outcome.events == ["tool_loop", "tool_loop"]
    assert outcome.run.stdout == "Done.\n"


SCRIPT_TOOL = """
export default function (pi) {
  pi.registerTool({
    name: "script",
    label: "Script",
    description: "Runs a command several times",
    parameters: { type: "object", properties: { command: { type: "string" } } },
    async execute(id, { command }, signal, onUpdate, ctx) {
      const outcomes = [];
      for (let i = 0; i < 2; i++) outcomes.push(await ctx.executeTool("bash", { command }));
      return { content: [{ type: "text", text: outcomes.map((o) => o.isError).join() }] };
    },
  });
}
"""


def test_calls_of_a_tool_are_counted_apart_from_the_model_s_own(watched: Watched) -> None:
    tool = watched.home.agent_dir / "extensions" / "script.ts"
    tool.write_text(SCRIPT_TOOL)
    outcome = watched.run([bash(COMMAND), call("script", {"command": COMMAND}), say("Done.")])
    tool.unlink()
    assert [result.text for result in outcome.session.results][1] == "false,true"
    assert watched.runs() == 2, "once for the model, once for the tool"
    assert outcome.events == ["tool_loop"]


def test_the_twenty_first_read_of_a_file_does_not_run(watched: Watched) -> None:
    watched.home.project.joinpath("big.txt").write_text("line\n" * 100)
    spellings = ["big.txt", "./big.txt", str(watched.home.project / "big.txt")]
    script = [read(spellings[n % 3], n) for n in range(1, 23)]
    outcome = watched.run([*script, say("Done.")], settings={"REREAD_WINDOW": 0})
    assert refused(outcome) == [21, 22]
    path = str(watched.home.project / "big.txt")
    assert outcome.details[0] == {"toolName": "read", "path": path, "count": 20}
    assert set(outcome.events) == {"file_scan_loop"}
    assert "FILE READ CEILING:" in outcome.request(22)


def test_a_file_that_is_changed_in_between_may_be_read_on(watched: Watched) -> None:
    watched.home.project.joinpath("big.txt").write_text("line\n" * 100)
    reads = [read("big.txt", n) for n in range(1, 25)]
    edit = call("edit", {"path": "./big.txt", "edits": [{"oldText": "x", "newText": "y"}]})
    write = call("write", {"path": "./big.txt", "content": "line\n" * 99})
    script = [*reads[:15], edit, write, *reads[15:], say("Done.")]
    outcome = watched.run(script, settings={"REREAD_WINDOW": 0})
    assert outcome.events == []


def test_files_read_again_unchanged_are_refused_when_they_are_four_of_ten(watched: Watched) -> None:
    for name in "abcdefgh":
        watched.home.project.joinpath(name).write_text(name)
    outcome = watched.run([*map(read, "abcdefabcd"), read("g"), say("Done.")])
    assert refused(outcome) == [10]
    path = str(watched.home.project / "d")
    assert outcome.details == [{"toolName": "read", "path": path, "count": 4, "window": 10}]
    assert outcome.events == ["redundant_reread"]
    assert "REDUNDANT RE-READ:" in outcome.request(11)


def test_files_changed_by_edits_may_be_read_again(watched: Watched) -> None:
    for name in "abcdef":
        watched.home.project.joinpath(name).write_text(name)
    edits = [
        call("edit", {"path": f"./{name}", "edits": [{"oldText": name, "newText": "z"}]})
        for name in "abcd"
    ]
    outcome = watched.run([*map(read, "abcdef"), *edits, *map(read, "abcd"), say("Done.")])
    assert (refused(outcome), outcome.events) == ([], [])


def test_a_search_in_a_third_place_does_not_run_and_the_first_stays_open(watched: Watched) -> None:
    places = ["src", "tests", "docs"]
    for place in places:
        folder = watched.home.project / place
        folder.mkdir()
        folder.joinpath("a.txt").write_text("TODO\n")
    script = [call("grep", {"pattern": "TODO", "path": place}) for place in [*places, "./src"]]
    outcome = watched.run([*script, say("Done.")], *TOOLS)
    assert refused(outcome) == [3]
    assert outcome.details == [{"toolName": "grep", "pattern": "TODO", "paths": 3}]
    assert outcome.events == ["search_spiral"]
    assert "SEARCH SPIRAL:" in outcome.request(4)


def test_three_patterns_in_three_places_are_left_alone(watched: Watched) -> None:
    script = [call("grep", {"pattern": f"TODO{n}", "path": "."}) for n in range(3)]
    outcome = watched.run([*script, say("Done.")], *TOOLS)
    assert outcome.events == []


REJECTED = [
    pytest.param(call("edit", {"file": "a"}), "schema", "edit(path: string", id="schema"),
    pytest.param(call("edit", '{"path": "a", '), "json", "edit(path: string", id="json"),
    pytest.param(call("edti", {"path": "a"}), "unknown_tool", "read, bash, edit", id="unknown"),
]


@pytest.mark.parametrize(("rejected", "reason", "shape"), REJECTED)
def test_a_call_that_pi_rejects_four_times_is_answered_with_a_valid_one(
    watched: Watched, rejected: Reply, reason: str, shape: str
) -> None:
    outcome = watched.run([rejected] * 4 + [say("Done.")])
    assert outcome.events == ["rejected_call_loop"]
    name = outcome.session.calls[0].name
    assert outcome.details == [{"toolName": name, "count": 4, "reason": reason}]
    last = outcome.request(5)
    assert "REJECTED CALLS:" in last
    assert shape in last
    assert "REJECTED CALLS:" not in outcome.request(4)
    assert outcome.run.stdout == "Done.\n"


def test_rejected_calls_with_a_valid_one_in_between_are_left_alone(watched: Watched) -> None:
    wrong = call("bash", {"cmd": "ls"})
    script = [wrong] * 3 + [bash("echo ok"), wrong, wrong, say("Done.")]
    assert watched.run(script).events == []


def test_a_model_that_is_rejected_on_and_on_is_stopped(watched: Watched) -> None:
    outcome = watched.run([call("edit", {"file": "a"})] * 30, exit_code=1)
    assert len(outcome.session.calls) == 16, "four answers' worth; the fourth stops the run"
    assert outcome.run.stderr.count("after 3 recoveries") == 1


def test_a_refusal_ignored_five_times_ends_the_run_and_the_user_is_told(watched: Watched) -> None:
    outcome = watched.run([bash(COMMAND)] * 20)
    assert watched.runs() == 1
    assert refused(outcome) == [2, 3, 4, 5, 6]
    assert outcome.events == ["tool_loop"] * 5 + ["refusal_ignored"]
    assert outcome.details[-1] == {"toolName": "bash", "count": 5}
    assert "kept trying the same refused bash call" in outcome.run.stderr
    assert len(outcome.model.exchanges) == 6, "no further request was made"


def test_a_refusal_ignored_in_a_batch_with_another_call_aborts_the_run(watched: Watched) -> None:
    batches = [
        calls([ToolCall("bash", {"command": COMMAND}), ToolCall("bash", {"command": f"echo {n}"})])
        for n in range(20)
    ]
    settings = {"TOOL_LOOP_BAN": 2}
    outcome = watched.run([bash(COMMAND), bash(COMMAND), *batches], settings=settings, exit_code=1)
    assert outcome.events[-1] == "refusal_ignored"
    assert outcome.run.stderr.count("kept trying the same refused bash call") == 1
    assert len(outcome.model.exchanges) == 6
    assert watched.runs() == 1


def test_a_refusal_that_is_heeded_ends_nothing(watched: Watched) -> None:
    heeded = [bash(COMMAND)] * 4 + [bash("echo other"), Reply((Thinking("Well."), Text("Done.")))]
    outcome = watched.run(heeded)
    assert "refusal_ignored" not in outcome.events
    assert outcome.run.stdout == "Done.\n"
