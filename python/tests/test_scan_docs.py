"""The documentation of the command: its examples are run, and no option is missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from satyrn_engine import cli
from tests.sessions import chain, header, repeated, turn, user, write

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "scan.md"
if not PAGE.exists():
    PAGE = Path(os.path.abspath(__file__)).parents[2] / "docs" / "guides" / "scan.md"  # noqa: PTH100

EXAMPLES = re.findall(r"```(console|python)\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the examples expect it, and Pi's own."""
    looping = [header(), *chain([user(), *repeated(7)])]
    write(tmp_path / "recorded" / "looping.jsonl", looping)
    write(tmp_path / "agent" / "sessions" / "a" / "s.jsonl", [header(), *chain(turn())])
    (tmp_path / "contract.yaml").write_text("id: one\ntask: Do it.\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    return tmp_path


def _environment(folder: Path) -> dict[str, str]:
    node = os.environ.get("SATYRN_NODE")
    return {
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PI_CODING_AGENT_DIR": str(folder / "agent"),
        "COLUMNS": "160",
        **({"SATYRN_NODE": str(Path(node).absolute())} if node else {}),
    }


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_the_examples_work_as_they_stand(folder: Path, kind: str, text: str) -> None:
    commands = [text]
    program = ["python", "-"]
    if kind == "console":
        program = ["sh"]
        # The tests have their packages where they have them.
        lines = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
        commands = [line for line in lines if not line.startswith("export PYTHONPATH")]
    for command in commands:
        done = subprocess.run(
            program,
            input=command,
            text=True,
            capture_output=True,
            cwd=folder,
            env=_environment(folder),
            timeout=120,
        )
        assert done.returncode == 0, command + done.stderr
        assert done.stdout or "--output" in command


def test_every_option_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scan", "--help"]) == 0
    # `--mode json` is an option of Pi's.
    options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--mode"}
    assert options > {"--guard", "--html", "--cache"}
    documented = set(re.findall(r"^\| `(--[a-z-]+)`", PAGE.read_text("utf-8"), re.MULTILINE))
    assert documented == options
