"""A real Pi in which the police are installed, and witnesses of what they tell.

`SATYRN_PI`, `SATYRN_NODE`, `SATYRN_POLICE_DIR`, `SATYRN_POLICE_TGZ` and `SATYRN_ENGINE_DIR` are
paths, relative ones to the directory where pytest starts. Without them these tests fail: a proof
that was skipped looks like one that passed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from satyrn_engine.testing import PiError, PiHome, PiProgram, RealPi, find_pi
from tests.police.watched import Watched, listen

REMEDY = "run these tests as `bazel test //python/...`, which sets it"


@pytest.fixture(scope="session")
def program() -> PiProgram:
    for variable in ("SATYRN_PI", "SATYRN_NODE"):
        _named_path(variable)
    try:
        return find_pi()
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def police() -> Path:
    return _named_path("SATYRN_POLICE_DIR")


@pytest.fixture(scope="session")
def police_tarball() -> Path:
    return _named_path("SATYRN_POLICE_TGZ")


@pytest.fixture(scope="session")
def engine() -> Path:
    return _named_path("SATYRN_ENGINE_DIR")


@pytest.fixture(scope="session")
def home(program: PiProgram, police: Path) -> Iterator[PiHome]:
    """A home in which the police and a listener are."""
    with PiHome(program) as home:
        RealPi(home).install(police)
        listen(home)
        yield home


@pytest.fixture
def watched(home: PiHome) -> Watched:
    """The home, with nothing left of the test before."""
    return Watched(home).clear()


def _named_path(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} is not set: {REMEDY}", pytrace=False)
    path = Path(value).absolute()
    if not path.exists():
        pytest.fail(f"{variable} names {value}, which does not exist: {REMEDY}", pytrace=False)
    return path
