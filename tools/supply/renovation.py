"""What the two renovations share: where they work, how a lock is replaced, what is told of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tools.supply import locks


class Stopped(Exception):
    """The renovation cannot go on; the message says why, and its last line what to do."""


def checkout(command: str) -> Path:
    """Return the folder in which `bazel run` was called.

    Raises:
        Stopped: This was not started by `bazel run`.
    """
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if workspace is None:
        raise Stopped(
            "This program writes into the checkout.\n"
            f"What to do: start it there with `tools/bazel run {command}`."
        )
    return Path(workspace)


def changes(path: str, before: str, after: str) -> list[str]:
    """A line for each package whose version differs between two states of a lock.

    A package that is there in several versions, as npm's trees and Python's markers allow, is one
    line with all of them.
    """
    old, new = (_versions(path, text) for text in (before, after))
    lines = []
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            lines.append(f"  {name} {_said(old.get(name))} -> {_said(new.get(name))}")
    return lines


def pinned(lock: Path) -> set[str]:
    """The names of all that a lock pins; none if there is no lock yet."""
    return set(_versions(lock.name, lock.read_text(encoding="utf-8"))) if lock.exists() else set()


def require(names: Iterable[str], known: Iterable[str]) -> None:
    """See to it that what is named is there: a misspelt name would change nothing without a word.

    Raises:
        Stopped: A name is not among the known ones.
    """
    if unknown := sorted(set(names) - set(known)):
        raise Stopped(
            f"Neither a lock nor what is asked for has {', '.join(unknown)}.\n"
            "What to do: name what a lock has, or ask for it first in the file beside the lock."
        )


def replace(lock: Path, name: str, text: str) -> bool:
    """Write a lock if it differs, tell what changed in it, and return whether anything did.

    The file is replaced in one step, and only by a lock that is in order.

    Raises:
        Stopped: The new one is not in order.
    """
    wrong = locks.faults(name, text)
    if wrong:
        raise Stopped(
            "\n".join(["The new lock is not in order, so the old one stays.", *wrong])
            + "\nWhat to do: ask for other packages or versions."
        )
    before = lock.read_text(encoding="utf-8") if lock.exists() else ""
    if text == before:
        print(f"{name}: nothing changed")
        return False
    beside = lock.with_name(lock.name + ".part")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(lock)
    finally:
        beside.unlink(missing_ok=True)
    told = changes(name, before, text) if before else ["  it is new"]
    print("\n".join([f"{name}:", *(told or ["  the same versions, other details"])]))
    return True


def run(command: Sequence[str | Path], folder: Path, environ: Mapping[str, str]) -> None:
    """Run a program that says little when all is well.

    Raises:
        Stopped: It failed; with what it said.
    """
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Stopped(
            f"{Path(command[0]).name} ended with exit code {done.returncode}:\n"
            f"{done.stdout}{done.stderr}".rstrip()
            + "\nWhat to do: mend what it says, see that the registry can be reached, and start"
            " again; the lock is as it was."
        )


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed in the end, in which a lock is made before it takes its place."""
    return tempfile.TemporaryDirectory(prefix="renovation-")


def explain(stopped: Stopped) -> int:
    """Print why a renovation stopped, and return its exit code."""
    print(stopped, file=sys.stderr)
    return 1


def _versions(path: str, text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for pin in locks.pins(path, text) if text else ():
        name = pin.name.rpartition("node_modules/")[2]
        found.setdefault(name, set()).add(pin.version)
    return {name: tuple(sorted(versions)) for name, versions in found.items()}


def _said(versions: Iterable[str] | None) -> str:
    return ", ".join(versions) if versions else "(none)"
