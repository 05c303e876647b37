"""What programs share that prove something on clones of the checkout."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.nested import clones
from tools.nested.checkout import Checkout, remove


def parser(program: str, about: str | None) -> argparse.ArgumentParser:
    """The options that every proof has: its targets, and whether its folder stays."""
    made = argparse.ArgumentParser(prog=f"bazel run {program} --", description=about)
    made.add_argument("targets", nargs="*", default=["//..."], help="default: %(default)s")
    made.add_argument("--keep", action="store_true", help="leave the folder for a look")
    return made


def run(
    prove: Callable[[Path], int], prefix: str, problems: tuple[type[Exception], ...], *, keep: bool
) -> int:
    """Run a proof in a new folder, which goes with it; return its exit code.

    Args:
        prove: gets the folder, whose path is short, because a socket's must be.
        prefix: of the folder's name.
        problems: are printed, and end the proof with 1.
        keep: whether the folder stays.
    """
    signal.signal(signal.SIGTERM, _terminated)
    expected: tuple[type[Exception], ...] = (clones.NotStarted, FileNotFoundError, *problems)
    scratch = Path(tempfile.mkdtemp(prefix=prefix, dir="/var/tmp"))
    try:
        return prove(scratch)
    except expected as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if keep:
            print(f"kept: {scratch}")
        else:
            remove(scratch)


def clone(*places: Path) -> None:
    """Clone the checkout that this was started from, and tell what a clone does not have.

    Raises:
        clones.NotStarted: when there is no such checkout.
    """
    workspace = clones.started_from(os.environ)
    if changed := clones.uncommitted(workspace):
        print(f"It is the last commit that is proved; {len(changed)} changed files are not in it.")
    for place in places:
        clones.clone(workspace, place)


def tagged(checkout: Checkout, tags: str, targets: Sequence[str]) -> set[str]:
    """Return the labels of the tests among `targets` that have a tag of the pattern `tags`."""
    query = " + ".join(f"tests({each})" for each in targets if not each.startswith("-"))
    asked = checkout.run("query", f'attr(tags, "{tags}", {query})', "--output=label")
    return {line for line in asked.said.splitlines() if line.startswith("//")}


def _terminated(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
