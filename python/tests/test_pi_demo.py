"""The demonstration as a newcomer runs it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from satyrn_engine.testing import Package, PiProgram

pytestmark = pytest.mark.integration

SECONDS = 120.0


@pytest.fixture
def environment(program: PiProgram, engine: Package, tmp_path: Path) -> dict[str, str]:
    """An environment whose temporary folder can be looked into."""
    (tmp_path / "tmp").mkdir()
    return {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SATYRN_PI": program.command[-1],
        "SATYRN_NODE": str(program.node),
        "SATYRN_ENGINE_DIR": str(engine.folder),
        "TMPDIR": str(tmp_path / "tmp"),
    }


# Runs the demonstration, in which the second argument's signal lands while a child is being
# started: that which the first one counts to. A second signal comes with the removal.
SIGNALLED = """
import shutil, signal, subprocess, sys
from satyrn_engine import demo

class Signalled(subprocess.Popen):
    left = int(sys.argv[1])

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        Signalled.left -= 1
        if Signalled.left == 0:
            print("child", self.pid, flush=True)
            signal.raise_signal(int(sys.argv[2]))

def remove(*given, **named):
    signal.raise_signal(int(sys.argv[2]))
    rmtree(*given, **named)

rmtree, shutil.rmtree = shutil.rmtree, remove
subprocess.Popen = Signalled
sys.exit(demo.main([]))
"""


def start_demo(environment: dict[str, str], *options: str) -> subprocess.Popen[str]:
    return start(environment, "-m", "satyrn_engine.demo", *options)


def start(environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, out, err


def traces(environment: dict[str, str]) -> list[Path]:
    return list(Path(environment["TMPDIR"]).iterdir())


def ran(environment: dict[str, str]) -> bool:
    return any(Path(environment["TMPDIR"]).glob("*/project/runs.log"))


def without_guard(folder: Path) -> Path:
    """Write a package whose extension guards nothing."""
    folder.mkdir()
    manifest = {"name": "idle", "version": "0.0.1", "pi": {"extensions": ["./idle.ts"]}}
    (folder / "package.json").write_text(json.dumps(manifest))
    (folder / "idle.ts").write_text("export default function (): void {}\n")
    return folder


def test_it_shows_the_refusal_and_leaves_no_trace(environment: dict[str, str]) -> None:
    code, out, err = finish(start_demo(environment))
    assert (code, err) == (0, "")
    assert out.count("  ran      ") == 6
    assert out.count("  refused  ") == 2
    assert out.count("loop_broken") == 2
    assert "The guard held" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines()[:-4])) <= 80
    assert traces(environment) == []


def test_the_json_says_the_same(environment: dict[str, str]) -> None:
    code, out, err = finish(start_demo(environment, "--json"))
    value = json.loads(out)
    assert (code, err) == (0, "")
    assert value["faults"] == []
    assert [call["ran"] for call in value["calls"]] == [True] * 5 + [False] * 2 + [True]
    assert [call["lines"] for call in value["calls"]] == [1, 2, 3, 4, 5, 5, 5, 1]


def test_a_package_that_does_not_guard_breaks_the_promise_and_the_demo_says_so(
    environment: dict[str, str], tmp_path: Path
) -> None:
    idle = without_guard(tmp_path / "idle")
    code, out, err = finish(start_demo(environment, "--package", str(idle)))
    assert code == 1
    assert "Call 6 should have been refused and ran." in out
    assert "The guard held" not in out
    assert "broke its promise" in err
    assert traces(environment) == []


def test_the_command_that_is_printed_installs_the_package_that_was_shown(
    environment: dict[str, str], engine: Package, tmp_path: Path
) -> None:
    shutil.copytree(engine.folder, tmp_path / "checkout" / "engine")
    shutil.copytree(engine.folder, tmp_path / "mine")
    checkout = {"BUILD_WORKSPACE_DIRECTORY": str(tmp_path / "checkout")}
    user = {"BUILD_WORKING_DIRECTORY": str(tmp_path)}
    code, out, err = finish(start_demo({**environment, **checkout, **user}, "--package", "mine"))
    assert (code, err) == (0, "")
    assert f"pi install {tmp_path}/mine\n" in out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_demo_leaves_no_trace(
    environment: dict[str, str], number: signal.Signals
) -> None:
    process = start_demo(environment)
    deadline = time.monotonic() + SECONDS
    # Until the model's first command has run: Pi is at work then, and far from done.
    while not ran(environment) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ran(environment)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 130
    assert err == "demo: interrupted\n"
    assert traces(environment) == []


# The first child only asks Node for its version, the second installs, the third is Pi.
@pytest.mark.parametrize("child", [2, 3])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_lands_while_a_child_is_started_leaves_neither_a_trace_nor_the_child(
    environment: dict[str, str], child: int, number: signal.Signals
) -> None:
    code, out, err = finish(start(environment, "-c", SIGNALLED, str(child), str(number.value)))
    assert (code, err) == (130, "demo: interrupted\n")
    [pid] = [line.split()[1] for line in out.splitlines() if line.startswith("child ")]
    assert not Path("/proc", pid).exists()
    assert traces(environment) == []


def test_without_pi_the_demo_says_what_to_do(environment: dict[str, str]) -> None:
    code, _, err = finish(start_demo({**environment, "SATYRN_PI": "gone"}))
    assert code == 1
    assert err.startswith("demo: SATYRN_PI names gone")
    assert "npm install -g" in err
