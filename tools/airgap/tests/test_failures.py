"""Every failure of the launcher ends with a line that says what to do."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.airgap.launcher import children, cli, doctor
from tools.airgap.launcher.words import Problem

LAUNCHER = Path(cli.__file__).parent
PROBLEM = 36


def _calls() -> Iterator[tuple[str, ast.Call]]:
    """Every place that makes a Problem, as FILE:LINE and the call."""
    for file in sorted(LAUNCHER.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Problem":
                yield f"{file.name}:{node.lineno}", node


CALLS = dict(_calls())


def _end(node: ast.expr) -> str | None:
    """The end of a text that is written out; None for a name, which holds one written elsewhere."""
    if isinstance(node, ast.JoinedStr):
        return _end(node.values[-1])
    if isinstance(node, ast.BinOp):
        return _end(node.right)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _texts(node: ast.expr) -> str:
    return "".join(
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def test_the_launcher_raises_problems() -> None:
    assert len(CALLS) >= 15


@pytest.mark.parametrize("place", CALLS)
def test_a_problem_says_what_to_do_in_one_line_that_is_a_sentence(place: str) -> None:
    call = CALLS[place]
    assert len(call.args) == 2, "what is wrong, and what to do"
    _, remedy = call.args
    assert "\n" not in _texts(remedy)
    end = _end(remedy)
    assert end is None or end.endswith("."), ast.unparse(remedy)


def test_nothing_in_the_launcher_ends_the_program_past_that_line() -> None:
    for file in LAUNCHER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) not in {"sys.exit", "os._exit", "exit"}, file
            if isinstance(node, ast.Raise) and node.exc is not None:
                assert "SystemExit" not in ast.unparse(node.exc), file


@pytest.mark.parametrize(
    ("failure", "status", "words"),
    [
        (Problem("It is broken.", "mend it."), PROBLEM, "It is broken."),
        (
            OSError(28, "No space left on device", "/c/x"),
            PROBLEM,
            "No space left on device: '/c/x'\nWhat to do: free some space",
        ),
        (PermissionError(13, "denied", "/c"), PROBLEM, "'/c'\nWhat to do: see to it that you may"),
        (KeyboardInterrupt(), 130, "stopped"),
        (children.Interrupted(15), 143, "stopped"),
        (ValueError("never thought of"), PROBLEM, "never thought of"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
@pytest.mark.parametrize("arguments", [["build"], ["doctor"]])
def test_whatever_fails_the_last_line_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    failure: BaseException,
    status: int,
    words: str,
    arguments: list[str],
) -> None:
    def fail(*_: object) -> int:
        raise failure

    monkeypatch.setattr(cli, "_run", fail)
    monkeypatch.setattr(doctor, "main", fail)
    assert cli.main(arguments) == status
    told = capsys.readouterr().err
    assert words in told
    assert told.splitlines()[-1].startswith("What to do: ")
    assert told.count("What to do: ") == 1


@pytest.mark.parametrize(
    ("forced", "reason"), [("1", "BAZEL_AIRGAP=1"), ("", "no bazelisk and no bazel on PATH")]
)
def test_another_system_than_linux_is_told_why_it_would_be_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], forced: str, reason: str
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setenv("BAZEL_AIRGAP", forced)
    assert cli.main(["build"]) == PROBLEM
    told = capsys.readouterr().err
    assert f"({reason}), and it needs Linux" in told
    assert "without BAZEL_AIRGAP" in told


def test_a_file_of_the_version_that_is_no_text_is_a_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".bazelversion").write_bytes(b"\xff\xfe")
    assert doctor.main(tmp_path, {"PATH": ""}) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("What to do: restore it")
