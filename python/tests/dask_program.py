"""A Dask scheduler or worker that ends with its standard input: run by `dask_processes`.

Usage: dask_program.py scheduler | worker ADDRESS | nanny ADDRESS

A worker has as many threads as the variable `THREADS` says, or one.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from typing import Any


async def _until_the_end_of_input() -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait, daemon=True).start()
    await ended.wait()


async def _scheduler() -> None:
    from distributed import Scheduler

    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await _until_the_end_of_input()


async def _worker(kind: Any, address: str) -> None:  # noqa: ANN401 - a class of distributed's
    with tempfile.TemporaryDirectory() as folder:
        threads = int(os.environ.get("THREADS", "1"))
        options = {"nthreads": threads, "host": "127.0.0.1", "memory_limit": None}
        async with kind(
            address, local_directory=folder, preload=["tests.dask_tricks"], **options
        ) as worker:
            print(worker.worker_address if hasattr(worker, "worker_address") else worker.address)
            sys.stdout.flush()
            await _until_the_end_of_input()


if __name__ == "__main__":
    if sys.argv[1] == "scheduler":
        asyncio.run(_scheduler())
    else:
        from distributed import Nanny, Worker

        asyncio.run(_worker({"worker": Worker, "nanny": Nanny}[sys.argv[1]], sys.argv[2]))
