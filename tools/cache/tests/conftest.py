"""Two checkouts of the specimen and one build cache between them."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tools.cache.server import CacheServer
from tools.nested.checkout import Checkout, Outcome
from tools.nested.outputs import digests
from tools.staging import copy_sources

TARGETS = "//tools/cache/specimen/..."
SPECIMEN = "tools/cache/specimen"


@dataclass
class Team:
    """Two people with a checkout each, who share a cache.

    Attributes:
        server: the cache.
        first: whose build filled it.
        second: who has another path and an empty output base.
        cold: what the first one's build and tests did.
        warm: what the same did for the second one.
        built: the digests of the first one's outputs.
    """

    server: CacheServer
    first: Checkout
    second: Checkout
    cold: Outcome
    warm: Outcome
    built: dict[str, str] = field(default_factory=dict)

    def test(self, *flags: str, targets: str = TARGETS) -> Outcome:
        """Let the second one start from nothing again and run the tests."""
        self.second.forget()
        return self.second.run("test", targets, *flags)

    @property
    def cache(self) -> list[str]:
        """The flags that a person uses the cache with."""
        return ["--config=ci", f"--remote_cache={self.server.address}"]

    def outputs(self) -> dict[str, str]:
        """The digests of the second one's outputs."""
        return digests(self.second.outputs())


def _fetched() -> dict[str, Path]:
    """The repositories that this test's data come from, as the outer build has fetched them."""
    found = {}
    for folder in Path(os.environ["TEST_SRCDIR"]).iterdir():
        real = next(filter(None, (_fetched_at(each) for each in _links(folder))), None)
        if real is not None:
            found[real.name] = real
    return found


def _links(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder):
        for name in (*folders, *names):
            yield Path(top, name)


def _fetched_at(link: Path) -> Path | None:
    real = link.resolve()
    above = [real, *real.parents]
    return next((one for one, up in itertools.pairwise(above) if up.name == "external"), None)


def _checkout(at: Path, scratch: Path) -> Checkout:
    at.mkdir(parents=True)
    listed = Path(os.environ["WORKSPACE_FILES"]).read_text(encoding="utf-8").splitlines()
    copy_sources(listed, at)
    bazel = str(Path(os.environ["NESTED_BAZEL"]).absolute())
    return Checkout(at, scratch, bazel=bazel, overrides=_fetched())


@pytest.fixture(scope="session")
def team() -> Iterator[Team]:
    """Fill the cache from one checkout and use it from another."""
    scratch = Path(os.environ["TEST_TMPDIR"]).resolve()
    first = _checkout(scratch / "one/checkout", scratch / "1")
    second = _checkout(scratch / "another/place/for/it", scratch / "2")
    with CacheServer(scratch / "cache") as server, second:
        flags = ["--config=ci", f"--remote_cache={server.address}"]
        with first:
            cold = first.run("test", TARGETS, *flags)
            assert cold.code == 0, cold.said
            built = digests(first.outputs())
        warm = second.run("test", TARGETS, *flags)
        assert warm.code == 0, warm.said
        yield Team(server, first, second, cold, warm, built)
    shutil.rmtree(scratch / "cache")
