"""The temporary home: what Pi gets to see, and what is left of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine.testing import PROVIDER, PiHome, PiProgram, ScriptedModel


@pytest.fixture
def made_up(tmp_path: Path) -> PiProgram:
    """A program that is never started; its npm says with what it was started."""
    node = tmp_path / "node with spaces"
    node.write_text('#!/bin/sh\necho node "$@"\n')
    node.chmod(0o755)
    npm = (str(node), "npm-cli.js")
    return PiProgram(("pi",), "1.6.0", node, "24.15.0", npm)


def test_the_environment_is_built_from_nothing(
    made_up: PiProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("npm_config_registry", "elsewhere")
    monkeypatch.setenv("PI_PACKAGE_DIR", "elsewhere")
    with PiHome(made_up) as home:
        environment = home.environment()
        assert not {"ANTHROPIC_API_KEY", "npm_config_registry", "PI_PACKAGE_DIR"} & set(environment)
        assert environment["HOME"] == str(home.home)
        assert environment["PI_CODING_AGENT_DIR"] == str(home.agent_dir)


def test_every_folder_that_the_environment_names_lies_inside(made_up: PiProgram) -> None:
    with PiHome(made_up) as home:
        paths = [value for name, value in home.environment().items() if name != "PATH"]
        absolute = [Path(value) for value in paths if value.startswith("/")]
        assert len(absolute) >= 6
        assert all(path.is_relative_to(home.root) for path in absolute)


def test_node_and_npm_on_path_are_those_of_the_program(made_up: PiProgram) -> None:
    with PiHome(made_up) as home:
        first = home.environment()["PATH"].split(os.pathsep)[0]
        for name, words in (("node", "node a b"), ("npm", "node npm-cli.js a b")):
            said = subprocess.run([f"{first}/{name}", "a", "b"], capture_output=True, check=True)
            assert said.stdout.decode().strip() == words


@pytest.mark.parametrize(("offline", "flag"), [(True, "1"), (False, "0")])
def test_pi_is_offline_unless_told_otherwise(
    made_up: PiProgram, *, offline: bool, flag: str
) -> None:
    with PiHome(made_up, offline=offline) as home:
        assert home.environment()["PI_OFFLINE"] == flag


def test_the_model_is_declared_with_its_address(made_up: PiProgram) -> None:
    with PiHome(made_up) as home, ScriptedModel([]) as model:
        home.use_model(model, reasoning=False)
        declared = json.loads((home.agent_dir / "models.json").read_text())
        provider = declared["providers"][PROVIDER]
        assert provider["baseUrl"] == model.base_url
        assert [(item["id"], item["reasoning"]) for item in provider["models"]] == [
            ("scripted", False)
        ]


def test_nothing_is_left_not_even_what_was_made_unwritable(
    made_up: PiProgram, tmp_path: Path
) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    with PiHome(made_up, parent) as home:
        locked = home.project / "locked"
        locked.mkdir()
        (locked / "file").touch()
        locked.chmod(0o500)
        assert list(parent.iterdir()) == [home.root]
    assert list(parent.iterdir()) == []
    home.close()


def test_a_fault_inside_the_block_leaves_nothing_either(made_up: PiProgram, tmp_path: Path) -> None:
    parent = tmp_path / "parent"
    parent.mkdir()
    with pytest.raises(KeyboardInterrupt), PiHome(made_up, parent):
        raise KeyboardInterrupt
    assert list(parent.iterdir()) == []


def test_an_interruption_while_the_folder_is_made_leaves_nothing_either(
    made_up: PiProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = os.mkdir

    def interrupted(path: Path, *how: int) -> None:
        make(path, *how)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", interrupted)
    with pytest.raises(KeyboardInterrupt):
        PiHome(made_up, tmp_path)
    monkeypatch.undo()
    assert list(tmp_path.glob("satyrn-*")) == []


def test_a_signal_while_the_folder_is_removed_waits_until_nothing_is_left(
    made_up: PiProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = os.rmdir

    def signalled(*place: Any, **how: Any) -> None:  # noqa: ANN401
        signal.raise_signal(signal.SIGINT)
        remove(*place, **how)

    home = PiHome(made_up, tmp_path)
    monkeypatch.setattr(os, "rmdir", signalled)
    with pytest.raises(KeyboardInterrupt):
        home.close()
    monkeypatch.undo()
    assert list(tmp_path.glob("satyrn-*")) == []


def test_session_files_come_oldest_first_whatever_folder_they_are_in(made_up: PiProgram) -> None:
    with PiHome(made_up) as home:
        assert home.session_files() == ()
        for folder, name in (("b", "2026-01-01.jsonl"), ("a", "2026-01-02.jsonl")):
            place = home.agent_dir / "sessions" / folder
            place.mkdir(parents=True)
            (place / name).touch()
        assert [path.name for path in home.session_files()] == [
            "2026-01-01.jsonl",
            "2026-01-02.jsonl",
        ]
