"""The command lines: of `satyrn-engine` from the command itself, of `replay/` as they print it."""

from __future__ import annotations

import re

# Cyclopts' own contents, which a page of the site has beside it.
_CONTENTS = re.compile(r"^## Table of Contents\n\n(?:- .*\n| +- .*\n)+\n", re.MULTILINE)


def satyrn_engine() -> str:
    """Return every command of `satyrn-engine` with every option, as Markdown."""
    from satyrn_engine.cli import app

    page = app.generate_docs(output_format="markdown")
    # The page that includes this has a title of its own.
    return _CONTENTS.sub("", page.partition("\n")[2].lstrip("\n"), count=1)


def node_help(text: str) -> str:
    """Return what a program prints for `--help`, as it stands."""
    return f"```text\n{text.rstrip()}\n```\n"
