"""`satyrn-engine scan --cluster`, as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from tests.command import COMMAND, environment, run
from tests.sessions import chain, header, repeated, user, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with looping and honest sessions."""
    for number in range(4):
        messages = [user(), *repeated(4 + number)]
        write(tmp_path / "recorded" / f"{number}.jsonl", [header(id=str(number)), *chain(messages)])
    return tmp_path / "recorded"


def test_a_cluster_on_this_machine_gives_the_same_and_says_nothing_else(folder: Path) -> None:
    here = run("scan", folder, "--format", "json")
    there = run("scan", folder, "--format", "json", "--cluster", "local", "--jobs", "2")
    assert (there.returncode, there.stderr.decode()) == (0, "")
    assert json.loads(there.stdout) == json.loads(here.stdout)
    assert json.loads(there.stdout)["totals"]["refusals"] == 3


def test_standard_input_is_read_by_a_cluster_on_this_machine(folder: Path) -> None:
    data = (folder / "3.jsonl").read_bytes()
    arguments = ("scan", "-", "--format", "jsonl", "--cluster", "local", "--jobs", "1")
    done = run(*arguments, stdin=data)
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout)
    assert (report["source"], report["refusals"]) == ("standard input", 2)


@contextmanager
def scanning(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], bytes, list[psutil.Process]]]:
    """Scan many sessions; get the process, the first line that it prints, and its descendants."""
    for number in range(5000):
        write(folder / f"more-{number}.jsonl", [header(), *chain(repeated(7))])
    arguments = ["scan", str(folder), "--format", "jsonl", "--cluster", "local", "--jobs", "2"]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        children = psutil.Process(process.pid).children(recursive=True)
        # The cluster, its two workers, and at least one station with its Node.js.
        assert len(children) >= 5
        yield process, first, children


def test_ctrl_c_prints_what_there_is_and_leaves_no_process(folder: Path) -> None:
    with scanning(folder) as (process, first, children):
        # A terminal sends the signal to the whole group.
        os.killpg(process.pid, signal.SIGINT)
        rest, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.decode() == "Interrupted: these are the sessions that were done.\n"
    found = [json.loads(line) for line in [first, *rest.splitlines()]]
    assert 0 < len(found) < 5004
    assert psutil.wait_procs(children, timeout=30)[1] == []


def test_a_scan_that_is_killed_leaves_no_process(folder: Path) -> None:
    with scanning(folder) as (process, _, children):
        process.kill()
        process.communicate(timeout=120)
    assert psutil.wait_procs(children, timeout=60)[1] == []


def test_a_scan_that_a_program_leaves_ends_with_it(folder: Path) -> None:
    program = "import sys; from satyrn_engine import scan_sessions; "
    program += "scan = scan_sessions([sys.argv[1]], cluster='local', jobs=1); print(next(scan))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        capture_output=True,
        env=environment(),
        timeout=120,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert done.stdout.startswith(b"SessionReport(")


def test_without_dask_the_extra_that_brings_it_is_named(folder: Path) -> None:
    program = "import sys; sys.modules['distributed'] = None; "
    program += "from satyrn_engine.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", program, "scan", str(folder), "--cluster", "local"],
        capture_output=True,
        env=environment(),
    )
    assert done.returncode == 2
    assert 'pip install "satyrn-engine[cluster]"' in " ".join(done.stderr.decode().split())
    assert done.stdout == b""


def test_an_address_where_nothing_listens_ends_with_code_2(folder: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
    output = tmp_path / "out.csv"
    done = run("scan", folder, "--cluster", address, "--format", "csv", "--output", output)
    assert done.returncode == 2
    assert f"{address}: no Dask scheduler answers there" in done.stderr.decode()
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--jobs", "2"], "--jobs is for this machine; a cluster uses the workers that it has"),
        (["-"], "standard input cannot be sent to a cluster; save it"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused_before_it_is_asked(
    arguments: list[str], words: str, folder: Path
) -> None:
    done = run("scan", folder, *arguments, "--cluster", "tcp://127.0.0.1:1")
    assert done.returncode == 2
    assert words in " ".join(done.stderr.decode().split())
