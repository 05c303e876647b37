"""Prove the build cache with this whole repository.

`bazel run //tools/cache:prove -- [TARGET ...]`: two clones of the checkout lie at different paths,
each with an output base of its own. One fills a cache on loopback by building and testing; the
other then does the same with it. At last the other builds again without it, and every output is
compared.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path

from tools.cache.server import CacheServer, CannotServe
from tools.nested import clones, outputs
from tools.nested.checkout import Checkout, Outcome, remove

# Copying what npm fetched is as fast as a download, so it is never cached.
_COPIES = "CopyNodeModules"
# Tests that compare with the checkout itself run every time.
_UNCACHED = r"\b(external|no-cache|no-remote|no-remote-cache)\b"


def verdict(cold: Outcome, warm: Outcome, uncached: set[str]) -> list[str]:
    """Return what is wrong with the second run, as sentences; none is good.

    Args:
        cold: the first run, which filled the cache.
        warm: the second one.
        uncached: labels of the tests whose tags keep them out of the cache.
    """
    wrong = [f"{test.label} failed" for test in warm.counts.tests if not test.passed]
    wrong += [
        f"{test.label} ran again, and has no tag that says so"
        for test in warm.counts.tests
        if not test.cached and test.label not in uncached
    ]
    excused = warm.counts.mnemonics.get(_COPIES, 0)
    excused += sum(test.label in uncached for test in warm.counts.tests)
    executed = sum(warm.counts.executed.values())
    if executed > excused:
        wrong.append(f"{executed} commands were executed, and only {excused} are never cached")
    if not warm.counts.hits:
        wrong.append("nothing came from the cache")
    if cold.counts.hits:
        wrong.append("the first run was not cold")
    return wrong


def _tell(name: str, outcome: Outcome) -> None:
    counts = outcome.counts
    executed = sum(counts.executed.values())
    cached = sum(test.cached for test in counts.tests)
    print(
        f"{name}: {outcome.seconds:.0f} s, {counts.hits} of {counts.commands} commands from the"
        f" cache, {executed} executed; of {len(counts.tests)} tests {cached} from the cache",
        flush=True,
    )


def _prove(scratch: Path, targets: list[str]) -> int:
    workspace = clones.started_from(os.environ)
    if changed := clones.uncommitted(workspace):
        print(f"It is the last commit that is proved; {len(changed)} changed files are not in it.")
    one, other = scratch / "one/checkout", scratch / "another/place/checkout"
    for place in (one, other):
        clones.clone(workspace, place)
    overrides = clones.fetched(Path(__file__))
    with CacheServer(scratch / "cache") as server:
        flags = ["--config=ci", f"--remote_cache={server.address}", *targets]
        with Checkout(one, scratch / "1", overrides=overrides) as first:
            cold = first.run("test", *flags)
            _tell("the first checkout ", cold)
        with Checkout(other, scratch / "2", overrides=overrides) as second:
            query = " + ".join(f"tests({each})" for each in targets if not each.startswith("-"))
            asked = second.run("query", f'attr(tags, "{_UNCACHED}", {query})', "--output=label")
            uncached = {line for line in asked.said.splitlines() if line.startswith("//")}
            warm = second.run("test", *flags)
            _tell("the second checkout", warm)
            wrong = verdict(cold, warm, uncached)
            second.forget()
            again = second.run("build", *targets)
            _tell("without the cache  ", again)
            built = outputs.digests(second.outputs())
        with Checkout(one, scratch / "1", overrides=overrides) as first:
            wrong += outputs.differences(outputs.digests(first.outputs()), built)
    print(f"{len(built)} outputs were compared")
    print("\n".join(wrong) or "proved: nothing was done twice, and all is the same")
    return 1 if wrong else 0


def _terminated(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Prove it; return 0 when nothing was done twice and all outputs are the same."""
    parser = argparse.ArgumentParser(prog="bazel run //tools/cache:prove --", description=__doc__)
    parser.add_argument("targets", nargs="*", default=["//..."], help="default: %(default)s")
    parser.add_argument("--keep", action="store_true", help="leave the folder for a look")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _terminated)
    scratch = Path(tempfile.mkdtemp(prefix="cache-", dir="/var/tmp"))
    try:
        return _prove(scratch, options.targets)
    except (clones.NotStarted, CannotServe, FileNotFoundError, RuntimeError) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        if options.keep:
            print(f"kept: {scratch}")
        else:
            remove(scratch)


if __name__ == "__main__":
    sys.exit(main())
