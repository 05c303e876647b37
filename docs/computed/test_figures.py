"""How figures stand in a page, and what the program says to wrong arguments."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.computed import figures

WORDS = st.text("abc-.,'", min_size=1, max_size=30)


@given(st.lists(WORDS, min_size=1, max_size=60).map(" ".join))
def test_a_quotation_keeps_its_words_in_lines_of_at_most_100_columns(text: str) -> None:
    quotation = figures.quoted(text)
    assert quotation.startswith("\n")
    assert quotation.endswith("\n")
    lines = quotation.strip("\n").split("\n")
    assert all(line.startswith("> ") and len(line) <= 100 for line in lines)
    assert " ".join(line.removeprefix("> ") for line in lines) == text


def test_a_figure_is_replaced_between_its_comments_and_nothing_else_is() -> None:
    page = "5 of <!--figure:window-->5<!--/figure-->, <!--figure:window-->\n7\n<!--/figure-->"
    assert figures.replaced(page, {"window": "20"}) == (
        "5 of <!--figure:window-->20<!--/figure-->, <!--figure:window-->20<!--/figure-->"
    )


def test_a_figure_that_is_not_computed_is_an_error() -> None:
    with pytest.raises(KeyError, match="moon"):
        figures.replaced("<!--figure:moon-->1<!--/figure-->", {"window": "20"})


@pytest.mark.parametrize("arguments", [[], ["check"], ["guess", "node", "files"], ["a"] * 4])
def test_wrong_arguments_are_answered_with_the_command_to_use(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["figures.py", *arguments])
    assert figures.main() == 2
    assert capsys.readouterr().err.endswith(": tools/bazel run //docs:figures\n")
