"""How the demonstration judges what happened, and how it looks."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine import demo
from satyrn_engine._demo_run import Ask, Outcome, Step, find_faults
from satyrn_engine._demo_view import View, as_json, install_folder, wants_colour
from satyrn_engine.testing import Entry, Package, PiProgram, Session

SAME = Ask("echo tested >> runs.log", "runs.log")
OTHER = Ask("echo 'moved on' >> notes.log", "notes.log")
REASON = "This call was already made five times. " * 8


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def the_steps() -> list[Step]:
    """Return what a guard that keeps its promise makes of the eight calls."""
    ran = [Step(n, SAME, n - 1, n, "(no output)") for n in range(1, 6)]
    refused = [Step(n, SAME, 5, 5, REASON) for n in (6, 7)]
    return [*ran, *refused, Step(8, OTHER, 0, 1, "(no output)")]


def session_of(steps: list[Step], blocked: tuple[int, ...] = (1, 2)) -> Session:
    """Return the session file that belongs to `steps`."""
    results: list[dict[str, Any]] = [
        {"role": "toolResult", "content": step.told, "isError": not step.ran} for step in steps
    ]
    messages = [Entry("message", "", None, {"message": result}) for result in results]
    telemetry = [
        Entry("custom", "", None, {"customType": "loop_broken", "data": data})
        for data in ({"tool": "bash", "repeats": 5, "blockedSoFar": n} for n in blocked)
    ]
    return Session(Path("session.jsonl"), {}, (*messages, *telemetry))


def outcome_of(steps: list[Step], *faults: str) -> Outcome:
    package = Package(Path("/somewhere/engine"), "satyrn-engine", "0.1.0", ())
    program = PiProgram(("pi",), "1.6.0", Path("/node"), "24.15.0", None)
    telemetry = tuple(entry.data for entry in session_of(steps).custom())
    return Outcome(package, program, tuple(steps), telemetry, faults)


def shown(outcome: Outcome, *, colour: bool = False, packs: bool = True) -> str:
    out = io.StringIO()
    view = View(out, io.StringIO(), colour)
    view.opening(outcome.package, outcome.program)
    view.stage("starting Pi")
    for step in outcome.steps:
        view.step(step)
    view.closing(outcome, Path("/checkout/engine"), packs=packs)
    return out.getvalue()


def test_a_guard_that_keeps_its_promise_has_no_faults() -> None:
    steps = the_steps()
    assert find_faults(tuple(steps), session_of(steps)) == []


def test_a_refusal_that_ran_is_a_fault() -> None:
    steps = the_steps()
    steps[5] = replace(steps[5], lines_after=6)
    faults = find_faults(tuple(steps), session_of(steps))
    assert faults == ["Call 6 should have been refused and ran."]


@pytest.mark.parametrize("number", [5, 8])
def test_a_call_that_should_have_run_and_did_not_is_a_fault(number: int) -> None:
    steps = the_steps()
    wrong = steps[number - 1]
    steps[number - 1] = replace(wrong, lines_after=wrong.lines_before)
    faults = find_faults(tuple(steps), session_of(steps))
    assert faults == [f"Call {number} should have run and did not run."]


def test_a_model_that_is_told_something_else_than_the_session_keeps_is_a_fault() -> None:
    steps = the_steps()
    session = session_of(steps)
    steps[5] = replace(steps[5], told="Fine.")
    assert "not those that the model was told" in find_faults(tuple(steps), session)[0]


@pytest.mark.parametrize("blocked", [(), (1,), (1, 1), (1, 2, 3)])
def test_telemetry_that_does_not_count_the_refusals_is_a_fault(blocked: tuple[int, ...]) -> None:
    steps = the_steps()
    assert "telemetry" in find_faults(tuple(steps), session_of(steps, blocked))[0]


def test_a_run_that_broke_off_is_a_fault() -> None:
    steps = the_steps()[:3]
    faults = find_faults(tuple(steps), session_of(steps))
    assert faults[0] == "3 calls came to an end instead of 8."


def test_every_line_fits_eighty_columns() -> None:
    for outcome in (outcome_of(the_steps()), outcome_of(the_steps(), "It is wrong. " * 20)):
        assert max(map(len, shown(outcome).splitlines())) <= 80


def test_what_is_shown_follows_what_happened() -> None:
    text = shown(outcome_of(the_steps()))
    assert text.count(" ran ") >= 6
    assert text.count("refused  runs.log has 5 lines") == 2
    assert "the same words" in text
    assert '"blockedSoFar": 2' in text
    assert "of 7 identical calls 5 ran and 2 were refused" in text
    assert "pi install /checkout/engine" in text


def test_a_broken_promise_is_shown_instead_of_the_installation() -> None:
    text = shown(outcome_of(the_steps(), "Call 6 should have been refused and ran."))
    assert "Call 6 should have been refused and ran." in text
    assert "The guard held" not in text
    assert "pi install" not in text


def test_colour_marks_up_the_same_text() -> None:
    outcome = outcome_of(the_steps())
    plain, coloured = shown(outcome), shown(outcome, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[31mrefused\x1b[0m" in coloured
    for code in ("0", "1", "2", "31", "32"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == plain


@pytest.mark.parametrize(
    ("stream", "environ", "wanted"),
    [
        (Terminal(), {"TERM": "xterm"}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {"TERM": "xterm"}, False),
    ],
)
def test_colour_is_for_terminals_and_never_with_no_color(
    stream: io.StringIO, environ: dict[str, str], *, wanted: bool
) -> None:
    assert wants_colour(stream, environ) is wanted


def test_what_is_being_done_is_shown_on_a_terminal_and_taken_away_again() -> None:
    err = Terminal()
    view = View(io.StringIO(), err, colour=False)
    view.stage("starting Pi")
    view.step(the_steps()[0])
    assert err.getvalue() == "\r\x1b[K  starting Pi …\r\x1b[K"


def test_the_json_holds_what_the_rows_hold() -> None:
    value = json.loads(as_json(outcome_of(the_steps(), "It is wrong.")))
    assert [call["ran"] for call in value["calls"]] == [True] * 5 + [False] * 2 + [True]
    assert value["calls"][5]["told"] == REASON
    assert (value["engine"], value["pi"], value["node"]) == ("0.1.0", "1.6.0", "24.15.0")
    assert value["faults"] == ["It is wrong."]
    assert [data["blockedSoFar"] for data in value["telemetry"]] == [1, 2]


def test_the_folder_to_install_is_the_checkouts_when_bazel_names_it(tmp_path: Path) -> None:
    package = outcome_of([]).package
    assert install_folder(package, {}) == package.folder
    environ = {"BUILD_WORKSPACE_DIRECTORY": str(tmp_path)}
    assert install_folder(package, environ) == package.folder
    (tmp_path / "engine").mkdir()
    (tmp_path / "engine" / "package.json").touch()
    assert install_folder(package, environ) == tmp_path / "engine"


def test_the_checkouts_commands_are_not_given_for_another_package() -> None:
    own = shown(outcome_of(the_steps()))
    other = shown(outcome_of(the_steps()), packs=False)
    assert "pi install /checkout/engine" in own
    assert "//engine:package" in own
    assert "pi install /checkout/engine" in other
    assert "//engine:package" not in other


def test_a_folder_that_is_named_starts_where_the_user_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    assert demo.main(["--package", "mine"]) == 1
    assert f"{tmp_path}/mine/package.json" in capsys.readouterr().err


def test_a_folder_that_does_not_exist_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BUILD_WORKING_DIRECTORY", str(tmp_path))
    assert demo.main(["--package", "mine"]) == 1
    assert capsys.readouterr().err == (
        f"demo: there is no folder {tmp_path}/mine: name the folder of a Pi package "
        "with --package, or leave it out\n"
    )


def test_without_a_package_the_remedy_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(demo.PACKAGE_VARIABLE, raising=False)
    assert demo.main([]) == 1
    assert "tools/bazel run //engine:demo" in capsys.readouterr().err


def test_a_wrong_option_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        demo.main(["--colour"])
    assert caught.value.code == 2
    assert "usage:" in capsys.readouterr().err
