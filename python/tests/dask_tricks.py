"""Loaded by each Dask worker of the tests: does to it what the environment asks for.

`TRICK_VERSION` is the version that it claims to have. `TRICK_HOLD` is a named pipe: the first
session called `held.jsonl` writes the worker's process id there, and never ends. `TRICK_KILL` is a
file: each session called `killer.jsonl` ends the worker, the first, which makes the file, when
other sessions wait there. `TRICK_LACKS` takes the package away.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from unittest import mock

from distributed import get_worker

LACKS = "TRICK_LACKS" in os.environ


def _change_scans() -> None:
    from satyrn_engine import _cluster_worker
    from satyrn_engine._scan import Finding, Task

    scan = _cluster_worker.Stations.scan

    def changed(stations: _cluster_worker.Stations, task: Task) -> list[Finding]:
        names = {Path(source.path).name for source in task.sources}
        hold = os.environ.get("TRICK_HOLD")
        if hold is not None and "held.jsonl" in names:
            _hold(Path(hold))
        kill = os.environ.get("TRICK_KILL")
        if kill is not None and "killer.jsonl" in names:
            _kill(Path(kill))
        return scan(stations, task)

    mock.patch.object(_cluster_worker.Stations, "scan", changed).start()


def _kill(once: Path) -> None:
    if not once.exists():
        once.touch()
        while len(get_worker().state.tasks) < 2:
            time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)


def _hold(pipe: Path) -> None:
    try:
        pipe.with_suffix(".once").touch(exist_ok=False)
    except FileExistsError:
        return
    pipe.write_text(f"{os.getpid()}\n")
    while True:
        signal.pause()


if LACKS:
    sys.path[:] = [path for path in sys.path if not Path(path, "satyrn_engine").is_dir()]
else:
    if "TRICK_VERSION" in os.environ:
        from satyrn_engine import _version

        _version.VERSION = os.environ["TRICK_VERSION"]
    _change_scans()
