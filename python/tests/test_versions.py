"""One version for everything that is released together."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

from satyrn_engine._version import VERSION


def _text(variable: str) -> str:
    return Path(os.environ[variable]).read_text("utf-8")


def test_the_python_package_says_what_its_metadata_says() -> None:
    assert tomllib.loads(_text("PYPROJECT"))["project"]["version"] == VERSION


def test_the_pi_packages_have_the_version_of_the_command() -> None:
    # `/implement` asks the command, so they are released together.
    for variable in ("ENGINE_PACKAGE", "POLICE_PACKAGE"):
        assert json.loads(_text(variable))["version"] == VERSION


def test_the_module_has_it_too() -> None:
    assert re.findall(r'^    version = "(.*)",$', _text("MODULE"), re.MULTILINE)[0] == VERSION
