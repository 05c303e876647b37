"""When the shared cache is proved, and when it is not."""

from __future__ import annotations

from tools.cache.prove import verdict
from tools.nested.checkout import Outcome
from tools.nested.events import Events, RunOfTest

KEPT = {"//t:of_the_checkout"}

CACHED = RunOfTest("//t:cached", passed=True, strategy="remote cache hit", cached=True)
AGAIN = RunOfTest("//t:of_the_checkout", passed=True, strategy="linux-sandbox", cached=False)
STRAY = RunOfTest("//t:stray", passed=True, strategy="linux-sandbox", cached=False)


def _outcome(*tests: RunOfTest, hits: int = 0, local: int = 0) -> Outcome:
    runners = {"remote cache hit": hits, "linux-sandbox": local, "internal": 9}
    return Outcome(0, 1.0, Events(runners, {"CopyNodeModules": 1}, tests), "")


COLD = _outcome(local=7)


def test_all_from_the_cache_but_the_tagged_and_the_copies_is_proved() -> None:
    assert verdict(COLD, _outcome(CACHED, AGAIN, hits=5, local=2), KEPT) == []


def test_a_command_that_was_executed_again_is_told() -> None:
    told = verdict(COLD, _outcome(CACHED, AGAIN, hits=4, local=3), KEPT)
    assert told == ["3 commands were executed, and only 2 are never cached"]


def test_a_test_that_ran_again_without_a_tag_is_told() -> None:
    [first, second] = verdict(COLD, _outcome(STRAY, hits=4, local=2), KEPT)
    assert first == "//t:stray ran again, and has no tag that says so"
    assert second == "2 commands were executed, and only 1 are never cached"


def test_a_test_that_failed_is_told() -> None:
    failed = RunOfTest("//t:cached", passed=False, strategy="", cached=True)
    assert verdict(COLD, _outcome(failed, hits=5), KEPT) == ["//t:cached failed"]


def test_a_cache_that_gave_nothing_proves_nothing() -> None:
    assert verdict(COLD, _outcome(), KEPT) == ["nothing came from the cache"]


def test_a_first_run_that_found_a_filled_cache_proves_nothing() -> None:
    assert verdict(_outcome(hits=1), _outcome(hits=5), KEPT) == ["the first run was not cold"]
