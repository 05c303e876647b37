"""`/implement CONTRACT` in a real Pi: what its user sees, whatever the engine does."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from satyrn_engine.testing import (
    JsonObject,
    Package,
    PiHome,
    PiProgram,
    RealPi,
    RpcSession,
    ScriptedModel,
)

pytestmark = pytest.mark.integration

GOOD = "id: fix-1\ntask: Make it work.\n"

#: The engine answers within half a minute, or is given up; a busy machine takes its time too.
PATIENCE = 60.0


@dataclass(frozen=True)
class Seen:
    """What the user was shown: a line, and whether as an error."""

    text: str
    error: bool

    @property
    def code(self) -> str:
        """The code that the line begins with."""
        return self.text.partition(":")[0]


@pytest.fixture(scope="module")
def home(program: PiProgram, engine: Package) -> Iterator[PiHome]:
    """A home in which the package is installed, with a project of contracts."""
    with PiHome(program) as home, ScriptedModel([]) as model:
        home.use_model(model)
        RealPi(home).install(engine.folder)
        yield home
        assert model.requests == (), "a command is no prompt"


@pytest.fixture
def pi(home: PiHome) -> RealPi:
    """That Pi, with a project that has one good contract."""
    home.project.mkdir(exist_ok=True)
    home.clear()
    (home.project / "good.yaml").write_text(GOOD)
    return RealPi(home)


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A folder for programs, and nothing in it."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    return folder


def real_engine() -> str:
    """Return a command line that runs this package's engine."""
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return shlex.join(["env", f"PYTHONPATH={path}", sys.executable, "-m", "satyrn_engine"])


