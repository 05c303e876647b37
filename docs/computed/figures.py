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
import textwrap
from pathlib import Path
from typing import Any

from docs.computed.neighbours import measure, table
from docs.computed.scoreboard_tables import Board, by_kind, collection, failures, totals
from tools.staging import copy_sources

#: Pages outside docs/ that show figures; of docs/, every page does that marks one.
READMES = ["README.md", "engine/README.md"]

_MARKED = re.compile(r"(<!--figure:([a-z-]+)-->)(.*?)(<!--/figure-->)", re.DOTALL)
_COLUMNS = 100

_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_IN_WORDS = {**dict(enumerate(_NUMBERS)), 15: "fifteen", 20: "twenty", 30: "thirty"}
_ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
_AS_ORDINAL = dict(enumerate(_ORDINALS))


def figures(node: str, sources: list[str]) -> dict[str, str]:
    """Compute every figure from the sources: the locks, the package, the guard and the replay."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder).resolve()
        copy_sources(sources, stage)
        guard: dict[str, Any] = json.loads(_node(node, stage, "docs/computed/measure_guard.mjs"))
        runs = _lines(_node(node, stage, "replay/replay_guards.mjs"))
        boards = _boards(node, stage)
        neighbours = measure(
            stage, lambda copy, *program: _lines(_node(node, copy, *program, failing=1))
        )
    package = _json("engine/package.json")
    node_engines = package["engines"]["node"]
    return {
        "collection": collection(boards[0]),
        "evidence": _table(runs),
        "failures": failures(boards),
        "first-refusal": _word(_AS_ORDINAL, guard["repeats"] + 1),
        "install": _install(package["name"], package["version"]),
        "neighbours": table(neighbours),
        "node-engines": node_engines,
        "node-oldest": node_engines.removeprefix(">="),
        "pi-newest": _pinned("tools/pi/newest/package.json"),
        "pi-oldest": _pinned("tools/pi/oldest/package.json"),
        "reason": quoted(guard["reason"]),
        "repeats": _word(_IN_WORDS, guard["repeats"]),
        "schema-retry": _unseen("fixtures/guards/edit-schema-retry.json"),
        "scores": totals(boards),
        "scores-by-kind": by_kind(boards),
        "telemetry": _block("json", _entry(guard["telemetry"])),
        "telemetry-data": _block("json", json.dumps(guard["telemetry"])),
        # So many different calls in turn never stand often enough in the window.
        "widest-cycle": _word(_IN_WORDS, guard["window"] // guard["repeats"] + 1),
        "window": str(guard["window"]),
        "window-in-words": _word(_IN_WORDS, guard["window"]),
    }


def pages(sources: list[str]) -> list[str]:
    """Return the pages that may show figures, among the program's inputs."""
    return [
        *READMES,
        *(name for name in sources if name.startswith("docs/") and name.endswith(".md")),
    ]


def quoted(text: str) -> str:
    """Return a text as a quotation in Markdown, in lines of at most 100 columns."""
    mark = "> "
    lines = textwrap.wrap(
        text, _COLUMNS - len(mark), break_long_words=False, break_on_hyphens=False
    )
    return "".join(f"\n{mark}{line}" for line in lines) + "\n"


def replaced(page: str, values: dict[str, str]) -> str:
    """Return the text of a page with all its figures as they are computed.

    Raises:
        KeyError: the page marks a figure that this program doesn't compute.
    """
    return _MARKED.sub(lambda found: found[1] + values[found[2]] + found[4], page)


def _boards(node: str, stage: Path) -> list[Board]:
    """Score all committed scenarios: the police in both profiles, and the engine."""
    evidence = ["--guard", "police", "--profile", "evidence"]
    classic = ["--guard", "police", "--profile", "classic"]

    def score(*options: str) -> list[dict[str, Any]]:
        # Exit code 1 says that some loop was missed, which is what the tables show.
        return _lines(_node(node, stage, "replay/score.mjs", "--json", *options, failing=1))

    return [
        Board("police, evidence", score(*evidence)),
        Board("police, classic", score(*classic)),
        Board("engine", score("--guard", "engine")),
    ]


def _node(node: str, stage: Path, program: str, *options: str, failing: int = 0) -> str:
    """Run a program of the project; `failing` is one more exit code that is fine."""
    command = [node, "--disable-warning=ExperimentalWarning", "--experimental-strip-types", program]
    command += options
    done = subprocess.run(command, cwd=stage, capture_output=True, text=True, check=False)
    if done.returncode not in {0, failing}:
        raise SystemExit(f"{program} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _lines(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


def _word(words: dict[int, str], number: int) -> str:
    """Return the word for a number where `words` has one, else its digits."""
    return words.get(number, str(number))


def _block(language: str, text: str) -> str:
    return f"\n```{language}\n{text}\n```\n"


def _install(name: str, version: str) -> str:
    tarball = f"npm:{name}@file:/path/to/{name}-{version}.tgz"
    return _block("console", f"$ pi install /path/to/checkout/engine\n$ pi install {tarball}")


def _table(runs: list[dict[str, Any]]) -> str:
    rows = ["| run | calls | refused | first refusal |", "| --- | --- | --- | --- |"]
    for run in runs:
        first = f"call {run['firstBlock']}" if run["firstBlock"] else "none"
        rows.append(f"| {run['name']} | {run['calls']} | {run['blocked']} | {first} |")
    return "\n" + "\n".join(rows) + "\n"


def _unseen(fixture: str) -> str:
    """Return how many calls of a recorded run never reached the hook, as its source tells."""
    source = _json(fixture)["source"]
    found = re.search(r"run of (\d+) calls, (\d+) of them refused by the tool's schema", source)
    if found is None:
        raise SystemExit(f"{fixture}: source no longer says how many calls were refused")
    return f"{found[1]} calls, of which {found[2]} never reached the hook"


def _entry(data: dict[str, Any]) -> str:
    return json.dumps({"type": "custom", "customType": "loop_broken", "data": data})


def _json(name: str) -> Any:  # noqa: ANN401 - the shape of a manifest
    return json.loads(Path(name).read_text(encoding="utf-8"))


def _pinned(manifest: str) -> str:
    [version] = _json(manifest)["dependencies"].values()
    return str(version)


def main() -> int:
    """Check or write the figures of all pages; exit 1 if one is not right, 2 for wrong usage."""
    try:
        mode, node, file_list = sys.argv[1:]
    except ValueError:
        mode = node = file_list = ""
    if mode not in {"check", "write"}:
        print("This program takes no arguments: tools/bazel run //docs:figures", file=sys.stderr)
        return 2
    sources = Path(file_list).read_text(encoding="utf-8").splitlines()
    values = figures(str(Path(node).absolute()), sources)
    checkout = Path(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."))
    stale = []
    for name in pages(sources):
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
