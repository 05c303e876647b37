"""`--cluster`: the same findings from a Dask cluster as from this machine, whatever happens to it.

The scheduler and the workers are real ones, on loopback.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import pytest
from satyrn_engine import _cluster_worker, scan_sessions
from satyrn_engine._cluster import ClusterWorkforce
from satyrn_engine._cluster_worker import Stations, identity
from satyrn_engine._node import Guards
from satyrn_engine._pool import AHEAD, scan_all
from satyrn_engine._scan import Task
from satyrn_engine._sources import Source
from satyrn_engine.errors import ClusterError, ConfigError
from satyrn_engine.reports import SessionReport, Skipped
from tests.dask_processes import DaskCluster
from tests.sessions import chain, header, lines, repeated, turn, user, write

Findings = list[SessionReport | Skipped]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of all sorts: looping and honest ones, a fork, a broken one, and an empty file."""
    folder = tmp_path_factory.mktemp("cluster") / "sessions"
    for number in range(20):
        messages = [user(), *repeated(number % 9), *turn(command=f"ls {number}")]
        write(folder / f"{number:02}.jsonl", [header(id=f"s{number}"), *chain(messages)])
    # Sessions like any other, unless the workers are told to hold or to die of them.
    for name in ("held", "killer"):
        write(folder / f"{name}.jsonl", [header(id=name), *chain(repeated(8))])
    trunk = chain([user(), *repeated(7)], prefix="t")
    write(folder / "parent.jsonl", [header(id="parent"), *trunk])
    fork = [*trunk, *chain(repeated(6, "pwd"), parent=trunk[-1]["id"], prefix="f")]
    forked = header(id="fork", parentSession=str(folder / "parent.jsonl"))
    write(folder / "a-fork.jsonl", [forked, *fork])
    (folder / "broken.jsonl").write_bytes(lines([header(), *chain(repeated(6))]) + b"{\n")
    (folder / "empty.jsonl").write_bytes(b"")
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> Findings:
    """What this machine finds in the folder, without a cluster."""
    return ordered(list(scan_sessions([folder], jobs=1)))


@pytest.fixture(scope="module")
def cluster() -> Iterator[DaskCluster]:
    """A scheduler and two workers, which have three threads together."""
    with DaskCluster() as cluster:
        cluster.add()
        cluster.add(THREADS="2")
        yield cluster


def ordered(found: Findings) -> Findings:
    """Sort what was found by its file."""
    return sorted(found, key=lambda each: each.source)


def fifo(tmp_path: Path) -> Path:
    """Return a named pipe, through which a worker tells that it holds a session."""
    path = tmp_path / "held.fifo"
    os.mkfifo(path)
    return path


def test_a_cluster_finds_what_this_machine_finds(
    cluster: DaskCluster, folder: Path, expected: Findings
) -> None:
    found = ordered(list(scan_sessions([folder], cluster=cluster.address)))
    assert found == expected
    assert [each.source for each in found if isinstance(each, Skipped)] == [
        str(folder / "empty.jsonl")
    ]
    by_name = {Path(each.source).stem: each for each in found if isinstance(each, SessionReport)}
    assert by_name["07"].refusals == 2
    assert by_name["05"].refusals == 0
    # What the fork copied is counted in its parent.
    assert by_name["parent"].calls == 7
    assert by_name["a-fork"].calls == 6


