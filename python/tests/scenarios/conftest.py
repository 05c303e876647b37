"""Real Pis, each with one guard, that play the scenarios.

`SATYRN_POLICE_DIR` and `SATYRN_ENGINE_DIR` name the packages.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from satyrn_engine.testing import PiHome, PiProgram
from tests.inputs import named_path, program
from tests.scenarios.played import guarded_home

__all__ = ["program"]

CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the guards and of the replay: Node.js would follow links out of the sandbox."""
    copy = tmp_path_factory.mktemp("sources")
    for folder in ("engine", "police", "replay", "fixtures"):
        ignored = shutil.ignore_patterns("node_modules")
        shutil.copytree(CHECKOUT / folder, copy / folder, ignore=ignored)
    (copy / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return copy


@pytest.fixture(scope="session")
def police_home(program: PiProgram) -> Iterator[PiHome]:
    with guarded_home(program, named_path("SATYRN_POLICE_DIR")) as home:
        yield home


@pytest.fixture(scope="session")
def engine_home(program: PiProgram) -> Iterator[PiHome]:
    with guarded_home(program, named_path("SATYRN_ENGINE_DIR")) as home:
        yield home
