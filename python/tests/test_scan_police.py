"""Scanning with police: what they would have found, with their own settings, and no hook run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from satyrn_engine import scan_sessions
from satyrn_engine.errors import ConfigError
from satyrn_engine.reports import SessionReport
from tests.sessions import Entry, answer, chain, header, repeated, turn, user, write


def _scan(path: Path, *guards: str, config: Path | None = None) -> SessionReport:
    (found,) = scan_sessions([path], guards=guards, police_config=config, jobs=1)
    assert isinstance(found, SessionReport), found
    assert found.faults == []
    return found


def _session(path: Path, messages: list[Entry]) -> Path:
    return write(path, [header(), *chain([user(), *messages])])


def test_police_refuse_a_repeated_call_before_the_engine_does(tmp_path: Path) -> None:
    looping = _session(tmp_path / "looping.jsonl", repeated(7))
    honest = [message for name in "abcdefg" for message in turn(command=f"make {name}")]
    police = _scan(looping, "police")
    engine = _scan(looping, "engine")
    assert police.refusals > engine.refusals > 0
    assert police.first_refusal is not None
    assert police.first_refusal < 6 == engine.first_refusal
    assert (police.longest_run, engine.longest_run) == (7, 7)
    assert _scan(_session(tmp_path / "honest.jsonl", honest), "police").loops is False


def test_police_find_an_answer_that_repeats_itself(tmp_path: Path) -> None:
    sentence = "I should look at the parser again, because the tokens are read there. "
    text = {"type": "text", "text": sentence * 8}
    report = _scan(_session(tmp_path / "s.jsonl", [answer(text, stop="stop")]), "police")
    assert report.refusals == 0
    assert report.loops
    once = {"type": "text", "text": sentence}
    assert not _scan(_session(tmp_path / "s.jsonl", [answer(once, stop="stop")]), "police").loops


def test_both_guards_stand_in_one_pi(tmp_path: Path) -> None:
    path = _session(tmp_path / "s.jsonl", repeated(12))
    both = _scan(path, "police", "engine")
    assert both.refusals >= _scan(path, "police").refusals


def test_the_settings_of_police_count_and_their_hooks_are_not_run(tmp_path: Path) -> None:
    config = tmp_path / "loop-police.json"
    hook = {"HOOK_CMD": f"touch {tmp_path}/ran", "HOOK_LOG": f"{tmp_path}/log"}
    path = _session(tmp_path / "s.jsonl", repeated(7))
    config.write_text(json.dumps(hook))
    assert _scan(path, "police", config=config).refusals > 0
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "log").exists()
    config.write_text("[]")
    with pytest.raises(ConfigError, match="must hold a JSON object"):
        _scan(path, "police", config=config)
