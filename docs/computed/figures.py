"""The figures in the documentation, computed.

`figures.py check` compares the pages with what is computed, `figures.py write` writes it into them.
A page marks a figure with two comments, `<!--figure:NAME-->...<!--/figure-->`; what stands between
them is this program's.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.staging import copy_sources

PAGES = ["README.md", "docs/architecture.md", "docs/policy.md", "docs/usage.md"]

_MARKED = re.compile(r"(<!--figure:([a-z-]+)-->)(.*?)(<!--/figure-->)", re.DOTALL)
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_ORDINALS = [
    "",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
]


def figures(node: str, sources: list[str]) -> dict[str, str]:
    """Compute every figure from the sources: the locks, the package, the guard and the replay."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder).resolve()
        copy_sources(sources, stage)
        guard: dict[str, Any] = json.loads(_node(node, stage, "docs/computed/measure_guard.mjs"))
        replayed = _node(node, stage, "replay/replay_guards.mjs").splitlines()
    runs = [json.loads(line) for line in replayed]
    return {
        "evidence": _table(runs),
        "first-refusal": _ORDINALS[guard["repeats"] + 1],
        "node-engines": _json("engine/package.json")["engines"]["node"],
        "pi-newest": _pinned("tools/pi/newest/package.json"),
        "pi-oldest": _pinned("tools/pi/oldest/package.json"),
        "reason": f"\n> {guard['reason']}\n",
        "repeats": _NUMBERS[guard["repeats"]],
        "telemetry": f"\n```json\n{_entry(guard['telemetry'])}\n```\n",
        "window": str(guard["window"]),
    }


def replaced(page: str, values: dict[str, str]) -> str:
    """Return the text of a page with all its figures as they are computed.

    Raises:
        KeyError: the page marks a figure that this program doesn't compute.
    """
    return _MARKED.sub(lambda found: found[1] + values[found[2]] + found[4], page)


def _node(node: str, stage: Path, program: str) -> str:
    command = [node, "--disable-warning=ExperimentalWarning", "--experimental-strip-types", program]
    done = subprocess.run(command, cwd=stage, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{program} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _table(runs: list[dict[str, Any]]) -> str:
    rows = ["| run | calls | refused | first refusal |", "| --- | --- | --- | --- |"]
    for run in runs:
        first = f"call {run['firstBlock']}" if run["firstBlock"] else "none"
        rows.append(f"| {run['name']} | {run['calls']} | {run['blocked']} | {first} |")
    return "\n" + "\n".join(rows) + "\n"


def _entry(data: dict[str, Any]) -> str:
    return json.dumps({"type": "custom", "customType": "loop_broken", "data": data})


def _json(name: str) -> Any:  # noqa: ANN401 - the shape of a manifest
    return json.loads(Path(name).read_text(encoding="utf-8"))


def _pinned(manifest: str) -> str:
    [version] = _json(manifest)["dependencies"].values()
    return str(version)


def main() -> int:
    """Check or write the figures of all pages."""
    mode, node, file_list = sys.argv[1:]
    sources = Path(file_list).read_text(encoding="utf-8").splitlines()
    values = figures(str(Path(node).absolute()), sources)
    checkout = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    stale = []
    for name in PAGES:
        page = checkout / name
        before = page.read_text(encoding="utf-8")
        after = replaced(before, values)
        if before != after:
            stale.append(name)
            if mode == "write":
                page.write_text(after, encoding="utf-8")
    for name in stale:
        print(f"{name}: {'written' if mode == 'write' else 'a figure is not what is computed'}")
    if stale and mode == "check":
        print("Write them with: tools/bazel run //docs:figures")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
