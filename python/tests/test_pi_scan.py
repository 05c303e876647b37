"""A real Pi writes a session while the guard is at work; scanning it finds the same refusals."""

from __future__ import annotations

import pytest
from satyrn_engine import read_session, replay, scan_sessions
from satyrn_engine.reports import SessionReport
from satyrn_engine.testing import (
    Package,
    PiHome,
    PiProgram,
    RealPi,
    Reply,
    ScriptedModel,
    ToolCall,
    bash,
    call,
    calls,
    say,
)

pytestmark = pytest.mark.integration

#: Loops, near-loops, and calls that Pi rejects before the guard can see them.
SCRIPT: list[Reply] = [
    *[bash("echo a")] * 3,
    call("bash", {"wrong": True}),
    call("no_such_tool", {"command": "echo a"}),
    bash("echo b"),
    *[bash("echo a")] * 2,
    *[call("bash", {"wrong": True})] * 6,
    bash("echo a"),
    bash("echo a"),
    bash("echo b"),
    calls([ToolCall("bash", {"command": f"echo {name}"}) for name in "cacc"]),
    *[call("bash", {"command": "echo d", "timeout": timeout}) for timeout in (5, "5", 5, "5", 5)],
    call("bash", {"timeout": "5", "command": "echo d"}),
    say("Done."),
]


def test_a_scan_finds_exactly_the_refusals_that_happened_live(
    program: PiProgram, engine: Package
) -> None:
    with PiHome(program) as home, ScriptedModel(SCRIPT) as model:
        pi = RealPi(home)
        pi.install(engine.folder)
        home.use_model(model)
        session = pi.run("Go on.").session
        # In the order of the calls: an old Pi writes the results of a batch as they come.
        said = {result.call_id: result.text for result in session.results}
        live = [
            number
            for number, asked in enumerate(session.calls)
            if said[asked.id].startswith("Refused: ")
        ]
        sessions = home.agent_dir / "sessions"
        (report,) = scan_sessions([sessions])
        assert isinstance(report, SessionReport)
        assert len(live) == report.refusals == len(session.custom("loop_broken"))
        assert report.fired == {"loop_broken": report.refusals}
        assert report.first_refusal == live[0] + 1
        assert (report.calls, report.rejected) == (len(session.results), 8)
        assert report.broken == 0
        # The library tells which calls they were.
        (path,) = sessions.rglob("*.jsonl")
        (recorded,) = read_session(path)
        (branch,) = replay(recorded)
        assert [refusal.call for refusal in branch.refusals] == live
        # Five of the first kind ran, and so did the honest ones between them.
        assert len(live) == 4
