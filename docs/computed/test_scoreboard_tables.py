"""Tables and lists are made of what the scoreboard printed, and of nothing else."""

from __future__ import annotations

from typing import Any

from docs.computed.scoreboard_tables import Board, by_kind, collection, failures, totals


def share(count: int, of: int) -> dict[str, Any]:
    if of == 0:
        return {"count": count, "of": of, "rate": None, "interval": None}
    return {"count": count, "of": of, "rate": count / of, "interval": [0.25, 0.75]}


def summary(kind: str | None, counted: str, caught: int, loops: int) -> dict[str, Any]:
    return {
        "type": "summary",
        "kind": kind,
        "counted": counted,
        "recall": share(caught, loops),
        "late": 1,
        "falseAlarms": share(0, 0 if kind else 2),
        "medianEvent": None if kind else 3.5,
        "medianDelay": 0,
    }


def scenario(name: str, outcome: str) -> dict[str, Any]:
    told = {"outcome": "caught"}
    return {"type": "scenario", "name": name, "any": told, "enforced": {"outcome": outcome}}


BOARD = Board(
    "police",
    [
        scenario("b", "missed"),
        scenario("a", "missed"),
        scenario("c", "caught"),
        scenario("d", "false alarm"),
        *(summary(None, counted, 2, 4) for counted in ("any", "enforced")),
        *(summary("polling", counted, 1, 2) for counted in ("any", "enforced")),
    ],
)


def test_the_totals_have_a_row_for_each_way_of_counting() -> None:
    head, _, enforced, told = totals([BOARD]).strip().splitlines()
    assert head.startswith("| guard | counted | caught in time |")
    rest = "2 of 4 | 50.0% (25.0% to 75.0%) | 1 | 0 of 2 | 0.0% (25.0% to 75.0%) | 3.5 | 0 |"
    assert enforced == f"| police | enforced | {rest}"
    assert told == f"| police | any | {rest}"


def test_without_a_case_there_is_no_rate_and_no_median() -> None:
    empty = Board("engine", [summary(None, counted, 0, 0) for counted in ("any", "enforced")])
    cells = totals([empty]).strip().splitlines()[2].split(" | ")
    assert cells[2:4] == ["0 of 0", "-"]


def test_each_kind_has_a_row_with_both_numbers_of_each_guard() -> None:
    rows = by_kind([BOARD, BOARD]).strip().splitlines()
    assert rows[2:] == ["| polling | 2 | 0 | 1 | 0 | 1 | 0 |"]


def test_what_goes_wrong_is_named_by_what_was_enforced() -> None:
    assert failures([BOARD]).strip().splitlines() == [
        "- police, not caught (2): `a`, `b`",
        "- police, caught late (0): none",
        "- police, false alarm (1): `d`",
    ]


def test_the_size_of_the_collection_is_counted() -> None:
    assert collection(BOARD) == "6 scenarios, 4 loops and 2 legitimate ones"
