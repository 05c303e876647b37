"""The launcher runs with nothing but the Python that a Debian has."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).resolve().parents[1] / "launcher"
MODULES = sorted(LAUNCHER.glob("*.py"))


def test_there_is_a_launcher() -> None:
    assert "cli.py" in [module.name for module in MODULES]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_is_python_3_9_and_imports_only_the_standard_library(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"), feature_version=(3, 9))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").partition(".")[0])
    assert names <= sys.stdlib_module_names
