"""Every file of the checkout is read by its linters.

The linters read the files that the packages' `lint_files` list. This test compares those lists
with the checkout itself, so a new folder can't be forgotten and a new kind of file needs a linter.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.lint import kinds


def _checkout() -> Path:
    """Return the checkout: the runfiles' links lead there, and the sandbox shows it read-only."""
    return Path("MODULE.bazel").resolve().parent


def _listed() -> set[str]:
    return set(Path(os.environ["FILE_LIST"]).read_text().splitlines())


def _files_of(checkout: Path) -> set[str]:
    """Return the checkout's files: as Git knows them, or all of them where there is no Git."""
    if (checkout / ".git").exists():
        command = ["git", "-c", f"safe.directory={checkout}", "ls-files", "-z"]
        command += ["--cached", "--others", "--exclude-standard"]
        out = subprocess.run(command, cwd=checkout, capture_output=True, check=True).stdout
        return {n for n in out.decode().split("\0") if n and (checkout / n).is_file()}
    skipped = {".bazel", "dist", "node_modules", "__pycache__"}
    found = set()
    for folder, folders, names in os.walk(checkout):
        folders[:] = [f for f in folders if f not in skipped]
        found |= {str(Path(folder, n).relative_to(checkout)) for n in names}
    return found - {"user.bazelrc"}


def test_every_file_of_the_checkout_is_listed_for_the_linters() -> None:
    missing = sorted(_files_of(_checkout()) - _listed())
    assert not missing, f"in no package's lint_files: {missing}"


def test_every_listed_file_is_of_a_kind_that_has_a_linter_or_is_prose() -> None:
    unknown = sorted(p for p in _listed() if kinds.linters(p) is None)
    assert not unknown, f"add a linter for these to tools/lint/kinds.py: {unknown}"


def test_every_typescript_file_is_type_checked() -> None:
    checked = set(Path(os.environ["TYPE_CHECKED"]).read_text().splitlines())
    missing = sorted(p for p in _listed() if "tsc" in (kinds.linters(p) or ()) and p not in checked)
    assert not missing, f"in no ts_check_test of //tools/lint:type_checked: {missing}"


def test_what_a_linter_reads_is_not_called_prose_as_well() -> None:
    assert not kinds.PROSE & kinds.BY_SUFFIX.keys()


@pytest.mark.parametrize("name", ["photo.xyz", "script", "a/b.sh"])
def test_a_file_of_unknown_kind_is_not_taken_for_prose(name: str) -> None:
    assert kinds.linters(name) is None


@pytest.mark.parametrize("name", [".bazelrc", "a/README.md", "tools/bazel", "package-lock.json"])
def test_prose_needs_no_linter_of_its_own(name: str) -> None:
    assert kinds.linters(name) == ()
