"""Installing into a real Pi: from the folder and from the tarball, and away again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine.testing import (
    InstalledPackage,
    Package,
    PiHome,
    PiProgram,
    RealPi,
    ScriptedModel,
    bash,
    read_package,
    source_of_tarball,
    tree_digest,
    tree_listing,
)

pytestmark = pytest.mark.integration

COMMAND = "echo ran >> runs.txt"
DISPATCH = Path(__file__).with_name("dispatch_installed.mjs")

# Seen: 0.79.1 does not, 0.79.10 does.
FIRST_TO_LOAD_TARBALLS_OFFLINE = (0, 79, 10)

# What npm keeps of its project in Pi's agent directory after its only package was removed.
EMPTY_NPM_PROJECT = {
    "npm",
    "npm/.gitignore",
    "npm/node_modules",
    "npm/node_modules/.package-lock.json",
    "npm/package-lock.json",
    "npm/package.json",
}


@dataclass(frozen=True)
class Installed:
    """What installing into a Pi came to, whose user also has a Pi of their own.

    Attributes:
        pi: That Pi.
        at_first: What was in its agent directory after a first run, before installing.
        unguarded: Which of six identical calls were refused in that run.
        source: What `pi install` was told.
        settings: Its settings afterwards.
        package: The package where Pi lists it, its manifest's entries resolved.
        refused: Which of six identical calls were refused in a run.
        changed: Which of the folders that must be left alone did change.
    """

    pi: RealPi
    at_first: set[str]
    unguarded: list[bool]
    source: str
    settings: Any
    package: Package
    refused: list[bool]
    changed: list[Path]


@dataclass(frozen=True)
class Removed:
    """What removing it again came to.

    Attributes:
        installed: What had been installed.
        listed: What Pi lists afterwards.
        left: The files in the agent directory, by their relative path.
        refused: Which of six identical calls were refused in a run.
        changed: Which of the folders that must be left alone did change.
    """

    installed: Installed
    listed: tuple[InstalledPackage, ...]
    left: dict[str, str]
    refused: list[bool]
    changed: list[Path]


@pytest.fixture(scope="module", params=["folder", "tarball"])
def installed(
    request: pytest.FixtureRequest, program: PiProgram, engine: Package, tarball: Path
) -> Iterator[Installed]:
    """Install once; from the folder, and from the tarball."""
    from_folder = request.param == "folder"
    source = str(engine.folder) if from_folder else source_of_tarball(engine.name, tarball)
    offline = program.release >= FIRST_TO_LOAD_TARBALLS_OFFLINE
    with PiHome(program, offline=offline) as home:
        give_own_settings(home.home)
        before = digests(home, engine)
        pi = RealPi(home)
        unguarded = run_six_times(pi)
        home.clear()
        at_first = set(tree_listing(home.agent_dir))
        pi.install(source)
        settings = json.loads(home.settings.read_text())
        (listed,) = pi.list()
        package = read_package(listed.folder)
        refused = run_six_times(pi)
        changed = changes(before, home, engine)
        yield Installed(pi, at_first, unguarded, source, settings, package, refused, changed)


@pytest.fixture(scope="module")
def removed(installed: Installed, engine: Package) -> Removed:
    """Remove it again. Uses up `installed`: the tests that need that one stand above."""
    pi = installed.pi
    pi.home.clear()
    before = digests(pi.home, engine)
    pi.remove(installed.source)
    left = {
        path.relative_to(pi.home.agent_dir).as_posix(): path.read_text() if path.is_file() else ""
        for path in pi.home.agent_dir.rglob("*")
    }
    listed = pi.list()
    refused = run_six_times(pi)
    return Removed(installed, listed, left, refused, changes(before, pi.home, engine))


def give_own_settings(home: Path) -> None:
    """Put into `home` what the user's own Pi would have there."""
    own = home / ".pi" / "agent"
    (own / "sessions").mkdir(parents=True)
    (own / "settings.json").write_text('{"packages": ["npm:something-else"]}\n')
    (own / "sessions" / "old.jsonl").write_text('{"type": "session", "version": 3}\n')


def digests(home: PiHome, engine: Package) -> dict[Path, str]:
    """Return digests of the user's home and of the package."""
    return {folder: tree_digest(folder) for folder in (home.home, engine.folder)}


