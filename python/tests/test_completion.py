"""Completion in a shell: what the command installs, a real Bash uses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.command import environment, run

COMPLETE = """
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_satyrn_engine
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script for Bash, installed into a home of its own."""
    home = tmp_path_factory.mktemp("home")
    done = run("--install-completion", "--shell", "bash", HOME=str(home))
    assert done.returncode == 0, done.stderr.decode()
    path = home / ".local" / "share" / "bash-completion" / "completions" / "satyrn-engine"
    assert str(path) in done.stdout.decode()
    assert str(path) in (home / ".bashrc").read_text("utf-8")
    return path


def completed(script: Path, *words: str, cwd: Path | None = None) -> list[str]:
    """Return what Bash offers for the last word."""
    done = subprocess.run(
        ["bash", "-c", COMPLETE, "bash", str(script), "satyrn-engine", *words],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=cwd,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["sc"], ["scan"]),
        (["scan", "--gu"], ["--guard"]),
        (["scan", "--clu"], ["--cluster"]),
        (["scan", "--guard", ""], ["engine", "police"]),
        (["scan", "--guard", "pol"], ["police"]),
        (["check", "--gu"], []),
    ],
)
def test_bash_completes_commands_options_and_their_values(
    script: Path, words: list[str], offered: list[str]
) -> None:
    assert completed(script, *words) == offered


@pytest.mark.parametrize(
    "words",
    [
        ["scan"],
        ["scan", "earlier.jsonl"],
        ["scan", "--html"],
        ["tune"],
        ["tune", "--labels"],
        ["fixture"],
        ["fixture", "check"],
        ["check"],
        ["check", "contract.yaml", "--repo"],
    ],
)
def test_bash_completes_the_names_of_files(script: Path, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "a-session.jsonl").touch()
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "other").touch()
    offered = completed(script, *words, "a-", cwd=tmp_path)
    assert sorted(offered) == ["a-folder", "a-session.jsonl"]


def test_the_shell_must_be_known(tmp_path: Path) -> None:
    done = run("--install-completion", "--shell", "bogus", HOME=str(tmp_path))
    assert done.returncode == 2
    assert "bogus" in done.stderr.decode()
    assert list(tmp_path.iterdir()) == []
