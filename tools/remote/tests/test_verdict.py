"""When remote execution is proved, and when it is not."""

from __future__ import annotations

from tools.nested.events import Events, RunOfTest
from tools.remote.prove import verdict

KEPT = {"//t:own_namespaces"}

REMOTE = RunOfTest("//t:remote", passed=True, strategy="remote", cached=False)
HERE = RunOfTest("//t:own_namespaces", passed=True, strategy="linux-sandbox", cached=False)


def _counts(*tests: RunOfTest, **runners: int) -> Events:
    counts = {name.replace("_", "-"): n for name, n in runners.items()}
    return Events(counts, {"CopyNodeModules": 1}, tests)


def test_all_remote_but_the_tagged_and_the_copies_is_proved() -> None:
    assert verdict(_counts(REMOTE, HERE, remote=5, local=1, linux_sandbox=1), KEPT) == []


def test_a_test_that_ran_here_without_a_tag_is_told() -> None:
    stray = RunOfTest("//t:stray", passed=True, strategy="linux-sandbox", cached=False)
    [first, second] = verdict(_counts(REMOTE, stray, remote=5, local=1, linux_sandbox=1), KEPT)
    assert first.startswith("//t:stray ran by linux-sandbox")
    assert second == "2 commands ran on this machine, and only 1 have to"


def test_a_tagged_test_that_ran_remotely_is_told() -> None:
    astray = RunOfTest("//t:own_namespaces", passed=True, strategy="remote", cached=False)
    [told] = verdict(_counts(REMOTE, astray, remote=5, local=1), KEPT)
    assert told == "//t:own_namespaces ran remotely, although its tag forbids it"


def test_a_test_that_failed_is_told() -> None:
    failed = RunOfTest("//t:remote", passed=False, strategy="remote", cached=False)
    assert verdict(_counts(failed, remote=5), KEPT) == ["//t:remote failed"]


def test_a_build_that_ran_nothing_remotely_proves_nothing() -> None:
    assert verdict(_counts(), KEPT) == ["nothing ran remotely"]
