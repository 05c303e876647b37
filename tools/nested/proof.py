"""What programs share that prove something on clones of the checkout."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from tools.ending import end_by_signals
from tools.nested import clones
from tools.nested.checkout import Checkout, remove

# Its path is short, because a socket's must be, and it holds gigabytes.
_PLACE = Path("/var/tmp")
# How a target begins that is left out.
_LESS = ("-//", "-@", "-:")


def parser(program: str, about: str | None) -> argparse.ArgumentParser:
    """The options that every proof has: its targets, and whether its folder stays."""
    made = argparse.ArgumentParser(prog=f"tools/bazel run {program} --", description=about)
    made.add_argument("targets", nargs="*", default=["//..."], help="default: %(default)s")
    made.add_argument("--keep", action="store_true", help="leave the folder for a look")
    return made


def parse(made: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options; among the targets are those with a minus, which Bazel leaves out."""
    options, others = made.parse_known_args(arguments)
    less = [each for each in others if each.startswith(_LESS)]
    if len(less) < len(others):
        made.error(f"unknown: {' '.join(each for each in others if each not in less)}")
    options.targets = [*options.targets, *less]
    return options


def run(
    prove: Callable[[Path], int],
    prefix: str,
    problems: tuple[type[Exception], ...],
    *,
    keep: bool,
    place: Path = _PLACE,
) -> int:
    """Run a proof in a new folder, which goes with it; return its exit code.

    Args:
        prove: gets the folder.
        prefix: of the folder's name.
        problems: are printed, and end the proof with 1.
        keep: whether the folder stays.
        place: where the folder is made.
    """
    end_by_signals()
    expected: tuple[type[Exception], ...] = (clones.NotStarted, FileNotFoundError, *problems)
    scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
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


def tagged(checkout: Checkout, tags: Collection[str], targets: Sequence[str]) -> set[str]:
    """Return the labels of the tests among `targets` that have one of the `tags`."""
    query = " + ".join(f"tests({each})" for each in targets if not each.startswith("-"))
    asked = checkout.run("query", f'attr(tags, "{_pattern(tags)}", {query})', "--output=label")
    return {line for line in asked.said.splitlines() if line.startswith("//")}


def _pattern(tags: Collection[str]) -> str:
    # Bazel compares with the list as it is written, [one, another]; a tag may begin another one.
    return rf"[\[ ]({'|'.join(sorted(tags))})[,\]]"
