"""Tables in terminals of any width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from satyrn_engine._columns import Column, fitted, rounded

# The shape of the table of sessions.
NAMES = ("recorded/2026-11-30T10-20-30.jsonl", "b.jsonl")
COLUMNS = [
    Column("Session", NAMES, text=True),
    Column("Model", ("somebody/a-model-with-a-long-name-12B-8bit", "m"), text=True),
    Column("Calls", ("391", "12")),
    Column("Run", ("47", "2"), spare=2),
    Column("of 20", ("19", "3"), spare=1),
    Column("Tokens after", ("34,267,083", "1,234"), short=("34.3M", "1,234")),
]
# Below it not even the columns that always stay have room.
NARROWEST = 45


def printed(width: int, columns: list[Column] = COLUMNS) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(fitted("Sessions", columns, width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_with_room_for_all_everything_is_shown_as_it_is() -> None:
    text = printed(130)
    for column in COLUMNS:
        assert column.name in text
        assert all(cell in text for cell in column.cells)
    assert "A wider window" not in text


def test_numbers_are_rounded_before_a_column_is_left_out() -> None:
    text = printed(90)
    assert "34.3M" in text
    assert "34,267,083" not in text
    assert "47" in text
    assert "A wider window" not in text


def test_columns_are_left_out_in_their_order_and_it_is_said() -> None:
    assert "A wider window also shows: of 20." in printed(58)
    text = printed(50)
    assert "A wider window also shows: Run, of 20." in " ".join(text.split())
    assert "47" not in text
    assert "391" in text


@given(st.integers(NARROWEST, 200))
def test_at_every_width_no_number_is_cut_and_no_line_too_long(width: int) -> None:
    lines = printed(width).splitlines()
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert "…" not in text
    assert "34.3M" in text or "34,267,083" in text
    assert "1,234" in text


@given(st.integers(NARROWEST, 199))
def test_more_room_never_shows_fewer_columns(width: int) -> None:
    def shown(text: str) -> int:
        return text.partition("\n┡")[0].count("┳")

    assert shown(printed(width)) <= shown(printed(width + 1))


def test_wide_characters_count_as_wide() -> None:
    columns = [
        Column("Session", ("会话" * 10,), text=True),
        Column("Tokens", ("34,267,083",), short=("34.3M",)),
    ]
    assert "34.3M" in printed(40, columns)
    assert "34,267,083" in printed(60, columns)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10.0K"),
        (34_267_083, "34.3M"),
        (999_949, "999.9K"),
        (999_950, "1.0M"),
        (7_000_000_000, "7.0B"),
        (5_000_000_000_000_000, "5000.0T"),
    ],
)
def test_a_count_is_rounded_to_four_digits_at_most(number: int, text: str) -> None:
    assert rounded(number) == text


@given(st.integers(0, 10**15 - 10**12))
def test_a_rounded_count_is_short_and_near(number: int) -> None:
    text = rounded(number)
    assert len(text) <= 6
    units = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
    unit = units.get(text[-1], 1)
    value = float(text.rstrip("KMBT").replace(",", "")) * unit
    assert abs(value - number) <= max(unit * 0.0501, 0)


def test_less_than_nothing_is_no_count() -> None:
    with pytest.raises(ValueError, match="-1 is no count"):
        rounded(-1)
