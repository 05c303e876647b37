"""Everything that the build fetches is pinned by a digest, and no lock names an address."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NPM_LOCKS = [
    "package-lock.json",
    "tools/pi/newest/package-lock.json",
    "tools/pi/oldest/package-lock.json",
    "tools/typedoc/package-lock.json",
]


def _python_pins() -> dict[str, tuple[str, int]]:
    """Return the version and the number of digests of each distribution in the lock."""
    text = Path("requirements_lock.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    pins: dict[str, tuple[str, int]] = {}
    for line in text.splitlines():
        if line and line[0].isalnum():
            pinned = Requirement(re.split(r"\s--hash", line)[0])
            [version] = [spec.version for spec in pinned.specifier if spec.operator == "=="]
            pins[canonicalize_name(pinned.name)] = (version, line.count("--hash=sha256:"))
    return pins


def test_every_python_distribution_is_pinned_by_digests() -> None:
    pins = _python_pins()
    assert pins
    assert not [name for name, (_, digests) in pins.items() if not digests]


def test_the_lock_of_python_holds_all_that_is_asked_for_in_a_version_that_fits() -> None:
    pins = _python_pins()
    lines = Path("requirements.in").read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    stale = [
        str(each)
        for each in wanted
        if (found := pins.get(canonicalize_name(each.name))) is None
        or not each.specifier.contains(found[0], prereleases=True)
    ]
    assert not stale, f"make requirements_lock.txt again (CONTRIBUTING.md): {stale}"


@pytest.mark.parametrize("lock", NPM_LOCKS)
def test_every_npm_package_is_pinned_by_a_digest(lock: str) -> None:
    packages = json.loads(Path(lock).read_text(encoding="utf-8"))["packages"]
    fetched = {path: entry for path, entry in packages.items() if path and not entry.get("link")}
    assert fetched
    assert not [path for path, entry in fetched.items() if "integrity" not in entry]


@pytest.mark.parametrize("lock", NPM_LOCKS)
def test_the_lock_of_npm_holds_all_that_package_json_asks_for(lock: str) -> None:
    manifest = json.loads(Path(lock).with_name("package.json").read_text(encoding="utf-8"))
    locked = json.loads(Path(lock).read_text(encoding="utf-8"))["packages"][""]
    for key in ("dependencies", "devDependencies"):
        assert locked.get(key) == manifest.get(key), "make the lock again (CONTRIBUTING.md)"


@pytest.mark.parametrize("lock", [*NPM_LOCKS, "requirements_lock.txt"])
def test_no_lock_names_an_address(lock: str) -> None:
    text = Path(lock).read_text(encoding="utf-8")
    # npm keeps links to people who fund a package; those are not where anything is fetched.
    kept = re.sub(r'"funding": (\{[^}]*\}|\[[^\]]*\]|"[^"]*")', "", text)
    assert not re.findall(r"https?://\S+", kept)
