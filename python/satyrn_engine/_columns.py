"""Render: a table in the fullest form that a width has room for, in which no number is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

# Cells that rich puts around each column (a space on both sides and a line), and before the first.
_AROUND = 3
_EDGE = 1
# Cells that a text needs at least where it is folded: names of models and files stay readable.
_FOLDED = 14


@dataclass(frozen=True)
class Column:
    """A column with its cells.

    Attributes:
        name: the heading.
        cells: one for each row.
        text: whether it is folded when there is little room; numbers never are.
        short: the cells when there is little room, such as rounded numbers.
        spare: in which order columns are left out, 1 first; those with 0 always stay.
    """

    name: str
    cells: Sequence[str]
    text: bool = False
    short: Sequence[str] | None = None
    spare: int = 0


def fitted(title: str, columns: Sequence[Column], width: int) -> Table:
    """Return the table as full as `width` cells allow, with a note of what was left out."""
    shown = list(columns)
    if _needed(shown, fold=False) > width:
        shown = [_shortened(column) for column in columns]
    for spare in sorted((column for column in shown if column.spare), key=lambda one: one.spare):
        if _needed(shown, fold=True) <= width:
            break
        shown.remove(spare)
    table = Table(title=title, title_justify="left", caption_justify="left")
    kept = {column.spare for column in shown}
    left_out = [column.name for column in columns if column.spare not in kept]
    if left_out:
        table.caption = f"A wider window also shows: {', '.join(left_out)}."
    for column in shown:
        if column.text:
            table.add_column(column.name, overflow="fold")
        else:
            table.add_column(column.name, justify="right", no_wrap=True)
    for row in zip(*(column.cells for column in shown), strict=True):
        table.add_row(*map(Text, row))
    return table


def rounded(number: int) -> str:
    """Return a count in at most six characters, as `34.3M`.

    Raises:
        ValueError: for a number below 0.
    """
    if number < 0:
        raise ValueError(f"{number} is no count")
    if number < 10_000:
        return f"{number:,}"
    value, units = number / 1000, "KMBT"
    # What rounds to a thousand is one of the next unit.
    while value >= 999.95 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f}{units[0]}"


def _shortened(column: Column) -> Column:
    # A heading of several words takes several lines.
    return replace(column, name=column.name.replace(" ", "\n"), cells=column.short or column.cells)


def _needed(columns: Sequence[Column], *, fold: bool) -> int:
    return _EDGE + sum(_AROUND + _width(column, fold=fold) for column in columns)


def _width(column: Column, *, fold: bool) -> int:
    heading = max(map(cell_len, column.name.split("\n")))
    longest = max(map(cell_len, column.cells), default=0)
    if fold and column.text:
        longest = min(longest, _FOLDED)
    return max(heading, longest)
