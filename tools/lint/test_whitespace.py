"""The whitespace check agrees with `git diff --check`, line by line."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tools.lint.whitespace import problems

PIECES = st.sampled_from(
    [b"a", b" ", b"\t", b"\n", b"\r", b"=======", b"<<<<<<< ", b"b c", b"\n\n"]
)


def _by_git(folder: Path, content: bytes) -> set[int]:
    """Return the lines that Git finds fault with when `content` is a new file."""
    (folder / "f.txt").write_bytes(content)
    command = ["git", "diff", "--no-index", "--check", "--", "/dev/null", "f.txt"]
    out = subprocess.run(command, cwd=folder, capture_output=True, check=False).stdout
    return _lines(out.decode())


def _lines(report: str) -> set[int]:
    """Return the numbered lines, but for the blank line at the end.

    Git names the first of several there, and none in a file that has no other line.
    """
    numbered = re.findall(
        r"^f\.txt:(\d+): (?!new blank line at EOF|no newline)", report, re.MULTILINE
    )
    return {int(n) for n in numbered}


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@example(b"\t \ta\n")
@example(b" \ta\n")
@example(b"\t a\n")
@example(b"a \tb\n")
@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_finds_the_lines_that_git_finds(tmp_path: Path, content: bytes) -> None:
    assert _lines("\n".join(problems("f.txt", content))) == _by_git(tmp_path, content)


def test_a_blank_line_at_the_end_is_named_and_one_inside_is_not() -> None:
    assert problems("f.txt", b"a\n\n") == ["f.txt:2: new blank line at EOF"]
    assert problems("f.txt", b"\n") == ["f.txt:1: new blank line at EOF"]
    assert problems("f.txt", b"a\n\nb\n") == []


@pytest.mark.parametrize("content", [b"", b"a\n", b"a\n\nb\n", b"\ta\n", b"a\0 \n"])
def test_clean_text_and_binary_files_have_no_problem(content: bytes) -> None:
    assert problems("f.txt", content) == []


def test_a_missing_last_newline_is_named() -> None:
    assert problems("f.txt", b"a") == ["f.txt:1: no newline at the end of the file"]
