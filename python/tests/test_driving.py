"""Driving a made-up Pi: exit codes, deadlines, and what an error tells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from satyrn_engine.testing import (
    InstalledPackage,
    PiError,
    PiFailedError,
    PiHome,
    PiProgram,
    PiTimeoutError,
    RealPi,
    ScriptedModel,
    real_pi,
    source_of_tarball,
)

MADE_UP = r"""
import os, pathlib, sys, time
arguments = sys.argv[1:]
if arguments[0] == "list":
    print("User packages:\n  ../engine\n    /somewhere/engine\n  npm:other@1.0.0\n    /npm/other\n")
elif arguments[0] == "install":
    sys.exit("no such package" if arguments[1] == "gone" else 0)
else:
    prompt = arguments[-1]
    print("prompt:", prompt, "arguments:", *arguments[:-1])
    print("a warning", file=sys.stderr)
    sessions = pathlib.Path(os.environ["PI_CODING_AGENT_DIR"], "sessions", "project")
    sessions.mkdir(parents=True, exist_ok=True)
    for number in range(int(os.environ.get("SESSIONS", "1"))):
        file = sessions / f"{time.time_ns()}.jsonl"
        file.write_text('{"type": "session", "id": "%s"}\n' % prompt)
    if prompt == "hang":
        sys.stdout.flush()
        time.sleep(600)
    sys.exit(4 if prompt == "fail" else 0)
"""


@pytest.fixture
def program() -> PiProgram:
    command = (sys.executable, "-c", MADE_UP)
    return PiProgram(command, "1.6.0", Path(sys.executable), "24.15.0", None)


@pytest.fixture
def pi(program: PiProgram) -> Iterator[RealPi]:
    with PiHome(program) as home, ScriptedModel([], final=None) as model:
        home.use_model(model)
        yield RealPi(home)


def test_a_run_gives_its_outputs_and_its_own_session(pi: RealPi) -> None:
    pi.run("first")
    result = pi.run("second", "--verbose", mode="json")
    assert result.stdout.startswith(
        "prompt: second arguments: --provider scripted --model scripted"
    )
    assert "--mode json --verbose -p" in result.stdout
    assert result.stderr == "a warning\n"
    assert result.session.id == "second"
    assert [session.id for session in pi.sessions()] == ["first", "second"]


def test_a_run_that_wrote_no_session_or_two_has_no_single_one(pi: RealPi) -> None:
    for count in ("0", "2"):
        result = pi.run("Go on", env={"SESSIONS": count})
        with pytest.raises(PiFailedError, match=f"wrote {count} sessions"):
            _ = result.session
    assert pi.run("Go on").session.id == "Go on"


def test_a_failed_run_raises_with_everything_that_is_known(pi: RealPi) -> None:
    with pytest.raises(PiFailedError) as caught:
        pi.run("fail")
    for words in ("exit code 4", "prompt: fail", "a warning", "the scripted model had 0 requests"):
        assert words in str(caught.value)


def test_a_failed_run_is_returned_when_the_caller_wants_to_look(pi: RealPi) -> None:
    assert pi.run("fail", check=False).exit_code == 4


def test_a_deadline_ends_the_run_and_the_error_shows_what_it_said(pi: RealPi) -> None:
    with pytest.raises(PiTimeoutError, match=r"(?s)ended after 5 s.*prompt: hang"):
        pi.run("hang", timeout=5)


def test_packages_are_listed_with_their_folders(pi: RealPi) -> None:
    assert pi.list() == (
        InstalledPackage("../engine", Path("/somewhere/engine")),
        InstalledPackage("npm:other@1.0.0", Path("/npm/other")),
    )


def test_an_installation_that_fails_raises(pi: RealPi) -> None:
    pi.install("present")
    with pytest.raises(PiFailedError, match="no such package"):
        pi.install("gone")


def test_without_a_model_there_is_no_run(program: PiProgram) -> None:
    with PiHome(program) as home, pytest.raises(PiError, match="use_model"):
        RealPi(home).run("Go on")


def test_real_pi_gives_a_pi_with_its_model_and_removes_the_home(program: PiProgram) -> None:
    with real_pi([], program=program, install="present") as (pi, model):
        assert pi.run("Go on").exit_code == 0
        assert pi.home.model is model
        root = pi.home.root
        assert root.exists()
    assert not root.exists()


def test_real_pi_installs_a_folder_of_the_caller_who_works_elsewhere(
    program: PiProgram, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with (
        pytest.raises(PiFailedError, match="no such package"),
        real_pi([], program=program, install="gone"),
    ):
        pass
    (tmp_path / "gone").mkdir()
    with real_pi([], program=program, install="gone") as (pi, _):
        assert pi.home.root.exists()


def test_the_source_of_a_tarball_is_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    source = source_of_tarball("guard", Path("guard.tgz"))
    assert source == f"npm:guard@file:{tmp_path}/guard.tgz"
