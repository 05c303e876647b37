"""The package as a library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import satyrn_engine
from satyrn_engine.errors import ConfigError, SourceError
from satyrn_engine.sessions import Outcome, Refusal, SessionReport
from tests.sessions import answer, call, chain, header, repeated, result, turn, user, write


def _session(path: Path) -> Path:
    bad = [answer(call("none")), result("c1", "Tool none not found", is_error=True)]
    trunk = chain([user(), *bad, *repeated(6)])
    branch = chain(turn("bash", command="pwd"), parent="e2", prefix="b")
    return write(path, [header(), *trunk, *branch])


def test_a_session_is_read_with_its_branches_and_what_became_of_its_calls(tmp_path: Path) -> None:
    (session,) = satyrn_engine.read_session(_session(tmp_path / "s.jsonl"))
    assert (session.session, session.version, session.cwd) == ("s1", 3, "/p")
    first, second = session.branches
    assert [each.tool for each in first.calls] == ["none", *["bash"] * 6]
    assert first.calls[0].outcome is Outcome.REJECTED
    assert first.calls[1].arguments == {"command": "ls"}
    assert first.calls[1].model == "test/model"
    assert [each.arguments for each in second.calls] == [{}, {"command": "pwd"}]


def test_a_replay_tells_which_calls_of_which_branch_are_refused(tmp_path: Path) -> None:
    (session,) = satyrn_engine.read_session(_session(tmp_path / "s.jsonl"))
    first, second = satyrn_engine.replay(session)
    assert first.refusals == (Refusal(6, "engine"),)
    assert first.detections == {"loop_broken": 1}
    assert (first.longest_run, first.strongest_repeat) == (6, 6)
    assert second.refusals == ()


def test_sessions_are_scanned_one_by_one(tmp_path: Path) -> None:
    _session(tmp_path / "s.jsonl")
    (report,) = satyrn_engine.scan_sessions([tmp_path], jobs=1, cache=tmp_path / "cache")
    assert isinstance(report, SessionReport)
    assert (report.calls, report.refusals) == (8, 1)
    assert list(satyrn_engine.scan_sessions([tmp_path], cache=tmp_path / "cache")) == [report]


def test_what_cannot_be_read_or_replayed_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="does not exist; check the path"):
        satyrn_engine.read_session(tmp_path / "missing")
    for name in ("1.jsonl", "2.jsonl"):
        _session(tmp_path / name)
    with pytest.raises(SourceError, match="more than one file; use scan_sessions"):
        satyrn_engine.read_session(tmp_path)
    (session,) = satyrn_engine.read_session(tmp_path / "1.jsonl")
    with pytest.raises(ConfigError, match="there is no guard 'none'"):
        satyrn_engine.replay(session, ["none"])
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        satyrn_engine.nothing  # noqa: B018


def test_the_testing_library_needs_the_standard_library_alone() -> None:
    code = "import sys, satyrn_engine.testing; print('msgspec' in sys.modules)"
    paths = [path for path in sys.path if path]
    asked = [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}"]
    assert subprocess.run(asked, capture_output=True, text=True).stdout == "False\n"
