"""Prove the build cache with this whole repository.

`tools/bazel run //tools/cache:prove -- [TARGET ...]`: two clones of the checkout lie at different
paths, each with an output base of its own. One fills a cache on loopback by building and testing;
the other then does the same with it. At last the other builds again without it, and every output
is compared.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.cache.server import CacheServer, CannotServe
from tools.nested import clones, outputs, proof
from tools.nested.checkout import Checkout, Outcome

# Copying what npm fetched is as fast as a download, so it is never cached.
_COPIES = "CopyNodeModules"
# Tests that compare with the checkout itself run every time.
_UNCACHED = frozenset(["external", "no-cache", "no-remote", "no-remote-cache"])


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
    one, other = scratch / "one/checkout", scratch / "another/place/checkout"
    proof.clone(one, other)
    overrides = clones.fetched(Path(__file__))
    with CacheServer(scratch / "cache") as server:
        flags = ["--config=ci", f"--remote_cache={server.address}", *targets]
        with Checkout(one, scratch / "1", overrides=overrides, echo=sys.stderr) as first:
            cold = first.run("test", *flags)
            _tell("the first checkout ", cold)
        with Checkout(other, scratch / "2", overrides=overrides, echo=sys.stderr) as second:
            uncached = proof.tagged(second, _UNCACHED, targets)
            warm = second.run("test", *flags)
            _tell("the second checkout", warm)
            wrong = verdict(cold, warm, uncached)
            second.forget()
            again = second.run("build", *targets)
            _tell("without the cache  ", again)
            built = outputs.digests(second.outputs())
        with Checkout(one, scratch / "1", overrides=overrides, echo=sys.stderr) as first:
            wrong += outputs.differences(outputs.digests(first.outputs()), built)
    print(f"{len(built)} outputs were compared")
    print("\n".join(wrong) or "proved: nothing was done twice, and all is the same")
    return 1 if wrong else 0


def main() -> int:
    """Prove it; return 0 when nothing was done twice and all outputs are the same."""
    options = proof.parse(proof.parser("//tools/cache:prove", __doc__), sys.argv[1:])
    return proof.run(
        lambda scratch: _prove(scratch, options.targets),
        "cache-",
        (CannotServe, RuntimeError),
        keep=options.keep,
    )


if __name__ == "__main__":
    sys.exit(main())
