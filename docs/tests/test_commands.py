"""The commands and examples of the documentation do what it says.

The blocks of a page are run one after the other in one sandbox, as a reader would. What stands
below a command is what it prints; `...` stands for anything.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from docs.tests.pages import blocks
from docs.tests.sandbox import Sandbox

RUN = [
    block
    for block in blocks("console", "python")
    if block.not_run is None and (block.language == "console" or block.run)
]
BY_PAGE = {page: list(found) for page, found in groupby(RUN, key=lambda block: block.page)}


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    """A fresh sandbox."""
    made = Sandbox(tmp_path.resolve())
    yield made
    made.close()


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a block, each with what is to be printed below it."""
    parts = re.split(r"(?m)^\$ ", text)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def fits(expected: str, printed: str) -> bool:
    """Return whether a text is what is expected; nothing expected is everything.

    `...` alone on a line stands for any lines, none included, and within one for any characters.
    """
    if not expected.strip():
        return True
    pattern = ""
    for line in expected.rstrip("\n").split("\n"):
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("...")) + r"[ ]*\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


@pytest.mark.parametrize("page", BY_PAGE)
def test_the_commands_of_a_page_do_what_it_says(page: str, sandbox: Sandbox) -> None:
    for block in BY_PAGE[page]:
        if block.language == "python":
            code, printed, problems = _run(sandbox, ["python", "-"], block.text)
            assert code == block.exit, f"{block.place}\n{problems}"
            continue
        for command, output in commands(block.text):
            code, printed, problems = _run(sandbox, ["sh"], sandbox.command(command))
            shown = f"{block.place}: {command}\n{printed}{problems}"
            assert code == block.exit, shown
            # A terminal shows both.
            shows = fits(output, printed) or fits(output, problems + printed)
            assert shows, f"{shown}\nexpected:\n{output}"


def _run(sandbox: Sandbox, program: list[str], text: str) -> tuple[int, str, str]:
    """Run a script; return its exit code and what it printed."""
    done = subprocess.run(
        program,
        input=text,
        cwd=sandbox.folder,
        env=sandbox.environment(),
        capture_output=True,
        text=True,
        timeout=240,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_page_with_commands_is_found() -> None:
    assert {"README.md", "docs/tutorial/first-loop.md", "docs/guides/scan.md"} <= BY_PAGE.keys()


@pytest.mark.parametrize(
    ("expected", "printed", "right"),
    [
        ("", "anything\n", True),
        ("one\n", "one\n", True),
        ("one\n", "two\n", False),
        ("one ... three\n", "one two three\n", True),
        ("one\n...\nthree\n", "one\ntwo\ntwo\nthree\n", True),
        ("one\n...\nthree\n", "one\nthree\n", True),
        ("one\n...\nthree\n", "one\ntwo\n", False),
        ("one\n", "one\ntwo\n", False),
    ],
)
def test_what_is_printed_must_fit(expected: str, printed: str, right: bool) -> None:
    assert fits(expected, printed) is right
