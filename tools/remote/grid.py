"""A server of the Remote Execution API on loopback: BuildGrid with its database and one worker."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from tools.remote.programs import Programs

# Seconds until a part that doesn't answer has failed: BuildGrid imports a lot on a busy machine.
_START = 180.0
_STOP = 15.0

_CONFIGURATION = """\
server:
  - !channel
    address: 127.0.0.1:{port}
    insecure-mode: true
authorization:
  method: none
connections:
  - !sql-connection &sql
    connection-string: {database}
    pool-size: 10
    max-overflow: 20
storages:
  - !disk-storage &contents
    path: {folder}/contents
caches:
  - !lru-action-cache &results
    storage: *contents
    max-cached-refs: 100000
    allow-updates: true
    cache-failed-actions: false
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *contents
    action-cache: *results
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.1
        priority-assignment-percentage: 100
instances:
  - name: ''
    services:
      - !action-cache
        cache: *results
      - !execution
        scheduler: *scheduler
      - !cas
        storage: *contents
      - !bytestream
        storage: *contents
# Each call under way takes one: Bazel makes a hundred on a connection, the worker some more.
thread-pool-size: 300
"""

# What an action finds beside its inputs: the system of the machine that the worker runs on.
_SYSTEM = ("usr", "etc", "bin", "lib", "lib64", "sbin")


class NoGrid(Exception):
    """A part did not start; the message says which, and what it said."""


class Grid:
    """A running server, to be used with `with`; all its processes end with the block.

    Attributes:
        address: what Bazel's `--remote_executor` is given.
    """

    def __init__(self, folder: Path, programs: Programs, *, jobs: int = 2) -> None:
        self._folder = folder
        self._programs = programs
        self._jobs = jobs
        self._port = _free_port()
        self._running: list[tuple[str, subprocess.Popen[bytes]]] = []
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._watch_parts, daemon=True)

    @property
    def address(self) -> str:
        """Such as grpc://127.0.0.1:50051."""
        return f"grpc://127.0.0.1:{self._port}"

    def __enter__(self) -> Self:
        """Start everything and wait until it answers.

        Raises:
            NoGrid: when a part doesn't.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            self._start_database()
            self._start_server()
            self._start_worker()
        except BaseException:
            self._stop()
            raise
        self._watch.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _watch_parts(self) -> None:
        # Without a worker a client would wait for ever: no server, no waiting.
        while not self._ended.wait(1):
            if any(process.poll() is not None for _, process in self._running):
                for _, process in self._running:
                    process.terminate()
                return

    def said(self, part: str) -> str:
        """The last that a part said: database, server, store or worker."""
        text = (self._folder / f"{part}.log").read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-20:])

    @property
    def _database(self) -> str:
        return f"postgresql://grid@/grid?host={self._folder}"

    def _start_database(self) -> None:
        data = self._folder / "database"
        tools = self._programs.database
        who = ["--username=grid", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]
        self._call("database", [str(tools / "initdb"), f"--pgdata={data}", *who])
        # No port: a socket in the folder. What it keeps is gone afterwards, so nothing is synced.
        quiet = ["-c", "listen_addresses=", "-c", "fsync=off"]
        server = [str(tools / "postgres"), "-D", str(data), "-k", str(self._folder), *quiet]
        self._start("database", [*self._programs.somebody, *server])
        ready = [str(tools / "pg_isready"), "-h", str(self._folder), "-U", "grid", "-q"]
        self._await("database", lambda: subprocess.run(ready, check=False).returncode == 0)
        client = [str(tools / "psql"), "-h", str(self._folder), "-U", "grid", "-d", "postgres"]
        self._call("database", [*client, "-c", "CREATE DATABASE grid"])

    def _stop_database(self) -> None:
        # What stands before it would end without a word to it, and leave its shared memory.
        tool = self._programs.database / "pg_ctl"
        data = f"--pgdata={self._folder / 'database'}"
        command = [*self._programs.somebody, str(tool), "stop", data, "--mode=fast", "--silent"]
        with (self._folder / "database.log").open("ab") as log:
            subprocess.run(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)

    def _start_server(self) -> None:
        file = self._folder / "server.yml"
        file.write_text(
            _CONFIGURATION.format(port=self._port, database=self._database, folder=self._folder),
            encoding="utf-8",
        )
        server = str(self._programs.server)
        self._call("server", [server, "migrate", "apply", self._database])
        self._start("server", [server, "server", "start", str(file)])
        self._await("server", lambda: _accepts(self._port))

    def _start_worker(self) -> None:
        remote = f"http://127.0.0.1:{self._port}"
        store = self._folder / "store.sock"
        self._start(
            "store",
            [
                *(str(self._programs.store), f"--cas-remote={remote}", f"--bind=unix:{store}"),
                *("--protect-session-blobs", str(self._folder / "store")),
            ],
        )
        self._await("store", store.exists)
        mounts = [
            f"--runner-arg=--ro-bind-mount={Path('/', name).resolve()}:/{name}"
            for name in _SYSTEM
            if Path("/", name).is_dir()
        ]
        self._start(
            "worker",
            [
                *(str(self._programs.worker), f"--buildbox-run={self._programs.runner}"),
                *(f"--bots-remote={remote}", f"--cas-remote=unix:{store}"),
                *(f"--concurrent-jobs={self._jobs}", "--platform", "OSFamily=linux"),
                # A private root has no FUSE.
                *("--runner-arg=--staging-mode=copy-or-link", *mounts, "worker"),
            ],
        )

    def _call(self, part: str, command: list[str]) -> None:
        with (self._folder / f"{part}.log").open("ab") as log:
            done = subprocess.run(
                [*(self._programs.somebody if part == "database" else ()), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,
            )
        if done.returncode:
            raise NoGrid(f"the {part} can't be prepared:\n{self.said(part)}")

    def _start(self, part: str, command: list[str]) -> None:
        with (self._folder / f"{part}.log").open("ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._running.append((part, process))

    def _await(self, part: str, ready: Callable[[], bool]) -> None:
        process = dict(self._running)[part]
        limit = time.monotonic() + _START
        while process.poll() is None and time.monotonic() < limit:
            if ready():
                return
            time.sleep(0.1)
        raise NoGrid(f"the {part} does not start:\n{self.said(part)}")

    def _stop(self) -> None:
        self._ended.set()
        for part, process in reversed(self._running):
            if part == "database":
                self._stop_database()
            process.terminate()
            try:
                process.wait(_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
    return port


def _accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
