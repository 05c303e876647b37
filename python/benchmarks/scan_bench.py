"""How fast a scan is, beside a plain `json.loads` over the same bytes, and what memory it takes.

Usage: scan_bench.py [MEGABYTES ...]; default 10, 100 and 1000. The sessions are made up, with a
fixed seed: answers with thinking and text, calls with results of a few kilobytes, one session in
ten with a loop.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

#: Bytes of a session, on average.
SESSION = 1_000_000
#: Seconds between two looks at the memory.
LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement: seconds until the first row and in all, and megabytes at the peak."""

    first: float
    total: float
    peak: float
    sessions: int


def make_folder(folder: Path, size: int) -> int:
    """Fill a folder with sessions of `size` bytes in all; return the bytes written."""
    rng = random.Random(20)  # noqa: S311
    words = " ".join(f"word{rng.randrange(5000)}" for _ in range(200_000))
    written = number = 0
    while written < size:
        data = _session(rng, words, loops=number % 10 == 0)
        (folder / f"{number:06}.jsonl").write_bytes(data)
        written += len(data)
        number += 1
    return written


def _session(rng: random.Random, words: str, *, loops: bool) -> bytes:
    lines = [json.dumps({"type": "session", "version": 3, "id": f"{rng.random()}", "cwd": "/p"})]
    parent: str | None = None
    size = number = 0

    def text(mean: float) -> str:
        length = min(int(rng.lognormvariate(0, 1) * mean), 50_000)
        start = rng.randrange(len(words) - length)
        return words[start : start + length]

    def add(message: dict[str, object]) -> None:
        nonlocal parent, size, number
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent, "message": message}
        parent = f"{number:08x}"
        lines.append(json.dumps(entry))
        size += len(lines[-1])
        number += 1

    while size < SESSION:
        command = "ls -R" if loops else text(80)
        call = {"type": "toolCall", "id": f"c{number}", "name": "bash"}
        content = [
            {"type": "thinking", "thinking": text(400)},
            {**call, "arguments": {"command": command}},
        ]
        usage = {"totalTokens": 5000, "cost": {"total": 0.01}}
        model = {"provider": "p", "model": f"m{rng.randrange(3)}"}
        add({"role": "assistant", "content": content, "usage": usage, **model})
        told = [{"type": "text", "text": text(3000)}]
        add({"role": "toolResult", "toolCallId": call["id"], "content": told, "isError": False})
    return "\n".join(lines).encode() + b"\n"


def plain(folder: Path) -> float:
    """Return the seconds that `json.loads` takes over every line of the folder."""
    started = time.perf_counter()
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return time.perf_counter() - started


def scan(folder: Path) -> Run:
    """Measure a scan with the guards, in all its processes."""
    paths = os.pathsep.join(path for path in sys.path if path)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "satyrn_engine", "scan", "--format", "jsonl", str(folder)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert process.stdout is not None
    peaks = [0.0]
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(process.pid, peaks, done))
    watch.start()
    process.stdout.readline()
    first = time.perf_counter() - started
    sessions = 1 + sum(1 for _ in process.stdout)
    code = process.wait()
    total = time.perf_counter() - started
    done.set()
    watch.join()
    if code != 0:
        raise SystemExit(f"the scan ended with {code}")
    return Run(first, total, peaks[0], sessions)


def _watch(root: int, peaks: list[float], done: threading.Event) -> None:
    while not done.wait(LOOK):
        peaks[0] = max(peaks[0], _tree_memory(root))


def _tree_memory(root: int) -> float:
    """Return the megabytes of a process and all that it started, shared pages counted once."""
    total, waiting = 0, [root]
    while waiting:
        pid = waiting.pop()
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
            for thread in Path(f"/proc/{pid}/task").iterdir():
                if thread.name != str(pid):
                    children += " " + (thread / "children").read_text()
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        waiting += map(int, children.split())
        total += next(int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:")
    return total / 1000


def main() -> int:
    """Measure and print a table."""
    sizes = [int(size) for size in sys.argv[1:]] or [10, 100, 1000]
    print(f"{'MB':>6} {'sessions':>8} {'json.loads':>12} {'scan':>12} {'ratio':>6}", end="")
    print(f" {'first row':>10} {'peak memory':>12}")
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="satyrn-bench-") as name:
            folder = Path(name)
            megabytes = make_folder(folder, size * 1_000_000) / 1e6
            loads = plain(folder)
            run = scan(folder)
        speed, base = megabytes / run.total, megabytes / loads
        print(f"{megabytes:6.0f} {run.sessions:8} {base:7.0f} MB/s {speed:7.0f} MB/s", end="")
        print(f" {speed / base:6.2f} {run.first:8.2f} s {run.peak:9.0f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
