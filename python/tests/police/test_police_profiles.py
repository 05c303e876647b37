"""The evidence profile in a real Pi: results count, too."""

from __future__ import annotations

import pytest
from satyrn_engine.testing import bash, call, say
from tests.police.watched import Watched

pytestmark = pytest.mark.integration

EVIDENCE = {"PROFILE": "evidence"}


def test_a_poll_whose_result_changes_is_left_alone(watched: Watched) -> None:
    poll = bash("echo ran >> runs.txt; wc -l < runs.txt")
    outcome = watched.run([poll] * 6 + [say("Done.")], settings=EVIDENCE)
    assert watched.runs() == 6
    assert "by loop-police" not in outcome.stored
    assert outcome.events == []


def test_a_call_whose_result_stays_the_same_is_refused_in_time(watched: Watched) -> None:
    stuck = bash("echo ran >> runs.txt; echo same")
    outcome = watched.run([stuck] * 30, settings=EVIDENCE)
    assert watched.runs() <= 6
    assert "tool_loop" in outcome.events
    assert outcome.events[-1] == "refusal_ignored"


def test_a_build_after_each_edit_is_left_alone(watched: Watched) -> None:
    script = []
    for n in range(5):
        content = f"x = {n}\n"
        script += [call("write", {"path": "a.py", "content": content}), bash("echo ok")]
    outcome = watched.run([*script, say("Done.")], settings=EVIDENCE)
    assert outcome.events == []
