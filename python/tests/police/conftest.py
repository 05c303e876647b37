"""A real Pi in which the police are installed, and witnesses of what they tell.

`SATYRN_POLICE_DIR`, `SATYRN_POLICE_TGZ` and `SATYRN_ENGINE_DIR` name the packages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from satyrn_engine.testing import PiHome, PiProgram, RealPi
from tests.inputs import named_path, program
from tests.police.watched import Watched, listen

__all__ = ["program"]


@pytest.fixture(scope="session")
def police() -> Path:
    return named_path("SATYRN_POLICE_DIR")


@pytest.fixture(scope="session")
def police_tarball() -> Path:
    return named_path("SATYRN_POLICE_TGZ")


@pytest.fixture(scope="session")
def engine() -> Path:
    return named_path("SATYRN_ENGINE_DIR")


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
