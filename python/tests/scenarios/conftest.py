"""The inputs of the tests that play scenarios in a real Pi, named by environment variables.

`SATYRN_PI`, `SATYRN_NODE`, `SATYRN_POLICE_DIR` and `SATYRN_ENGINE_DIR` are paths, relative ones to
the directory where pytest starts. Without them these tests fail: a proof that was skipped looks
like one that passed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from satyrn_engine.testing import PiError, PiHome, PiProgram, find_pi
from tests.scenarios.played import guarded_home

REMEDY = "run these tests as `bazel test //python/...`, which sets it"
CHECKOUT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def program() -> PiProgram:
    for variable in ("SATYRN_PI", "SATYRN_NODE"):
        named_path(variable)
    try:
        return find_pi()
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


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


def named_path(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} is not set: {REMEDY}", pytrace=False)
    path = Path(value).absolute()
    if not path.exists():
        pytest.fail(f"{variable} names {value}, which does not exist: {REMEDY}", pytrace=False)
    return path
