"""Fixtures and scenarios from recorded sessions: what is in them, and what the guards do there."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from satyrn_engine import _fixture_make, make_fixture
from satyrn_engine._fixture_events import dump
from satyrn_engine._node import find_node, typescript
from satyrn_engine.cli import main
from satyrn_engine.errors import ConfigError, SatyrnError, SourceError
from tests.sessions import (
    Entry,
    answer,
    as_stream,
    as_v1,
    call,
    chain,
    header,
    lines,
    repeated,
    result,
    turn,
    user,
    write,
)

SECRET = "Frobnicate the Quuxinator"


@pytest.fixture
def looping(tmp_path: Path) -> Path:
    """A session of which the guard refuses calls 8 to 10: two others come first."""
    messages = [
        user(SECRET),
        *turn("read", path="src/secret.py", offset="3"),
        *turn("read", path="/p/other.py"),
        *repeated(8, "make secret"),
    ]
    return write(tmp_path / "s.jsonl", [header(), *chain(messages)])


def _replay(program: str, file: Path, *options: str) -> tuple[int, str]:
    """Run a command of the replay, as a person would."""
    command = [find_node(), "--experimental-strip-types", str(typescript() / "replay" / program)]
    done = subprocess.run([*command, *options, str(file)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def _made(file: Path, *args: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    return make_fixture(file, *args, **more).document


def test_a_guard_fixture_has_the_calls_that_reached_the_guards_as_the_hook_got_them(
    looping: Path,
) -> None:
    made = make_fixture(looping, mask=False, name="one")
    first, second, *rest = made.document["calls"]
    assert first == {"toolName": "read", "input": {"path": "src/secret.py", "offset": 3}}
    assert second["input"] == {"path": "/p/other.py"}
    assert rest == [{"toolName": "bash", "input": {"command": "make secret"}}] * 8
    assert made.document["expected"] == {"blocked": 3, "entries": 3, "firstBlock": 8}
    assert made.findings == ("engine: 3 of 10 calls refused, first at call 8",)


def test_masked_it_has_the_same_verdict_and_none_of_the_words(looping: Path) -> None:
    made = make_fixture(looping)
    assert made.document["expected"] == {"blocked": 3, "entries": 3, "firstBlock": 8}
    assert [each["toolName"] for each in made.document["calls"]] == ["read"] * 2 + ["bash"] * 8
    assert list(made.document["calls"][0]["input"]) == ["path", "offset"]
    for word in ("secret", "src", "make", "other"):
        assert word not in made.text
    assert make_fixture(looping).text == made.text
    assert make_fixture(looping, seed=7).text != made.text


def test_a_file_in_which_masking_changed_what_the_engine_does_is_refused(
    looping: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(plain: dict[str, Any], *_: object) -> dict[str, Any]:
        return {**plain, "calls": plain["calls"][:3]}

    monkeypatch.setattr(_fixture_make, "masked", broken)
    with pytest.raises(SatyrnError, match="use --no-mask"):
        make_fixture(looping)
    assert make_fixture(looping, mask=False).document["expected"]["blocked"] == 3


def test_the_replay_of_fixtures_accepts_it_as_it_stands(looping: Path, tmp_path: Path) -> None:
    for masked in (True, False):
        file = tmp_path / "fixture.json"
        file.write_text(make_fixture(looping, mask=masked).text)
        code, said = _replay("replay_guards.mjs", file)
        assert code == 0, said
        assert '"blocked":3' in said


@pytest.mark.parametrize("profile", ["classic", "evidence"])
@pytest.mark.parametrize("masked", [True, False])
def test_the_scoreboard_accepts_a_scenario_as_it_stands(
    looping: Path, tmp_path: Path, profile: Literal["classic", "evidence"], masked: bool
) -> None:
    file = tmp_path / "scenario.json"
    made = make_fixture(looping, "scenario", label="loop", profile=profile, mask=masked)
    file.write_text(made.text)
    code, said = _replay("score.mjs", file)
    assert code == 0, said
    assert f"police {profile}: recorded: caught" in said
    assert made.document["expected"]["engine"] == {"blocked": 3, "firstBlock": 8}
    assert made.findings[1].startswith(f"police, {profile}: caught at event")


def test_calls_are_numbered_as_in_the_report_of_a_scan(
    looping: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scan", str(looping), "--format", "json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)["sessions"]
    first = report["first_refusal"]
    made = make_fixture(looping, calls=(3, first))
    assert len(made.document["calls"]) == first - 2
    assert made.findings == (
        "engine: 1 of 6 calls refused, first at call 6 (call 8 of the session)",
    )
    short = make_fixture(looping, calls=(3, first - 1))
    assert short.findings == ("engine: 0 of 5 calls refused",)


def test_a_part_of_a_session_begins_with_the_prompt_that_led_to_it(tmp_path: Path) -> None:
    messages = [user("one"), *turn(), user("two"), *turn("read"), user("three"), *turn("ls")]
    file = write(tmp_path / "s.jsonl", [header(), *chain(messages)])

    def outline(calls: tuple[int, int | None]) -> list[str]:
        events = _made(file, "scenario", label="loop", calls=calls, mask=False)["events"]
        return [each.get("user") or each["call"]["toolName"] for each in events]

    assert outline((2, 2)) == ["two", "read"]
    assert outline((2, None)) == ["two", "read", "three", "ls"]
    assert outline((1, 1)) == ["one", "bash"]


def test_a_scenario_has_all_that_happened(tmp_path: Path) -> None:
    rejected = 'Validation failed for tool "edit":\n  - edits: must have required properties edits'
    messages = [
        user("Go on"),
        answer({"type": "thinking", "thinking": "Think first"}, {"type": "text", "text": "I read"}),
        answer(call("bash", "c1", command="ls"), call("edit", "c2", path="a")),
        result("c1", "a b"),
        result("c2", rejected, is_error=True),
        answer(call("bash", "c3", command="false")),
        result("c3", "exit 1", is_error=True, durationMs=3),
        answer(call("bash", "c4", command="sleep")),
        result("c4", "Operation aborted", is_error=True),
    ]
    entries = chain(messages)
    compaction = {"type": "compaction", "id": "k", "parentId": entries[-1]["id"], "summary": "s"}
    file = write(tmp_path / "s.jsonl", [header(), *entries, compaction])
    made = make_fixture(file, "scenario", label="legitimate", mask=False)
    assert made.document["events"] == [
        {"user": "Go on"},
        {"thinking": "Think first"},
        {"text": "I read"},
        {
            "batch": [
                {
                    "call": {"toolName": "bash", "input": {"command": "ls"}},
                    "result": {"text": "a b", "isError": False},
                },
                {"invalid": {"toolName": "edit", "input": {"path": "a"}}, "error": rejected},
            ]
        },
        {
            "call": {"toolName": "bash", "input": {"command": "false"}},
            "result": {"text": "exit 1", "isError": True},
        },
        {"compaction": True},
    ]
    assert "1 call that Pi rejected: in it as invalid" in made.notes
    assert "1 call without a clear outcome: left out" in made.notes
    guard = make_fixture(file, mask=False)
    assert [each["input"] for each in guard.document["calls"]] == [
        {"command": "ls"},
        {"command": "false"},
    ]
    assert "1 call that Pi rejected: no guard saw them, left out" in guard.notes


def test_the_folder_of_the_session_becomes_that_of_scenarios(looping: Path) -> None:
    plain = _made(looping, "scenario", label="loop", mask=False)
    paths = [each["call"]["input"].get("path") for each in plain["events"][1:3]]
    assert paths == ["src/secret.py", "/project/other.py"]
    masked = _made(looping, "scenario", label="loop")
    assert masked["events"][2]["call"]["input"]["path"].startswith("/project/")
    assert "other" not in json.dumps(masked)


def test_a_session_that_speaks_of_that_folder_already_keeps_its_own(tmp_path: Path) -> None:
    messages = [user("See /project/x"), *turn("read", path="/p/a.py")]
    file = write(tmp_path / "s.jsonl", [header(), *chain(messages)])
    plain = _made(file, "scenario", label="loop", mask=False)
    assert plain["events"][1]["call"]["input"]["path"] == "/p/a.py"


def test_the_names_of_arguments_stay_and_keys_within_them_do_not(tmp_path: Path) -> None:
    given: dict[str, Any] = {"query": "secret", "filters": {"secret": ["secret"]}}
    declared = {"name": "find_it", "parameters": {"properties": {"query": {}, "filters": {}}}}
    entries = [
        {"role": "system", "content": "", "toolsAdded": [declared]},
        *turn("find_it", **given),
        *turn("unknown_tool", **given),
        *turn("bash", command="x", secret="y"),
    ]
    file = write(tmp_path / "s.jsonl", [header(), *chain(entries)])
    made = make_fixture(file)
    for made_call in made.document["calls"][:2]:
        assert list(made_call["input"]) == ["query", "filters"]
    (command, other) = made.document["calls"][2]["input"]
    assert (command, other == "secret") == ("command", False)
    assert "secret" not in made.text


def test_a_branch_is_chosen_by_its_last_entry_and_is_by_default_the_one_that_pi_resumes(
    tmp_path: Path,
) -> None:
    trunk = chain([user(), *turn()])
    left = chain(repeated(6), parent="e2", prefix="left", minute=1)
    right = chain(turn("read"), parent="e2", prefix="right", minute=2)
    file = write(tmp_path / "s.jsonl", [header(), *trunk, *left, *right])

    def tools(branch: str | None) -> list[str]:
        return [each["toolName"] for each in _made(file, branch=branch)["calls"]]

    assert tools(None) == ["bash", "read"]
    assert tools("left11") == ["bash"] * 7
    assert tools("e2") == ["bash"]
    assert make_fixture(file).notes[0] == (
        "this is the branch that ends at right1; others end at left11 (--branch)"
    )
    with pytest.raises(
        ConfigError, match="no entry has the id nope; branches end at left11, right1"
    ):
        make_fixture(file, branch="nope")


@pytest.mark.parametrize("form", [as_v1, as_stream])
def test_sessions_without_ids_are_one_branch(
    tmp_path: Path, form: Callable[[list[Entry]], list[Entry]]
) -> None:
    version = 1 if form is as_v1 else 3
    entries = [header(version), *form([user(), *repeated(6)])]
    file = write(tmp_path / "s.jsonl", entries)
    assert _made(file)["expected"]["blocked"] == 1
    with pytest.raises(ConfigError, match="no ids"):
        make_fixture(file, branch="e1")


def test_of_a_fork_its_own_part_is_taken_and_numbered_from_one(tmp_path: Path) -> None:
    forked = header(parentSession="/elsewhere/parent.jsonl", timestamp="2026-01-02T04:30:00.000Z")
    copied = chain(repeated(4))
    own = chain(repeated(6), parent=copied[-1]["id"], prefix="own", minute=31)
    file = write(tmp_path / "s.jsonl", [forked, *copied, *own])
    made = make_fixture(file, calls=(1, 6))
    assert made.document["expected"] == {"blocked": 1, "entries": 1, "firstBlock": 6}
    assert any("4 calls of its parent are left out" in note for note in made.notes)


def test_what_the_words_matter_for_is_said(tmp_path: Path) -> None:
    """Police of the evidence profile know a poll by its words."""
    messages = [
        user("Wait"),
        *(each for _ in range(9) for each in turn(command="job status; sleep 9")),
    ]
    file = write(tmp_path / "s.jsonl", [header(), *chain(messages)])
    made = make_fixture(file, "scenario", label="legitimate")
    plain = make_fixture(file, "scenario", label="legitimate", mask=False)
    differs = made.findings[1] != plain.findings[1]
    assert differs == any("the words matter" in each for each in made.warnings)
    kept = make_fixture(file, "scenario", label="legitimate", keep=["job", "status", "sleep"])
    assert kept.findings[1] == plain.findings[1]
    assert not any("the words matter" in each for each in kept.warnings)


def test_a_long_number_is_pointed_out(tmp_path: Path) -> None:
    file = write(tmp_path / "s.jsonl", [header(), *chain(turn(command="call 0123456789"))])
    assert any("1 number of 8 digits" in each for each in make_fixture(file).warnings)
    short = write(tmp_path / "t.jsonl", [header(), *chain(turn(command="call 0123456"))])
    assert make_fixture(short).warnings == ()


def test_half_a_character_is_written_as_json_can_write_it() -> None:
    text = dump({"half": "\ud83d", "whole": "\N{GRINNING FACE}"})
    assert json.loads(text.encode()) == {"half": "\ud83d", "whole": "\N{GRINNING FACE}"}
    assert "\N{GRINNING FACE}" in text


def test_a_line_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_bytes(lines([header(), *chain(turn())]) + b"{broken\n")
    assert any("a line of the session was skipped" in note for note in make_fixture(file).notes)


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"kind": "scenario"}, ConfigError, "--label"),
        ({"label": "loop"}, ConfigError, "--kind scenario"),
        ({"calls": (11, None)}, ConfigError, "this branch has 10"),
        ({"calls": (0, 3)}, ConfigError, "from 1"),
        ({"calls": (3, 2)}, ConfigError, "the first one first"),
        ({"name": ""}, ConfigError, "--name"),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_remedy(
    looping: Path, more: dict[str, Any], error: type[SatyrnError], said: str
) -> None:
    with pytest.raises(error, match=said):
        make_fixture(looping, **more)


def test_what_is_no_single_session_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="check the path"):
        make_fixture(tmp_path / "nope.jsonl")
    write(tmp_path / "a.jsonl", [header()])
    write(tmp_path / "b.jsonl", [header()])
    with pytest.raises(SourceError, match="name one session"):
        make_fixture(tmp_path)
    two = write(tmp_path / "two.jsonl", [header(), *chain(turn()), header(id="s2")])
    with pytest.raises(ConfigError, match="holds 2 sessions \\(s1, s2\\)"):
        make_fixture(two)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with pytest.raises(SourceError, match="holds no session"):
        make_fixture(tmp_path / "empty.jsonl")


def test_a_compressed_session_is_read_and_one_that_was_cut_is_refused(
    looping: Path, tmp_path: Path
) -> None:
    packed = gzip.compress(looping.read_bytes())
    whole, cut = tmp_path / "s.jsonl.gz", tmp_path / "cut.jsonl.gz"
    whole.write_bytes(packed)
    cut.write_bytes(packed[:-20])
    assert make_fixture(whole).text == make_fixture(looping).text
    with pytest.raises(SourceError, match="cannot be read to its end"):
        make_fixture(cut)


def test_a_session_comes_from_standard_input(
    looping: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with looping.open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["fixture", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["expected"]["blocked"] == 3


def test_a_session_whose_calls_were_all_rejected_makes_a_scenario_and_no_guard_fixture(
    tmp_path: Path,
) -> None:
    messages = [answer(call("nope", "c1")), result("c1", "Tool nope not found", is_error=True)]
    file = write(tmp_path / "s.jsonl", [header(), *chain(messages)])
    with pytest.raises(ConfigError, match="none of these calls reached"):
        make_fixture(file)
    assert "invalid" in _made(file, "scenario", label="loop")["events"][0]


def test_the_command_writes_a_file_and_asks_for_confirmation(
    looping: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "my-loop.json"
    assert main(["fixture", str(looping), "--calls", "3:", "-o", str(file)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    confirm = "3 of 8 calls refused, first at call 6 (call 8 of the session) - confirm before"
    assert confirm in told.err
    assert json.loads(file.read_text())["name"] == "my-loop"
    assert main(["fixture", str(looping), "--calls", "3:"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "recorded"


def test_a_wrong_command_line_makes_no_file(
    looping: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out.json"
    for more in (["--calls", "x"], ["--calls", ":"], ["--kind", "scenario"], ["--branch", "no"]):
        assert main(["fixture", str(looping), *more, "-o", str(file)]) == 2
    assert main(["fixture", str(looping), "-o", str(tmp_path / "nope" / "out.json")]) == 2
    assert "its folder does not exist" in " ".join(capsys.readouterr().err.split())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["s.jsonl"]


def test_a_session_named_check_is_told_from_the_command(
    looping: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(looping.parent)
    os.rename(looping, "check")  # noqa: PTH104
    assert main(["fixture", "check"]) == 2
    assert "name the fixtures" in capsys.readouterr().err
    assert main(["fixture", "./check"]) == 0
    assert json.loads(capsys.readouterr().out)["expected"]["blocked"] == 3
