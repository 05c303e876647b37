"""What the build fetches is pinned by a digest, and no lock names an address.

Without a digest here are: Bazel's modules, which MODULE.bazel names in exact versions and whose
digests the module registry holds (a MODULE.bazel.lock would name that registry); the Bazel that
Bazelisk fetches, in the version of .bazelversion; Debian's packages of the launcher's private root,
which the archive signs; and what continuous integration installs with apt-get and brew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePosixPath

import pytest

from tools.supply import downloads, locks, module_file

FILES = Path(os.environ["FILE_LIST"]).read_text(encoding="utf-8").splitlines()
LOCKS = [file for file in FILES if locks.is_lock(file)]
NPM = [file for file in LOCKS if file.endswith(".json")]
MANIFESTS = [file for file in FILES if PurePosixPath(file).name == "package.json"]
WISHES = [file for file in FILES if file.endswith(".in")]
STARLARK = [file for file in FILES if file.endswith((".bzl", "MODULE.bazel"))]
LAUNCHER = [file for file in FILES if file.startswith("tools/airgap/launcher/")]


def _read(file: str) -> str:
    return Path(file).read_text(encoding="utf-8")


def test_the_known_locks_are_found() -> None:
    assert {"package-lock.json", "requirements_lock.txt"} <= set(LOCKS)
    assert {"tools/pi/newest/package-lock.json", "tools/pi/oldest/package-lock.json"} <= set(LOCKS)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_everything_by_digests_and_names_no_address(lock: str) -> None:
    assert locks.faults(lock, _read(lock)) == [], locks.REMEDY


@pytest.mark.parametrize("lock", NPM)
def test_the_lock_of_npm_holds_all_that_package_json_asks_for(lock: str) -> None:
    manifest = _read(str(PurePosixPath(lock).with_name("package.json")))
    assert locks.npm_staleness(lock, _read(lock), manifest) == [], locks.REMEDY


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_what_npm_is_asked_for_has_a_lock(manifest: str) -> None:
    content = json.loads(_read(manifest))
    fetched = [key for key in ("dependencies", "devDependencies") if content.get(key)]
    lock = str(PurePosixPath(manifest).with_name("package-lock.json"))
    assert not fetched or lock in LOCKS, f"{manifest} asks for packages: make its lock"


@pytest.mark.parametrize("wished", WISHES)
def test_the_lock_of_python_holds_all_that_is_asked_for_in_a_version_that_fits(wished: str) -> None:
    lock = wished.removesuffix(".in") + "_lock.txt"
    assert lock in LOCKS
    assert locks.python_staleness(lock, _read(lock), _read(wished)) == [], locks.REMEDY


def test_bazel_is_told_to_fetch_only_what_is_pinned() -> None:
    text = _read("MODULE.bazel")
    assert "bazel_dep(" in text
    assert module_file.faults(text, LOCKS) == []
    assert "common --lockfile_mode=off" in _read(".bazelrc").splitlines()


@pytest.mark.parametrize("file", STARLARK)
def test_what_a_file_of_bazel_downloads_has_a_digest(file: str) -> None:
    assert downloads.faults(file, _read(file)) == []


def test_the_launcher_has_apt_check_the_signatures_of_the_archive() -> None:
    assert LAUNCHER
    text = "\n".join(map(_read, LAUNCHER)).lower()
    assert "--keyring=" in text
    for way_out in (
        "trusted=yes",
        "allowunauthenticated",
        "allow-unauthenticated",
        "allowinsecure",
    ):
        assert way_out not in text
