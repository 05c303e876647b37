"""The inputs of the tests that run a real Pi, named by environment variables.

Each variable holds a path, a relative one to the directory where pytest starts. Without them these
tests fail: a proof that was skipped looks like one that passed.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from satyrn_engine.testing import PiError, PiProgram, find_pi

REMEDY = "run these tests as `bazel test //python/...`, which sets it"


@pytest.fixture(scope="session")
def program() -> PiProgram:
    """The Pi under test, which `SATYRN_PI` and `SATYRN_NODE` name."""
    for variable in ("SATYRN_PI", "SATYRN_NODE"):
        named_path(variable)
    try:
        return find_pi()
    except PiError as error:
        pytest.fail(str(error), pytrace=False)


def named_path(variable: str) -> Path:
    """Return the path that a variable names, or fail the test and say what to do."""
    value = os.environ.get(variable)
    if not value:
        pytest.fail(f"{variable} is not set: {REMEDY}", pytrace=False)
    path = Path(value).absolute()
    if not path.exists():
        pytest.fail(f"{variable} names {value}, which does not exist: {REMEDY}", pytrace=False)
    return path
