"""Build and test a clone of this checkout by remote execution, and count what ran where.

`tools/bazel run //tools/remote:prove -- [TARGET ...]`: a server of the Remote Execution API and a
worker are started on loopback and end with this program.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

from tools.nested import clones, proof
from tools.nested.checkout import Checkout
from tools.nested.events import Events
from tools.remote import programs
from tools.remote.grid import Grid, NoGrid

# What keeps an action on the machine that asks for it; each such test says why beside the tag.
_KEPT = frozenset(["no-remote", "no-remote-exec", "local", "external"])
# How Bazel calls the runner.
_REMOTE = "remote"
# Copied here, because what npm fetched is no input of another machine's.
_COPIES = "CopyNodeModules"


def verdict(counts: Events, kept: set[str]) -> list[str]:
    """Return what is wrong with a call that built and tested, as sentences; none is good.

    Args:
        counts: what it did.
        kept: the labels of the tests whose tags keep them on this machine.
    """
    wrong = [f"{test.label} failed" for test in counts.tests if not test.passed]
    wrong += [
        f"{test.label} ran by {test.strategy}, not remotely, and has no tag that says so"
        for test in counts.tests
        if test.strategy != _REMOTE and test.label not in kept
    ]
    wrong += [
        f"{test.label} ran remotely, although its tag forbids it"
        for test in counts.tests
        if test.strategy == _REMOTE and test.label in kept
    ]
    here = sum(counts.executed.values()) - counts.executed.get(_REMOTE, 0)
    excused = sum(test.label in kept for test in counts.tests) + counts.mnemonics.get(_COPIES, 0)
    if here > excused:
        wrong.append(f"{here} commands ran on this machine, and only {excused} have to")
    if not counts.executed.get(_REMOTE):
        wrong.append("nothing ran remotely")
    return wrong


def _tell(counts: Events, seconds: float, kept: set[str]) -> None:
    ran = Counter("remotely" if t.strategy == _REMOTE else "here" for t in counts.tests)
    remote = counts.executed.get(_REMOTE, 0)
    print(f"{seconds:.0f} s; {remote} of {counts.commands} commands ran remotely")
    print(f"runs of tests: {ran['remotely']} remotely, {ran['here']} here")
    print("kept here by their tags:" + ("" if kept else " none"))
    for label in sorted(kept):
        print(f"  {label}")


def _prove(scratch: Path, targets: list[str], jobs: int) -> int:
    found = programs.find(Path(os.environ["GRID_SERVER"]))
    proof.clone(scratch / "checkout")
    overrides = clones.fetched(Path(__file__))
    with (
        Grid(scratch / "grid", found, jobs=jobs) as grid,
        Checkout(
            scratch / "checkout", scratch / "bazel", overrides=overrides, echo=sys.stderr
        ) as checkout,
    ):
        print(f"A server of remote execution and its worker are at {grid.address}.", flush=True)
        kept = proof.tagged(checkout, _KEPT, targets)
        outcome = checkout.run(
            "test",
            "--config=remote",
            f"--remote_executor={grid.address}",
            # BuildGrid serves each connection by few threads.
            "--remote_max_connections=2",
            f"--jobs={2 * jobs}",
            "--keep_going",
            *targets,
        )
        if outcome.code:
            print(grid.said("worker"), file=sys.stderr)
        if outcome.events is None or (outcome.code and not outcome.events.tests):
            return 1
    _tell(outcome.events, outcome.seconds, kept)
    wrong = verdict(outcome.events, kept)
    # 3 says that a test failed, which the verdict tells; a test that wasn't built has no event.
    if outcome.code not in (0, 3):
        wrong.append(f"Bazel ended with {outcome.code}: not everything was built")
    print("\n".join(wrong) or "proved: all that can ran remotely, and passed")
    return 1 if wrong else 0


def main() -> int:
    """Prove it; return 0 when all that can ran remotely and passed."""
    parser = proof.parser("//tools/remote:prove", __doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, help="of the worker")
    options = proof.parse(parser, sys.argv[1:])
    return proof.run(
        lambda scratch: _prove(scratch, options.targets, options.jobs),
        "remote-",
        (programs.Missing, NoGrid),
        keep=options.keep,
    )


if __name__ == "__main__":
    sys.exit(main())
