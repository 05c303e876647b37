"""`satyrn-engine scan` with the shipped guards, in Node, as a person runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from satyrn_engine import _station
from satyrn_engine._node import Guards
from satyrn_engine._pool import LocalWorkforce, scan_all
from satyrn_engine._sources import Source
from satyrn_engine._worker import Verdict, Worker
from satyrn_engine.errors import WorkerDiedError
from satyrn_engine.reports import SessionReport, Skipped
from tests.command import COMMAND, environment, run
from tests.sessions import Entry, answer, chain, header, lines, repeated, turn, user, write


def scanned(*arguments: str | Path, stdin: bytes = b"", code: int = 0) -> dict[str, Any]:
    """Scan to JSON."""
    done = run("scan", "--format", "json", *arguments, stdin=stdin)
    assert done.returncode == code, done.stderr.decode()
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def session(messages: Sequence[Entry]) -> list[Entry]:
    """Return a session of those messages."""
    return [header(), *chain(messages)]


LOOPING = session([user(), *repeated(6), answer(tokens=70, cost=2, stop="stop")])
HONEST = session([user(), *repeated(5), *turn("bash", command="ls -a")])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a looping session and its honest sibling."""
    write(tmp_path / "sessions" / "looping.jsonl", LOOPING)
    write(tmp_path / "sessions" / "honest.jsonl", HONEST)
    return tmp_path / "sessions"


def test_the_sixth_identical_call_is_refused_and_its_sibling_is_not(folder: Path) -> None:
    document = scanned(folder)
    honest, looping = document["sessions"]
    assert (looping["calls"], looping["refusals"], looping["first_refusal"]) == (6, 1, 6)
    assert (honest["calls"], honest["refusals"], honest["first_refusal"]) == (6, 0, None)
    assert looping["detections"] == {"loop_broken": 1}
    assert (looping["longest_run"], looping["strongest_repeat"]) == (6, 6)
    assert (looping["tokens_after"], looping["cost_after"]) == (70, 2)
    assert looping["timeline"] == ".....R"
    assert document["totals"]["sessions"] == 2
    assert document["totals"]["refusals"] == 1
    assert document["models"][0]["model"] == "test/model"
    assert document["models"][0]["looping"] == 1
    assert [tool["tool"] for tool in document["tools"]] == ["bash"]


def test_the_table_is_for_people(folder: Path) -> None:
    done = run("scan", folder)
    said = done.stdout.decode()
    assert done.returncode == 0
    assert "looping.jsonl" in said
    assert "honest.jsonl" not in said
    assert "The guards would have refused 1 call in 1 session." in said
    assert "at most that would have been saved" in said


def test_what_comes_on_standard_input_is_scanned(folder: Path) -> None:
    data = (folder / "looping.jsonl").read_bytes() + (folder / "honest.jsonl").read_bytes()
    document = scanned("-", stdin=data)
    assert [each["refusals"] for each in document["sessions"]] == [1, 0]
    assert document["sessions"][0]["source"] == "standard input"


def test_rows_and_columns_are_the_same_in_every_format(folder: Path, tmp_path: Path) -> None:
    lines_ = run("scan", "--format", "jsonl", folder).stdout.splitlines()
    reports = sorted((json.loads(line) for line in lines_), key=lambda each: str(each["source"]))
    csv = run("scan", "--format", "csv", folder)
    table = pl.read_csv(csv.stdout)
    parquet = tmp_path / "out.parquet"
    assert run("scan", "--format", "parquet", "-o", parquet, folder).returncode == 0
    same = pl.read_parquet(parquet)
    assert same.columns == table.columns
    assert same.select(pl.selectors.numeric()).rows() == (
        table.select(same.select(pl.selectors.numeric()).columns).rows()
    )
    assert [report["refusals"] for report in reports] == table["refusals"].to_list() == [0, 1]
    assert table["model"].to_list() == ["test/model", "test/model"]