def changes(before: dict[Path, str], home: PiHome, engine: Package) -> list[Path]:
    """Return the folders whose digest is no longer what it was."""
    return [folder for folder, digest in digests(home, engine).items() if before[folder] != digest]


def run_six_times(pi: RealPi) -> list[bool]:
    """Run six identical commands and return which results were errors."""
    with ScriptedModel([bash(COMMAND)] * 6) as model:
        pi.home.use_model(model)
        return [result.is_error for result in pi.run("Go on.").session.results]


def dispatch(program: PiProgram, package: Package, times: int) -> Any:  # noqa: ANN401 - JSON
    """Dispatch one call so many times through the handlers that the installed files register."""
    arguments = [str(times), json.dumps({"command": COMMAND}), *map(str, package.extensions)]
    done = subprocess.run(
        [str(program.node), "--no-warnings", str(DISPATCH), *arguments],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_settings_name_the_package(installed: Installed, engine: Package) -> None:
    (named,) = installed.settings["packages"]
    # A folder is named by its path relative to the settings file.
    folder = (installed.pi.home.agent_dir / named).resolve()
    assert named == installed.source or folder == engine.folder.resolve()


def test_the_installed_manifest_resolves_to_the_shipped_extensions(
    installed: Installed, engine: Package
) -> None:
    package = installed.package
    assert (package.name, package.version) == (engine.name, engine.version)
    shipped = [path.read_bytes() for path in engine.extensions]
    assert [path.read_bytes() for path in package.extensions] == shipped


def test_a_tarball_is_copied_and_a_folder_is_not(installed: Installed, engine: Package) -> None:
    folder = installed.package.folder
    if installed.source.startswith("npm:"):
        assert folder.is_relative_to(installed.pi.home.root)
    else:
        assert folder.resolve() == engine.folder.resolve()


def test_without_the_package_the_sixth_identical_call_runs(installed: Installed) -> None:
    assert installed.unguarded == [False] * 6


def test_the_sixth_identical_call_in_a_run_is_refused(installed: Installed) -> None:
    assert installed.refused == [False] * 5 + [True]


def test_the_installed_extension_registers_one_handler_that_refuses_the_sixth_call(
    installed: Installed, program: PiProgram
) -> None:
    outcome = dispatch(program, installed.package, times=6)
    *admitted, refused = outcome["verdicts"]
    assert outcome["handlers"] == 1
    assert admitted == [None] * 5
    assert refused["block"] is True
    assert refused["reason"]
    telemetry = {"tool": "bash", "repeats": 5, "blockedSoFar": 1}
    assert outcome["entries"] == [{"type": "loop_broken", "data": telemetry}]


def test_the_installed_handler_lets_five_calls_pass_and_appends_nothing(
    installed: Installed, program: PiProgram
) -> None:
    outcome = dispatch(program, installed.package, times=5)
    assert outcome == {"handlers": 1, "verdicts": [None] * 5, "entries": []}


def test_installing_and_running_leave_the_users_own_settings_alone(installed: Installed) -> None:
    assert installed.changed == []


def test_removing_leaves_no_package_listed_or_named(removed: Removed, engine: Package) -> None:
    assert removed.listed == ()
    assert json.loads(removed.left["settings.json"]) == {"packages": []}
    assert [path for path, text in removed.left.items() if engine.name in path + text] == []


def test_removing_leaves_no_file_but_npms_own_of_an_empty_project(removed: Removed) -> None:
    home = removed.installed.pi.home
    folder = removed.installed.package.folder
    # Old versions of Pi install into npm's global folder, newer ones into a project of npm's.
    npm_project = EMPTY_NPM_PROJECT if folder.is_relative_to(home.agent_dir) else set()
    assert set(removed.left) == removed.installed.at_first | {"settings.json"} | npm_project
    assert [path for path in home.npm_prefix.rglob("*") if path.is_file()] == []


def test_after_removing_the_sixth_identical_call_runs(removed: Removed) -> None:
    assert removed.refused == [False] * 6


def test_removing_leaves_the_users_own_settings_and_the_package_alone(removed: Removed) -> None:
    assert removed.changed == []