def script(path: Path, text: str) -> str:
    """Write a program, and return it as `$SATYRN_ENGINE` names it."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return f'"{path}"'


def implement(rpc: RpcSession, arguments: str) -> Seen:
    """Run the command and return the one thing that the user is shown."""
    mark = rpc.mark()

    def is_shown(record: JsonObject) -> bool:
        return record.get("type") == "extension_ui_request" and record.get("method") == "notify"

    rpc.send("prompt", message=f"/implement{arguments}")
    shown = rpc.wait_for(is_shown, since=mark, timeout=PATIENCE)
    return Seen(str(shown["message"]), shown["notifyType"] == "error")


def once(pi: RealPi, engine: str, arguments: str = " good.yaml") -> Seen:
    """Start a Pi that is told of this engine, and run the command."""
    with pi.rpc(env={"SATYRN_ENGINE": engine}) as rpc:
        return implement(rpc, arguments)


def test_a_good_contract_is_accepted_and_any_other_refused_by_its_code(
    pi: RealPi, scripts: Path
) -> None:
    project = pi.home.project
    (project / "a list.yaml").write_text("- id\n- task\n")
    (project / "broken.yaml").write_text("id: [\n")
    (project / "taskless.yaml").write_text("id: fix-1\n")
    engine = script(scripts / "engine", f'exec {real_engine()} "$@"')
    with pi.rpc(env={"SATYRN_ENGINE": engine}) as rpc:
        good = project / "good.yaml"
        accepted = Seen(f"OK: {good}: contract fix-1 can be worked on", error=False)
        assert implement(rpc, " good.yaml") == accepted
        assert implement(rpc, f"  {good}  ") == accepted
        refusals = {
            "": ("USAGE", "name a contract: /implement CONTRACT"),
            " missing.yaml": ("CONTRACT_UNREADABLE", f"{project / 'missing.yaml'}: cannot be read"),
            " broken.yaml": ("CONTRACT_INVALID_YAML", f"{project / 'broken.yaml'}: is not YAML"),
            " a list.yaml": ("CONTRACT_INVALID_YAML", f"{project / 'a list.yaml'}: is not a map"),
            " taskless.yaml": ("CONTRACT_MISSING_FIELD", "the field task is missing"),
            " a\0b.yaml": ("INVALID_REQUEST", "a path of the request holds a null character"),
        }
        for arguments, (code, words) in refusals.items():
            seen = implement(rpc, arguments)
            assert (seen.code, seen.error) == (code, True)
            assert words in seen.text


def test_a_project_that_went_away_under_pi_is_no_fault_of_the_engine(
    pi: RealPi, scripts: Path
) -> None:
    project = pi.home.project
    engine = script(scripts / "engine", f'exec {real_engine()} "$@"')
    with pi.rpc(env={"SATYRN_ENGINE": engine}) as rpc:
        assert implement(rpc, " good.yaml").code == "OK"
        shutil.rmtree(project)
        seen = implement(rpc, f" {project / 'good.yaml'}")
        assert (seen.code, seen.error) == ("REPO_UNAVAILABLE", True)
        assert f"{project}: is no folder" in seen.text


def test_in_print_mode_it_says_so_on_standard_error(pi: RealPi, scripts: Path) -> None:
    engine = {"SATYRN_ENGINE": script(scripts / "engine", f'exec {real_engine()} "$@"')}
    good = pi.run("/implement good.yaml", env=engine)
    assert f"OK: {pi.home.project / 'good.yaml'}: contract fix-1 can be worked on\n" in good.stderr
    refused = pi.run("/implement missing.yaml", env=engine)
    assert "CONTRACT_UNREADABLE: " in refused.stderr
    assert good.stdout == refused.stdout == ""


def test_an_engine_that_is_not_there_is_named_with_the_remedy(pi: RealPi) -> None:
    seen = once(pi, "/no/such/engine --fast")
    assert seen == Seen(
        "ENGINE_START_FAILED: the engine could not be started; tried /no/such/engine --fast "
        '(not found). Install it with "uv tool install satyrn-engine", or name it in '
        "$SATYRN_ENGINE.",
        error=True,
    )


def test_without_a_name_it_is_looked_for_on_the_path_and_then_asked_of_uvx(
    pi: RealPi, scripts: Path
) -> None:
    tools = pi.home.environment()["PATH"].partition(os.pathsep)[0]
    path = {"PATH": os.pathsep.join([str(scripts), tools])}
    with pi.rpc(env=path) as rpc:
        nothing = implement(rpc, " good.yaml")
        assert nothing.code == "ENGINE_START_FAILED"
        tried = "tried satyrn-engine (not found), uvx satyrn-engine (not found)."
        assert tried in nothing.text
        env, python = shutil.which("env"), real_engine().removeprefix("env ")
        script(scripts / "uvx", f'test "$1" = satyrn-engine && shift && exec {env} {python} "$@"')
        assert implement(rpc, " good.yaml").code == "OK"
        script(scripts / "satyrn-engine", "exit 3")
        by_exit = implement(rpc, " good.yaml")
        assert by_exit == Seen(
            "CONTRACT_UNREADABLE: satyrn-engine ended with 3 and gave no response.", error=True
        )


@pytest.mark.parametrize(
    ("does", "code", "words"),
    [
        ("exit 1", "ENGINE_CRASHED", "ended with 1."),
        ("kill -9 $$", "ENGINE_CRASHED", "ended with SIGKILL."),
        ("echo Hello", "ENGINE_MALFORMED_RESPONSE", "gave a response that cannot be understood."),
        ("exit 0", "ENGINE_MALFORMED_RESPONSE", "gave a response that cannot be understood."),
        ("exec sleep 120", "ENGINE_TIMEOUT", "gave no response within 30 s and was ended."),
    ],
    ids=["crash", "killed", "malformed", "silent", "slow"],
)
def test_an_engine_that_fails_is_told_from_a_refusal(
    pi: RealPi, scripts: Path, does: str, code: str, words: str
) -> None:
    engine = script(scripts / "engine", does)
    assert once(pi, engine) == Seen(f"{code}: {engine} {words}", error=True)
