"""What the guard would do with other figures than its own: computed with a changed copy of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from docs.computed.scoreboard_tables import Board

Row = dict[str, Any]

#: Figures beside the guard's own: how many identical calls are enough, among how many.
PAIRS = [(2, 20), (3, 20), (4, 20), (5, 20), (6, 20), (7, 20), (5, 10), (5, 40)]

#: Recorded runs that did honest work, and two that looped.
HONEST = ("accepted-contract", "accepted-magicmock", "healthy-excerpt")
LOOPED = ("anchor-mismatch", "runaway-excerpt")


class Neighbour(NamedTuple):
    """What came of one pair of figures.

    Attributes:
        repeats: how many identical calls are enough.
        window: among how many admitted ones.
        runs: the replay's JSON lines.
        board: the scoreboard's.
    """

    repeats: int
    window: int
    runs: Sequence[Row]
    board: Board


def changed(source: str, repeats: int, window: int) -> str:
    """Return the guard's source with other figures.

    Raises:
        ValueError: the source doesn't hold each figure exactly once.
    """
    for name, value in (("WINDOW", window), ("REPEATS", repeats)):
        source, count = re.subn(rf"(?m)^const {name} = \d+;$", f"const {name} = {value};", source)
        if count != 1:
            raise ValueError(f"engine/engine.ts doesn't hold `const {name} = NUMBER;` once")
    return source


def measure(
    stage: Path,
    run: Callable[..., list[Row]],
) -> list[Neighbour]:
    """Replay the evidence and the scenarios with each pair of figures.

    Args:
        stage: the staged sources; a changed copy is made beside it, file by file.
        run: runs a program of the copy, and returns its JSON lines.
    """

    def one(pair: tuple[int, int]) -> Neighbour:
        repeats, window = pair
        copy = stage.parent / f"{stage.name}-{repeats}-{window}"
        shutil.copytree(stage, copy)
        engine = copy / "engine" / "engine.ts"
        engine.write_text(changed(engine.read_text("utf-8"), repeats, window), encoding="utf-8")
        # What the fixtures and scenarios expect of the guard's own figures can't hold here.
        runs = run(copy, "replay/replay_guards.mjs")
        board = Board("engine", run(copy, "replay/score.mjs", "--json", "--guard", "engine"))
        shutil.rmtree(copy)
        return Neighbour(repeats, window, runs, board)

    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(one, PAIRS))


def table(neighbours: Sequence[Neighbour]) -> str:
    """Return a row for each pair of figures."""
    head = ["refused after", "of the last", "honest runs: calls refused"]
    head += [f"{name}: first refusal" for name in LOOPED]
    head += ["loops caught in time", "late", "false alarms"]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for each in neighbours:
        runs = {run["name"]: run for run in each.runs}
        scores = each.board.summaries("enforced")[None]
        cells = [f"{each.repeats}", f"{each.window}"]
        cells.append(str(sum(runs[name]["blocked"] for name in HONEST)))
        cells += [_first(runs[name]["firstBlock"]) for name in LOOPED]
        cells.append(f"{scores['recall']['count']} of {scores['recall']['of']}")
        cells.append(str(scores["late"]))
        cells.append(f"{scores['falseAlarms']['count']} of {scores['falseAlarms']['of']}")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n"


def _first(number: int | None) -> str:
    return "none" if number is None else f"call {number}"
