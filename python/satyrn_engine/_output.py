"""Render: where findings go: standard output, a device, or a file that appears when complete."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from rich.console import Console

from satyrn_engine._sources import STDIN, SUFFIXES
from satyrn_engine.errors import ConfigError


def check_output(option: str, path: Path | None, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse what cannot be written, or would destroy what is read, before any work is done.

    Args:
        option: that named the path.
        path: where to write; None or a hyphen for standard output.
        inputs: files and folders that are read.

    Raises:
        ConfigError: if it is refused.
    """
    if path is None or is_standard(path) or _special(path):
        return
    if path.is_dir():
        raise ConfigError(f"{option} {path}: is a folder; name a file in it")
    target = path.resolve()
    if not target.parent.is_dir():
        raise ConfigError(f"{option} {path}: its folder does not exist")
    if not os.access(target.parent, os.W_OK):
        raise ConfigError(f"{option} {path}: its folder cannot be written to; choose another one")
    if target.exists():
        for given in inputs:
            source = Path(given).resolve()
            within = target.is_relative_to(source) and target.name.endswith(SUFFIXES)
            if target == source or (source.is_dir() and within):
                raise ConfigError(
                    f"{option} {path}: is among what is read and would be lost; name another file"
                )


@contextmanager
def open_output(path: Path | None) -> Iterator[IO[bytes]]:
    """Open a path for writing. What a link leads to is written, and a device or pipe as it is.

    Args:
        path: None or a hyphen for standard output.
    """
    if path is None or is_standard(path):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if _special(path):
        with path.open("wb") as file:
            yield file
        return
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            yield file
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def say(sentences: Iterable[str], console: Console) -> None:
    """Print sentences: folded at words in a terminal, and in a file a line each."""
    for sentence in sentences:
        soft = not console.is_terminal
        console.print(sentence, highlight=False, markup=False, soft_wrap=soft)


@contextmanager
def text_console(file: IO[bytes]) -> Iterator[Console]:
    """Return a console that prints to a file: as wide as a terminal, and wider if it is none."""
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", write_through=True)
    # A table that is cut at 80 columns is of no use in a file.
    yield Console(file=text, width=None if text.isatty() else 160)
    text.detach()


def is_standard(path: Path) -> bool:
    """Whether a path is a hyphen, for which the command line puts the name of standard input."""
    return path == Path(STDIN)


def _special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
