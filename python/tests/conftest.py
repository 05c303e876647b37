"""The packages, which `SATYRN_ENGINE_DIR`, `SATYRN_ENGINE_TGZ` and `SATYRN_POLICE_DIR` name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from satyrn_engine.testing import Package, PiError, read_package
from tests.inputs import named_path, program

__all__ = ["program"]

# Machines that run many tests at once are slow, and a sandbox keeps nothing for the next run.
settings.register_profile(
    "sandbox", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("sandbox")


@pytest.fixture(scope="session")
def engine() -> Package:
    """The engine package, as a folder."""
    try:
        return read_package(named_path("SATYRN_ENGINE_DIR"))
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def police() -> Package:
    """The police package, as a folder."""
    try:
        return read_package(named_path("SATYRN_POLICE_DIR"))
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def tarball() -> Path:
    """The engine package, packed."""
    return named_path("SATYRN_ENGINE_TGZ")
