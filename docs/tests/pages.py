"""The project's Markdown pages: where they lie, and the blocks of code in them.

A comment right before a block says what a test can't know:

    <!--not run: REASON-->   the block is not run, and why it can't be
    <!--run-->               a Python block is run, and not only compiled
    <!--exit N-->            the commands of the block end with N
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: The folder that the pages lie in: the sandbox's, not the checkout that its links lead to.
ROOT = Path(os.path.abspath(__file__)).parents[2]  # noqa: PTH100

_MARK = re.compile(r"<!--\s*(not run:|run|exit)\s*(.*?)\s*-->\s*")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code.

    Attributes:
        page: the page's path in the checkout.
        line: where the block begins, 1 for the first line.
        language: what its fence names, in lower case; empty if it names none.
        text: what is in it.
        not_run: why it isn't run; None if it is.
        run: whether a Python block is to be run.
        exit: what its commands end with.
    """

    page: str
    line: int
    language: str
    text: str
    not_run: str | None = None
    run: bool = False
    exit: int = 0

    @property
    def place(self) -> str:
        """Where it stands, for messages and names of tests."""
        return f"{self.page}:{self.line}"


def pages() -> list[str]:
    """Return every Markdown page, as paths in the checkout."""
    found = (file.relative_to(ROOT) for file in ROOT.glob("**/*.md"))
    return sorted(
        str(file) for file in found if "node_modules" not in file.parts and ".." not in file.parts
    )


def source(page: str) -> str:
    """Return a page's text, without the head that some readers of skills want."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return _FRONT_MATTER.sub(lambda head: "\n" * head[0].count("\n"), text)


def parsed(page: str) -> list[Token]:
    """Return a page as tokens."""
    return MarkdownIt("commonmark").enable("table").parse(source(page))


def blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages, those in `languages` if any are named."""
    found = [block for page in pages() for block in _blocks_of(page)]
    return [block for block in found if not languages or block.language in languages]


def _blocks_of(page: str) -> Iterator[Block]:
    mark = ""
    for token in parsed(page):
        if token.type == "html_block":
            mark = token.content
        elif token.type == "fence":
            # A directive of the site's, as `{include}`, is no code.
            if not token.info.startswith("{"):
                yield _block(page, token, mark)
            mark = ""
        elif token.type != "list_item_open":
            mark = ""


def _block(page: str, token: Token, mark: str) -> Block:
    line = (token.map or [0])[0] + 1
    language = token.info.strip().lower()
    block = Block(page, line, language, token.content)
    found = _MARK.fullmatch(mark.strip() + "\n")
    if found is None:
        return block
    kind, rest = found.groups()
    if kind == "not run:":
        return Block(page, line, language, token.content, not_run=rest)
    if kind == "run":
        return Block(page, line, language, token.content, run=True)
    return Block(page, line, language, token.content, exit=int(rest))
