"""What `bazel run //tools/lint:fix` says when it can't work."""

from __future__ import annotations

import sys

import pytest

from tools.lint import fix

TOOLS = ["files", "ruff", "node", "biome", "buildifier"]


@pytest.mark.parametrize("arguments", [[], TOOLS[:-1], [*TOOLS, "more"]])
def test_wrong_arguments_are_answered_with_the_command_to_use(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["fix.py", *arguments])
    assert fix.main() == 2
    assert capsys.readouterr().err == (
        "This program takes no arguments: tools/bazel run //tools/lint:fix\n"
    )


def test_outside_of_bazel_run_nothing_is_touched_and_the_command_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BUILD_WORKSPACE_DIRECTORY", raising=False)
    monkeypatch.setattr(sys, "argv", ["fix.py", *TOOLS])
    assert fix.main() == 2
    assert capsys.readouterr().err.endswith(": tools/bazel run //tools/lint:fix\n")
