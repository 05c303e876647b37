"""The words are loud, and there twice."""

from pathlib import Path


def test_the_words_are_loud_and_there_twice() -> None:
    text = Path("tools/cache/specimen/twice.txt").read_text(encoding="utf-8")
    assert text.startswith("THE QUICK BROWN FOX\nTHE QUICK BROWN FOX\n")
