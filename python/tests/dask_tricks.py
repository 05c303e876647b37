"""Loaded by each Dask worker of the tests: does to it what the environment asks for.

`TRICK_VERSION` is the version that it claims to have. `TRICK_HOLD` is a named pipe: the first
session called `held.jsonl` writes the worker's process id there, and never ends. `TRICK_KILL` lets
each session called `killer.jsonl` end the worker. `TRICK_LACKS` takes the package away.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from unittest import mock

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
        if "TRICK_KILL" in os.environ and "killer.jsonl" in names:
            os.kill(os.getpid(), signal.SIGKILL)
        return scan(stations, task)

    mock.patch.object(_cluster_worker.Stations, "scan", changed).start()


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
