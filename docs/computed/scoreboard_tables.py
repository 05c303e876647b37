"""The scoreboard's JSON lines as tables and lists for the documentation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]


class Board(NamedTuple):
    """What one guard did on all scenarios.

    Attributes:
        title: The guard, with its profile.
        rows: The scoreboard's JSON lines.
    """

    title: str
    rows: Sequence[Row]

    def summaries(self, counted: str) -> dict[str | None, Row]:
        """Return the summaries by kind; None is the kind of all together."""
        found = [row for row in self.rows if row["type"] == "summary"]
        return {row["kind"]: row for row in found if row["counted"] == counted}

    def names(self, *outcomes: str) -> list[str]:
        """Return the scenarios with these outcomes by enforcement."""
        found = [row for row in self.rows if row["type"] == "scenario"]
        return sorted(row["name"] for row in found if row["enforced"]["outcome"] in outcomes)


def totals(boards: Iterable[Board]) -> str:
    """Return a table of all kinds together: a row for each guard and way of counting."""
    head = ["guard", "counted", "caught in time", "recall (95%)", "late"]
    head += ["false alarms", "rate (95%)", "median event", "median delay"]
    rows = []
    for board in boards:
        for counted in ("enforced", "any"):
            row = board.summaries(counted)[None]
            recall, alarms = row["recall"], row["falseAlarms"]
            cells = [board.title, counted, _count(recall), _rate(recall), str(row["late"])]
            cells += [_count(alarms), _rate(alarms)]
            cells += [_number(row["medianEvent"]), _number(row["medianDelay"])]
            rows.append(cells)
    return _table(head, rows)


def by_kind(boards: Sequence[Board]) -> str:
    """Return a table of the kinds: how many loops each guard stopped in time, and false alarms."""
    summaries = [board.summaries("enforced") for board in boards]
    kinds = sorted(kind for kind in summaries[0] if kind is not None)
    head = ["kind", "loops", "legitimate"]
    for board in boards:
        head += [f"{board.title}: caught", "false alarms"]
    rows = []
    for kind in kinds:
        of = summaries[0][kind]
        cells = [kind, str(of["recall"]["of"]), str(of["falseAlarms"]["of"])]
        for summary in summaries:
            row = summary[kind]
            cells += [str(row["recall"]["count"]), str(row["falseAlarms"]["count"])]
        rows.append(cells)
    return _table(head, rows)


def failures(boards: Iterable[Board]) -> str:
    """Return a list of what each guard gets wrong by enforcement, by name."""
    wrongs: list[tuple[str, Callable[[Board], list[str]]]] = [
        ("not caught", lambda board: board.names("missed")),
        ("caught late", lambda board: board.names("late")),
        ("false alarm", lambda board: board.names("false alarm")),
    ]
    lines = []
    for board in boards:
        for wrong, names_of in wrongs:
            names = names_of(board)
            listed = ", ".join(f"`{name}`" for name in names) or "none"
            lines.append(f"- {board.title}, {wrong} ({len(names)}): {listed}")
    return "\n" + "\n".join(lines) + "\n"


def collection(board: Board) -> str:
    """Return the size of the collection in words."""
    row = board.summaries("any")[None]
    loops, honest = row["recall"]["of"], row["falseAlarms"]["of"]
    return f"{loops + honest} scenarios, {loops} loops and {honest} legitimate ones"


def _table(head: list[str], rows: Iterable[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _count(share: Row) -> str:
    return f"{share['count']} of {share['of']}"


def _rate(share: Row) -> str:
    if share["rate"] is None:
        return "-"
    low, high = share["interval"]
    return f"{share['rate']:.1%} ({low:.1%} to {high:.1%})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"
