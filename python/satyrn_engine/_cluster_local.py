"""A Dask cluster on this machine, in a process of its own: this module, run as a program.

It prints the address of its scheduler, and ends when its standard input does.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from satyrn_engine._children import python_environment
from satyrn_engine.errors import ClusterError

#: Seconds that the cluster may take to end before it is ended.
END = 10.0
#: How often Dask gives a task to another worker when its worker has died.
RETRIES = 1


@contextmanager
def local_cluster(workers: int) -> Iterator[str]:
    """Have a cluster with that many workers, and get its address.

    Raises:
        ClusterError: if it cannot be started.
    """
    with tempfile.TemporaryDirectory(prefix="satyrn-", ignore_cleanup_errors=True) as folder:
        said = Path(folder) / "stderr"
        with said.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "satyrn_engine._cluster_local", str(workers), folder],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=python_environment(folder),
                # Ctrl-C is ours to handle: the cluster ends when its input does.
                start_new_session=True,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().decode().strip()
            if not address:
                why = said.read_text("utf-8", "replace").strip().rpartition("\n")[2]
                raise ClusterError(f"the local cluster could not be started ({why})")
            yield address
        finally:
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(END)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()


def serve(workers: int, folder: str) -> None:
    """Be the cluster.

    Args:
        workers: processes with one thread each.
        folder: for what Dask keeps on disk.
    """
    import dask
    from distributed import LocalCluster

    dask.config.set({"distributed.scheduler.allowed-failures": RETRIES})
    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        # What takes memory is the stations' processes, in which it stays flat.
        memory_limit=None,
        local_directory=folder,
        silence_logs=logging.CRITICAL,
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.buffer.read()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
