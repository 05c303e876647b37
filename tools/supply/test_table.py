"""The real table: all that is shipped is in it, in the versions of the lock."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.supply import locks

ROWS = {
    cells[1]: cells[2]
    for line in Path(os.environ["TABLE"]).read_text(encoding="utf-8").splitlines()[2:]
    if (cells := [cell.strip() for cell in line.split("|")])
}
LOCK = "requirements_lock.txt"


def test_both_packages_and_the_wheel_are_in_the_table() -> None:
    assert {"satyrn-engine (npm)", "satyrn-police (npm)", "satyrn-engine (PyPI)"} <= set(ROWS)


def test_all_that_the_wheel_asks_for_is_in_the_table_extras_too() -> None:
    project = tomllib.loads(Path("python/pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = {canonicalize_name(Requirement(text).name) for group in groups for text in group}
    assert len(asked) >= 10
    assert asked <= set(ROWS)


def test_what_the_requirements_ask_for_themselves_is_in_the_table_too() -> None:
    # jinja2 needs markupsafe, and rich needs markdown-it-py, which needs mdurl.
    assert {"markupsafe", "markdown-it-py", "mdurl"} <= set(ROWS)


def test_the_versions_are_those_of_the_lock() -> None:
    locked = {
        pin.name: pin.version for pin in locks.pins(LOCK, Path(LOCK).read_text(encoding="utf-8"))
    }
    for name, version in ROWS.items():
        if " " not in name:
            known = re.escape(locked[name]) if name in locked else r"not in the lock; read in .+"
            assert re.fullmatch(known, version)


def test_what_something_without_a_lock_needs_is_in_the_table_too() -> None:
    # distributed needs dask, which needs importlib-metadata on Python 3.11, and that needs these.
    assert {"importlib-metadata", "zipp", "lazy-importer"} <= set(ROWS)
