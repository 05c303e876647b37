"""What the check of a package lets through, and what it finds out."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

MANIFEST: dict[str, Any] = {
    "name": "it",
    "version": "1.0.0",
    "license": "Apache-2.0",
    "type": "module",
    "keywords": ["pi-package"],
    "pi": {"extensions": ["./it.ts"]},
}
FILES = ["package.json", "it.ts"]


def check(
    folder: Path, manifest: dict[str, Any], files: list[str], expected: list[str]
) -> list[str]:
    """The lines that the check prints of a package with these files."""
    with tarfile.open(folder / "it.tgz", "w:gz") as archive:
        for file in files:
            content = json.dumps(manifest).encode() if file == "package.json" else b"text"
            member = tarfile.TarInfo(f"package/{file}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    program = Path(__file__).with_name("check_package.py")
    done = subprocess.run(
        [sys.executable, program, folder / "it.tgz", "it", "1.0.0", *expected],
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1 if lines else 0, "")
    return lines


def test_a_package_with_its_files_alone_is_in_order(tmp_path: Path) -> None:
    assert check(tmp_path, {**MANIFEST, "peerDependencies": {"pi": "*"}}, FILES, FILES) == []


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ([*FILES, "more.ts"], "more.ts is in the package, and a user doesn't need it"),
        (FILES[:1], "it.ts is missing from the package"),
    ],
)
def test_a_file_too_many_or_too_few_is_a_fault(
    tmp_path: Path, files: list[str], fault: str
) -> None:
    assert f"it: {fault}" in check(tmp_path, MANIFEST, files, FILES)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dependencies", {"left": "1"}),
        ("devDependencies", {"left": "1"}),
        ("optionalDependencies", {"left": "1"}),
        ("bundledDependencies", ["left"]),
        ("bundleDependencies", ["left"]),
        ("bundleDependencies", True),
        ("scripts", {"install": "node it.ts"}),
    ],
)
def test_what_would_install_or_bring_something_is_a_fault(
    tmp_path: Path, key: str, value: object
) -> None:
    [line] = check(tmp_path, {**MANIFEST, key: value}, FILES, FILES)
    assert line.startswith(f"it: package.json: {key} must not be there")


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("node_modules/left/it.js", True),
        ("lib/node_modules/left/it.js", True),
        ("lib/about_node_modules.md", False),
    ],
)
def test_a_file_of_another_package_is_a_fault_even_if_it_is_expected(
    tmp_path: Path, file: str, *, told: bool
) -> None:
    files = [*FILES, file]
    fault = f"it: {file} is of another package, and this one must bring none along"
    assert check(tmp_path, MANIFEST, files, files) == [fault] * told
