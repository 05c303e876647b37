"""How another Bazel is started, with a pretended one."""

from __future__ import annotations

import json
import os
import stat
import sys
from io import StringIO
from pathlib import Path
from typing import TextIO

import pytest

from tools.nested.checkout import Checkout, Outcome, environment, find_bazel

# Writes its arguments down, and the event file that a build would write.
_PRETENDED = """\
#!{python} -I
import json, os, sys
arguments = sys.argv[1:]
with open({calls!r}, "a") as calls:
    print(json.dumps([os.getcwd(), arguments]), file=calls)
for argument in arguments:
    if argument.startswith("--build_event_json_file="):
        runners = [{{"name": "linux-sandbox", "count": 3}}]
        event = {{"buildMetrics": {{"actionSummary": {{"runnerCount": runners}}}}}}
        with open(argument.partition("=")[2], "w") as events:
            print(json.dumps(event), file=events)
print("said something")
sys.exit({code})
"""


class _Pretended:
    def __init__(self, folder: Path, code: int = 0, echo: TextIO | None = None) -> None:
        self.calls = folder / "calls"
        self.program = folder / "bazel"
        self.program.write_text(
            _PRETENDED.format(python=sys.executable, calls=str(self.calls), code=code)
        )
        self.program.chmod(self.program.stat().st_mode | stat.S_IXUSR)
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.checkout = Checkout(
            self.workspace,
            folder / "scratch",
            bazel=str(self.program),
            overrides={"npm": Path("/fetched/npm")},
            echo=echo,
        )

    def arguments(self) -> list[list[str]]:
        lines = self.calls.read_text().splitlines()
        return [json.loads(line)[1] for line in lines]


def test_a_build_runs_in_the_checkout_with_an_output_base_of_its_own(tmp_path: Path) -> None:
    pretended = _Pretended(tmp_path)
    outcome = pretended.checkout.run("test", "//a", "-//a/b", "--config=ci")
    assert outcome.counts.executed == {"linux-sandbox": 3}
    assert outcome.said == "said something\n"
    [called] = pretended.arguments()
    assert f"--output_user_root={tmp_path}/scratch/out" in called[: called.index("test")]
    assert called[called.index("test") + 1] == "--config=ci"
    assert called[-3:] == ["--", "//a", "-//a/b"]
    assert "--override_repository=npm=/fetched/npm" in called
    assert json.loads(pretended.calls.read_text())[0] == str(pretended.workspace)


def test_its_server_ends_with_the_block(tmp_path: Path) -> None:
    pretended = _Pretended(tmp_path)
    with pretended.checkout as checkout:
        checkout.run("build", "//a")
    assert "shutdown" in pretended.arguments()[-1]


def test_a_failed_call_tells_what_was_said_instead_of_counts(tmp_path: Path) -> None:
    outcome = _Pretended(tmp_path, code=3).checkout.run("test", "//a")
    assert outcome.code == 3
    with pytest.raises(RuntimeError, match="said something"):
        _ = outcome.counts


def test_somebody_who_waits_sees_what_is_said_of_a_build_and_nothing_of_a_question(
    tmp_path: Path,
) -> None:
    echo = StringIO()
    pretended = _Pretended(tmp_path, echo=echo)
    said = pretended.checkout.run("test", "//a").said
    pretended.checkout.run("query", "//a")
    assert echo.getvalue() == said == "said something\n"
    build, question = pretended.arguments()
    assert "--noshow_progress" not in build
    assert not any("progress" in argument for argument in question)


def test_nobody_waits_without_an_echo(tmp_path: Path) -> None:
    pretended = _Pretended(tmp_path)
    pretended.checkout.run("test", "//a")
    assert "--noshow_progress" in pretended.arguments()[0]


def test_what_an_earlier_call_told_counts_for_no_later_one(tmp_path: Path) -> None:
    pretended = _Pretended(tmp_path)
    assert pretended.checkout.run("build", "//a").events is not None
    again = Checkout(pretended.workspace, tmp_path / "scratch", bazel=str(pretended.program))
    assert again.run("query", "//a").events is None


def test_a_call_that_left_no_events_has_no_counts() -> None:
    with pytest.raises(RuntimeError, match="ended with 0"):
        _ = Outcome(0, 1.0, None, "").counts


def test_the_caller_s_own_bazel_leaves_nothing_in_the_environment() -> None:
    theirs = {
        *("BUILD_WORKSPACE_DIRECTORY", "RUNFILES_DIR", "TEST_TMPDIR", "PYTHONPATH", "BAZEL_TEST"),
    }
    kept = {"PATH": "/bin", "PIP_CACHE_DIR": "/c", "BAZEL_REAL": "/b", "HOME": "/h"}
    found = environment({**kept, **dict.fromkeys(theirs, "x")}, Path("/other"))
    assert found == kept


def test_without_a_home_there_is_one_for_bazel() -> None:
    assert environment({}, Path("/other")) == {"HOME": "/other"}


def test_a_machine_without_bazel_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    monkeypatch.delenv("BAZEL_REAL", raising=False)
    with pytest.raises(FileNotFoundError, match="tools/bazel"):
        find_bazel()
    monkeypatch.setenv("BAZEL_REAL", "/the/bazel")
    assert find_bazel() == "/the/bazel"
