"""The inputs of the tests that run a real Pi, named by environment variables.

`SATYRN_PI`, `SATYRN_NODE`, `SATYRN_ENGINE_DIR` and `SATYRN_ENGINE_TGZ` are paths, relative ones
to the directory where pytest starts. Without them these tests fail: a proof that was skipped looks
like one that passed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from satyrn_engine.testing import Package, PiError, PiProgram, find_pi, read_package

# Machines that run many tests at once are slow, and a sandbox keeps nothing for the next run.
settings.register_profile(
    "sandbox", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("sandbox")

REMEDY = "run these tests as `bazel test //python/...`, which sets it"


@pytest.fixture(scope="session")
def program() -> PiProgram:
    """The Pi under test."""
    for variable in ("SATYRN_PI", "SATYRN_NODE"):
        _named_path(variable)
    try:
        return find_pi()
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def engine() -> Package:
    """The engine package, as a folder."""
    try:
        return read_package(_named_path("SATYRN_ENGINE_DIR"))
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def tarball() -> Path:
    """The engine package, packed."""
    return _named_path("SATYRN_ENGINE_TGZ")


def _named_path(variable: str) -> Path:
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} is not set: {REMEDY}", pytrace=False)
    path = Path(value).absolute()
    if not path.exists():
        pytest.fail(f"{variable} names {value}, which does not exist: {REMEDY}", pytrace=False)
    return path