def test_what_was_skipped_is_counted_and_named_and_the_code_is_1(folder: Path) -> None:
    (folder / "broken.jsonl").write_bytes(lines(LOOPING) + b"{\n")
    (folder / "nothing.jsonl").write_bytes(b"")
    document = scanned(folder, folder / "missing", code=1)
    assert document["totals"]["broken"] == 1
    assert document["totals"]["refusals"] == 2
    assert sorted(Path(each["source"]).name for each in document["skipped"]) == [
        "missing",
        "nothing.jsonl",
    ]
    said = run("scan", folder).stdout.decode()
    assert "Skipped: 1 source and 1 broken line." in said
    assert f"broken.jsonl:{len(LOOPING) + 1}: not JSON" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["scan", "--bogus"], "--bogus"),
        (["scan", "--guard", "bogus", "x"], "bogus"),
        (["scan", "--jobs", "0", "x"], "--jobs must be 1 or more"),
        (["scan", "--config", "x.json", "y"], "add --guard police"),
        (["scan", "-o", "no/such/folder/x.csv", "y"], "its folder does not exist"),
        (["bogus"], "bogus"),
    ],
)
def test_a_wrong_command_line_is_refused_with_code_2(
    arguments: list[str], words: str, tmp_path: Path
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert done.stdout == b""
    assert list(tmp_path.iterdir()) == []


def test_pi_s_own_session_folder_is_the_default(folder: Path, tmp_path: Path) -> None:
    assert run("scan", PI_CODING_AGENT_DIR=str(tmp_path)).returncode == 0
    done = run("scan", PI_CODING_AGENT_DIR=str(folder))
    assert done.returncode == 2
    assert "Pi's session folder does not exist" in done.stderr.decode()


def test_a_node_that_is_too_old_is_named(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v20.1.0\n")
    old.chmod(0o755)
    done = run("scan", folder, SATYRN_NODE=str(old))
    assert done.returncode == 2
    assert "is v20.1.0, too old for the guards; install Node.js 22.18 or newer" in " ".join(
        done.stderr.decode().split()
    )


def test_sessions_that_have_not_changed_are_not_read_again(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    first = scanned("--cache", cache, folder)
    kept = {file.name: file.stat().st_mtime_ns for file in cache.iterdir()}
    assert len(kept) == 2
    assert scanned("--cache", cache, folder) == first
    assert {file.name: file.stat().st_mtime_ns for file in cache.iterdir()} == kept
    # What is kept is used: nothing is read of a file that has the same size and time.
    path = folder / "looping.jsonl"
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_bytes(b" " * path.stat().st_size)
    os.utime(path, ns=times)
    assert scanned("--cache", cache, folder) == first
    write(path, session([*repeated(7)]))
    assert scanned("--cache", cache, folder)["totals"]["refusals"] == 2


def test_ctrl_c_prints_what_there_is_and_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    for number in range(2000):
        write(folder / f"{number}.jsonl", LOOPING)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "scan", "--format", "jsonl", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(TMPDIR=str(scratch)),
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in said.decode()
    reports = [json.loads(line) for line in [first, *rest.splitlines()]]
    assert 0 < len(reports) < 2002
    assert {report["refusals"] for report in reports} <= {0, 1}
    assert [*scratch.iterdir()] == []


def test_what_can_be_read_only_once_is_scanned(tmp_path: Path) -> None:
    branched = [*LOOPING, *chain(turn("find"), parent="e0", prefix="b")]
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with subprocess.Popen(
        [sys.executable, "-c", f"open({str(fifo)!r}, 'wb').write({lines(branched)!r})"]
    ):
        document = scanned(fifo)
    assert document["totals"]["calls"] == 7
    assert document["sessions"][0]["source"] == str(fifo)


def test_node_keeps_the_guards_compiled_and_does_without_where_it_cannot(
    folder: Path, tmp_path: Path
) -> None:
    first = run("scan", "--format", "json", folder, XDG_CACHE_HOME=str(tmp_path / "caches"))
    kept = [each for each in (tmp_path / "caches").rglob("*") if each.is_file()]
    assert {each.relative_to(tmp_path).parts[:3] for each in kept} == {
        ("caches", "satyrn-engine", "node")
    }
    again = run("scan", "--format", "json", folder, XDG_CACHE_HOME=str(tmp_path / "caches"))
    (tmp_path / "no_folder").touch()
    without = run("scan", "--format", "json", folder, XDG_CACHE_HOME=str(tmp_path / "no_folder"))
    assert (first.returncode, again.returncode, without.returncode) == (0, 0, 0)
    assert first.stdout == again.stdout == without.stdout


@pytest.fixture
def worker() -> Iterator[Worker]:
    """A Node process with the engine's guard."""
    started = Worker(Guards())
    yield started
    started.close()


def test_a_worker_that_died_says_so(worker: Worker) -> None:
    os.kill(worker.pid, signal.SIGKILL)
    worker.begin("s", "/")
    with pytest.raises(WorkerDiedError, match="ended with -9"):
        worker.verdict()


def test_a_worker_that_takes_too_long_is_ended() -> None:
    worker = Worker(Guards(), patience=60)
    worker._patience = 0.2
    os.kill(worker.pid, signal.SIGSTOP)
    worker.begin("s", "/")
    with pytest.raises(WorkerDiedError, match="ended with -9"):
        worker.verdict()
    worker.close()


def test_a_worker_whose_guards_cannot_be_loaded_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.ts").write_text("throw new Error('no guard today');\n")
    files = [("engine", tmp_path / "broken.ts")]
    monkeypatch.setattr(Guards, "files", lambda _: files)
    worker = Worker(Guards())
    worker.begin("s", "/")
    with pytest.raises(WorkerDiedError, match="no guard today"):
        worker.verdict()
    worker.close()


def _sources(folder: Path) -> list[Source]:
    return [Source(str(path), str(path)) for path in sorted(folder.iterdir())]


def test_a_source_whose_worker_dies_once_is_scanned_by_another(folder: Path) -> None:
    station = _station.Station(Guards())
    from satyrn_engine._scan import Task

    first, second = _sources(folder)
    station.scan(Task((first,)))
    assert station._worker is not None
    os.kill(station._worker.pid, signal.SIGKILL)
    (found,) = station.scan(Task((second,)))
    station.close()
    assert isinstance(found, SessionReport)
    assert found.refusals == 1


def test_a_source_whose_workers_all_die_is_skipped_and_the_scan_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Dying(Worker):
        def verdict(self) -> Verdict:
            os.kill(self.pid, signal.SIGKILL)
            return super().verdict()

    monkeypatch.setattr(_station, "Worker", Dying)
    station = _station.Station(Guards())
    from satyrn_engine._scan import Task

    found = station.scan(Task(tuple(_sources(folder))))
    station.close()
    assert [type(each) for each in found] == [Skipped, Skipped]
    assert isinstance(found[0], Skipped)
    assert found[0].reason.endswith("ended with -9; tried 2 times")


def test_a_reading_process_that_dies_costs_nothing(folder: Path) -> None:
    workforce = LocalWorkforce(Guards(), 1)
    for path in range(4):
        write(folder / f"more{path}.jsonl", LOOPING)
    found = []
    killed = False
    for each in scan_all(_sources(folder), workforce):
        found.append(each)
        child = workforce._stations[0]._child
        if not killed and child is not None:
            child.kill()
            killed = True
    assert killed
    assert sum(each.refusals for each in found if isinstance(each, SessionReport)) == 5
    assert not [each for each in found if isinstance(each, Skipped)]


def test_no_process_is_left_behind(folder: Path) -> None:
    workforce = LocalWorkforce(Guards(), 2)
    next(iter(scan_all(_sources(folder) * 3, workforce)))
    children = [station._child for station in workforce._stations if station._child is not None]
    workforce.close()
    deadline = time.monotonic() + 10
    while any(child.poll() is None for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert all(child.poll() is not None for child in children)
