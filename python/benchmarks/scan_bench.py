"""How fast a scan is, beside a plain `json.loads` over the same bytes, and what memory it takes.

The sessions are made up, with a fixed seed: answers with thinking and text, calls with results of a
few kilobytes, one session in ten with a loop. Their texts are like source code and what commands
print, with about as many escapes as recorded sessions have (31 a kilobyte); `--content prose` has
none, which is what suits `json.loads` best.

Every figure is the best of several runs, the memory the highest. Seconds of the processor stand
beside those of the clock, because on a machine that is busy with other things the clock says
little: `idle` is what the ratio would be if the scan had each core for itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

#: When the sessions begin, in seconds of Unix time.
STARTED = 1_767_323_045
#: Bytes of a session, on average.
SESSION = 1_000_000
#: How many lines of code hold a quoted word.
QUOTING = 0.25
#: Seconds between two looks at the memory.
LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Run:
    """A run, or the best of several.

    Attributes:
        wall: seconds of the clock.
        cpu: seconds of all its processes together.
        first: seconds of the clock until the first row.
        peak: megabytes.
        sessions: rows.
    """

    wall: float
    cpu: float
    first: float = 0.0
    peak: float = 0.0
    sessions: int = 0


def make_folder(folder: Path, size: int, content: str = "code") -> int:
    """Fill a folder with sessions of `size` bytes in all; return the bytes written."""
    rng = random.Random(20)  # noqa: S311
    text = _prose(rng) if content == "prose" else _code(rng)
    written = number = 0
    while written < size:
        data = _session(rng, text, loops=number % 10 == 0)
        (folder / f"{number:06}.jsonl").write_bytes(data)
        written += len(data)
        number += 1
    return written


def _prose(rng: random.Random) -> str:
    return " ".join(f"word{rng.randrange(5000)}" for _ in range(200_000))


def _code(rng: random.Random) -> str:
    """Lines of a few words, indented, now and then with a quoted one."""
    lines = []
    for _ in range(40_000):
        words = [f"word{rng.randrange(5000)}" for _ in range(rng.randint(1, 9))]
        if rng.random() < QUOTING:
            words[-1] = f'"{words[-1]}"'
        lines.append("  " * rng.randrange(5) + " ".join(words))
    return "\n".join(lines)


def _session(rng: random.Random, source: str, *, loops: bool) -> bytes:
    """Return a session with the fields that Pi writes."""
    head = {"type": "session", "version": 3, "id": f"{rng.random()}", "timestamp": _time(0)}
    lines = [json.dumps({**head, "cwd": "/p"}, separators=(",", ":"))]
    parent: str | None = None
    size = number = 0

    def text(mean: float) -> str:
        length = min(int(rng.lognormvariate(0, 1) * mean), 50_000)
        start = rng.randrange(len(source) - length)
        return source[start : start + length]

    def add(message: dict[str, object]) -> None:
        nonlocal parent, size, number
        entry = {"type": "message", "id": f"{number:08x}", "parentId": parent}
        parent = f"{number:08x}"
        message["timestamp"] = STARTED * 1000 + number
        whole = {**entry, "timestamp": _time(number), "message": message}
        lines.append(json.dumps(whole, separators=(",", ":")))
        size += len(lines[-1])
        number += 1

    while size < SESSION:
        command = "ls -R" if loops else text(80)
        call = {"type": "toolCall", "id": f"c{number}", "name": "bash"}
        content = [
            {"type": "thinking", "thinking": text(400)},
            {**call, "arguments": {"command": command}},
        ]
        model = {"api": "test", "provider": "p", "model": f"m{rng.randrange(3)}"}
        answer = {"role": "assistant", "content": content, **model, "usage": _usage(rng)}
        add({**answer, "stopReason": "toolUse"})
        told = [{"type": "text", "text": text(3000)}]
        result = {"role": "toolResult", "toolCallId": call["id"], "toolName": "bash"}
        add({**result, "content": told, "isError": False})
    return "\n".join(lines).encode() + b"\n"


def _time(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(STARTED + milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _usage(rng: random.Random) -> dict[str, object]:
    tokens = {"input": rng.randrange(5000), "output": rng.randrange(500), "cacheRead": 20_000}
    tokens["cacheWrite"] = rng.randrange(2000)
    cost = {name: count * 3e-6 for name, count in tokens.items()}
    return {
        **tokens,
        "totalTokens": sum(tokens.values()),
        "cost": {**cost, "total": sum(cost.values())},
    }


def plain(folder: Path) -> Run:
    """Measure `json.loads` over every line of the folder."""
    wall, cpu = time.perf_counter(), time.process_time()
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)
    return Run(time.perf_counter() - wall, time.process_time() - cpu)


def scan(folder: Path, guards: list[str]) -> Run:
    """Measure a scan with the guards, in all its processes."""
    paths = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-m", "satyrn_engine", "scan", "--format", "jsonl"]
    for guard in guards:
        command += ["--guard", guard]
    before = _cpu_of_children()
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, str(folder)],
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
    wall = time.perf_counter() - started
    done.set()
    watch.join()
    if code != 0:
        raise SystemExit(f"the scan ended with {code}")
    return Run(wall, _cpu_of_children() - before, first, peaks[0], sessions)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best(runs: list[Run]) -> Run:
    """Join runs: the shortest times, and the highest peak."""
    return Run(
        min(run.wall for run in runs),
        min(run.cpu for run in runs),
        min(run.first for run in runs),
        max(run.peak for run in runs),
        runs[0].sessions,
    )


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
    options = _options()
    cores = len(os.sched_getaffinity(0))
    content, guards = options.content, " and ".join(options.guard)
    print(f"{content}, guarded by {guards}, {cores} cores, best of {options.repeat}")
    print("            ---- json.loads ----   ------- scan -------   -- ratio --")
    print("    MB rows   clock    cpu  MB/s     clock    cpu  MB/s   clock  idle", end="")
    print("  first row    peak  escapes")
    before: tuple[float, Run] | None = None
    for size in options.megabytes:
        with tempfile.TemporaryDirectory(prefix="satyrn-bench-") as name:
            folder = Path(name)
            megabytes = make_folder(folder, size * 1_000_000, options.content) / 1e6
            escapes = _escapes(folder)
            loads = best([plain(folder) for _ in range(options.repeat)])
            run = best([scan(folder, options.guard) for _ in range(options.repeat)])
        print(
            f"{megabytes:6.0f} {run.sessions:4}"
            f" {loads.wall:5.2f} s {loads.cpu:5.2f} s {megabytes / loads.wall:5.0f}"
            f"   {run.wall:5.2f} s {run.cpu:5.2f} s {megabytes / run.wall:5.0f}"
            f"   {loads.wall / run.wall:5.2f} {cores * loads.cpu / run.cpu:5.2f}"
            f" {run.first:8.2f} s {run.peak:4.0f} MB {escapes:4.1f}/kB",
            flush=True,
        )
        if before is not None:
            _tell_growth(before, (megabytes, run))
        before = megabytes, run
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="How fast a scan is.")
    parser.add_argument("megabytes", nargs="*", type=int, default=[10, 100, 1000])
    parser.add_argument("--guard", action="append", choices=["engine", "police"])
    parser.add_argument("--content", choices=["code", "prose"], default="code")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    options.guard = options.guard or ["engine"]
    return options


def _escapes(folder: Path) -> float:
    """Return the backslashes in a thousand bytes of a session."""
    data = next(folder.iterdir()).read_bytes()
    return data.count(b"\\") / len(data) * 1000


def _tell_growth(before: tuple[float, Run], now: tuple[float, Run]) -> None:
    (size, run), (larger, longer) = before, now
    print(
        f"       {larger / size:.1f} times the bytes: {longer.wall / run.wall:.1f} times the clock,"
        f" {longer.cpu / run.cpu:.1f} times the processor, {longer.peak / run.peak:.2f} times the"
        f" memory; {(larger - size) / (longer.cpu - run.cpu):.0f} MB more for each second of cpu"
    )


if __name__ == "__main__":
    sys.exit(main())