def test_relative_paths_mean_the_client_s_folder(
    cluster: DaskCluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Bazel names it from the folder in which a test starts.
    monkeypatch.setenv("SATYRN_NODE", str(Path(os.environ["SATYRN_NODE"]).absolute()))
    monkeypatch.chdir(folder.parent)
    paths = ["sessions/parent.jsonl", "sessions/a-fork.jsonl"]
    here = ordered(list(scan_sessions(paths, jobs=1)))
    assert ordered(list(scan_sessions(paths, cluster=cluster.address))) == here
    assert [each.source for each in here] == ["sessions/a-fork.jsonl", "sessions/parent.jsonl"]


def test_addresses_are_opened_by_the_workers(cluster: DaskCluster, folder: Path) -> None:
    (found,) = scan_sessions([f"file://{folder}/07.jsonl"], cluster=cluster.address)
    assert isinstance(found, SessionReport)
    assert (found.source, found.refusals) == (f"file://{folder}/07.jsonl", 2)


def test_police_and_its_configuration_go_along(
    cluster: DaskCluster, folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "loop-police.json"
    config.write_text('{"TOOL_LOOP_EXEMPT": "bash"}')
    path = folder / "07.jsonl"

    def scanned(config: Path | None, cluster: str | None) -> Findings:
        return list(scan_sessions([path], ("police",), config, cluster=cluster))

    here = scanned(config, None)
    assert scanned(config, cluster.address) == here
    assert scanned(None, cluster.address) != here


def test_a_worker_that_ends_in_the_middle_costs_nothing(
    folder: Path, tmp_path: Path, expected: Findings
) -> None:
    pipe = fifo(tmp_path)
    with DaskCluster(TRICK_HOLD=str(pipe)) as cluster:
        workers = {worker.pid: worker for worker in (cluster.add(), cluster.add())}
        scan = scan_sessions([folder / "held.jsonl", folder], cluster=cluster.address)
        found = [next(scan) for _ in range(3)]
        # One worker has the session that it will never end, and tells so.
        holding = workers[int(pipe.read_text())]
        os.kill(holding.pid, signal.SIGKILL)
        assert holding.process.wait() == -signal.SIGKILL
        rest = list(scan)
    assert rest
    assert ordered(found + rest) == expected


def test_a_session_that_ends_each_worker_is_named_and_takes_no_other_with_it(
    folder: Path, tmp_path: Path, expected: Findings
) -> None:
    # With none allowed, Dask blames each task that a worker had when it ended.
    allowed = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with DaskCluster(TRICK_KILL=str(tmp_path / "killed"), **allowed) as cluster:
        cluster.add("nanny")
        cluster.add("nanny")
        paths = [folder / "killer.jsonl", folder]
        found = ordered(list(scan_sessions(paths, cluster=cluster.address)))
    assert (tmp_path / "killed").exists()
    (killer,) = [each for each in found if "killer" in each.source]
    assert isinstance(killer, Skipped)
    assert killer.reason.startswith("each worker of the cluster that scanned it ended")
    found.remove(killer)
    assert found == [each for each in expected if "killer" not in each.source]


def test_a_cluster_that_has_lost_all_workers_is_waited_for_only_so_long(
    folder: Path, tmp_path: Path
) -> None:
    pipe = fifo(tmp_path)
    with DaskCluster(TRICK_HOLD=str(pipe)) as cluster:
        worker = cluster.add()

        def sources() -> Iterator[Source]:
            yield _source(folder / "held.jsonl")
            _kill(pipe, worker.pid)

        workforce = ClusterWorkforce(Guards(), nullcontext(cluster.address), here=False, patience=1)
        with pytest.raises(ClusterError, match="for 1 s the cluster has had no worker; start one"):
            list(scan_all(sources(), workforce))


def test_a_scheduler_that_ends_in_the_middle_is_told(folder: Path, tmp_path: Path) -> None:
    pipe = fifo(tmp_path)
    with DaskCluster(TRICK_HOLD=str(pipe)) as cluster:
        cluster.add()
        cluster.add()
        scan = scan_sessions([folder / "held.jsonl", folder], cluster=cluster.address)
        next(scan)
        pipe.read_text()
        os.kill(cluster.scheduler.pid, signal.SIGKILL)
        with pytest.raises(ClusterError, match="the connection to the scheduler was lost"):
            list(scan)


class FakeWorker:
    """As much of a Dask worker as stations look at."""

    address = "tcp://worker"


@pytest.fixture
def stations() -> Iterator[Stations]:
    """The stations of a worker."""
    stations = Stations(Guards(), identity(Guards()))
    stations.setup(FakeWorker())
    yield stations
    stations.teardown(FakeWorker())


def test_a_station_lives_on_between_tasks(stations: Stations, folder: Path) -> None:
    task = Task((_source(folder / "07.jsonl"),))
    first = stations.scan(task)
    ((station, _),) = stations._idle
    child = station._child
    assert stations.scan(task) == first
    assert [each for each, _ in stations._idle] == [station]
    assert child is not None
    assert station._child is child
    assert child.poll() is None
    stations.teardown(FakeWorker())
    assert child.wait(20) == 0


def test_a_station_without_work_ends(
    stations: Stations, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_cluster_worker, "IDLE", 0.5)
    task = Task((_source(folder / "07.jsonl"),))
    first = stations.scan(task)
    ((station, timer),) = stations._idle
    timer.join(60)
    assert not timer.is_alive()
    assert station._child is None
    assert stations._idle == []
    # The next task has a new one.
    assert stations.scan(task) == first


def test_a_station_at_work_ends_with_its_worker(stations: Stations, tmp_path: Path) -> None:
    pipe = tmp_path / "s.jsonl"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as thread:
        scanning = thread.submit(stations.scan, Task((_source(pipe),)))
        # The station opens what it is to read, and would wait for it forever.
        with pipe.open("wb"):
            (station,) = stations._busy
            stations.teardown(FakeWorker())
            (found,) = scanning.result(60)
    assert isinstance(found, Skipped)
    assert "ended with -9" in found.reason
    assert station._child is None


def test_only_so_many_tasks_are_open_at_a_time(cluster: DaskCluster, folder: Path) -> None:
    asked = 0

    def endless() -> Iterator[Source]:
        nonlocal asked
        while True:
            asked += 1
            yield _source(folder / f"{asked % 20:02}.jsonl")

    scan = scan_all(endless(), _workforce(cluster))
    for done in range(1, 200):
        next(scan)
        assert asked - done <= 3 * AHEAD
    scan.close()  # type: ignore[attr-defined]


def test_what_has_not_changed_is_not_sent_again(
    cluster: DaskCluster, folder: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    path = tmp_path / "s.jsonl"
    path.write_bytes((folder / "07.jsonl").read_bytes())
    first = list(scan_sessions([path], cluster=cluster.address, cache=cache))
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_bytes(b" " * path.stat().st_size)
    os.utime(path, ns=times)
    assert list(scan_sessions([path], cluster=cluster.address, cache=cache)) == first


def test_a_file_that_a_worker_does_not_see_is_skipped_with_the_remedy(
    cluster: DaskCluster, folder: Path
) -> None:
    seen, unseen = _source(folder / "07.jsonl"), _source(folder / "unseen.jsonl")
    report, skipped = ordered(list(scan_all([seen, unseen], _workforce(cluster))))
    assert isinstance(report, SessionReport)
    assert isinstance(skipped, Skipped)
    assert skipped.source == unseen.name
    assert "does not see this file; scan a folder that all machines share" in skipped.reason


def test_what_can_be_read_only_once_is_not_sent(cluster: DaskCluster, folder: Path) -> None:
    path = str(folder / "07.jsonl")
    kept = Source("a pipe", path)
    (found,) = scan_all([kept], _workforce(cluster))
    assert found == Skipped(
        "a pipe", "can be read only once; save it as a file that every worker sees"
    )
    with pytest.raises(ConfigError, match="standard input cannot be sent to a cluster; save it"):
        list(scan_sessions(["-"], cluster=cluster.address))
    with pytest.raises(ConfigError, match="--jobs is for this machine"):
        list(scan_sessions([path], jobs=2, cluster=cluster.address))


@pytest.mark.parametrize(
    ("trick", "words"),
    [
        ({"TRICK_VERSION": "0.0.9"}, r"has satyrn-engine 0\.0\.9, and this machine has \d.*pip"),
        ({"TRICK_LACKS": "yes"}, r"cannot load satyrn-engine .*No module named.*pip install"),
        ({"SATYRN_NODE": "/none/node"}, r"cannot be run .*install Node\.js 22\.18 or newer"),
    ],
)
def test_a_worker_that_cannot_take_part_is_named_with_the_remedy(
    cluster: DaskCluster, trick: dict[str, str], words: str, folder: Path
) -> None:
    worker = cluster.add(**trick)
    try:
        with pytest.raises(ClusterError, match=f"(?s)the worker {worker.address}.*{words}"):
            list(scan_sessions([folder], cluster=cluster.address))
    finally:
        worker.close()


def test_a_worker_of_another_version_that_comes_later_stops_the_scan(
    folder: Path, tmp_path: Path
) -> None:
    pipe = fifo(tmp_path)
    with DaskCluster(TRICK_HOLD=str(pipe)) as cluster:
        first = cluster.add()

        def sources() -> Iterator[Source]:
            yield _source(folder / "held.jsonl")
            cluster.add(TRICK_VERSION="0.0.9")
            _kill(pipe, first.pid)

        with pytest.raises(ClusterError, match=r"has satyrn-engine 0\.0\.9"):
            list(scan_all(sources(), _workforce(cluster)))


def test_a_cluster_without_workers_is_told_at_once(folder: Path) -> None:
    with (
        DaskCluster() as cluster,
        pytest.raises(ClusterError, match=r"has no worker; start one \(dask worker tcp://"),
    ):
        list(scan_sessions([folder], cluster=cluster.address))


def test_an_address_where_no_scheduler_answers_is_told(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(ClusterError, match=r"no Dask scheduler answers there .*; check"):
            list(scan_sessions([folder], cluster=address))
    with pytest.raises(ClusterError, match="no Dask scheduler answers there"):
        list(scan_sessions([folder], cluster=address))


def test_the_address_of_a_worker_is_told_from_that_of_the_scheduler(
    cluster: DaskCluster, folder: Path
) -> None:
    address = cluster.workers[0].address
    with pytest.raises(ClusterError, match=rf"{address}: no Dask .* \(this is a worker\)"):
        list(scan_sessions([folder], cluster=address))


def _kill(pipe: Path, pid: int) -> None:
    """End a worker once it holds a session."""
    assert int(pipe.read_text()) == pid
    os.kill(pid, signal.SIGKILL)


def _source(path: Path) -> Source:
    return Source(str(path), str(path))


def _workforce(cluster: DaskCluster) -> ClusterWorkforce:
    return ClusterWorkforce(Guards(), nullcontext(cluster.address), here=False)
