"""Which mirror the root is made from."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tools.airgap.launcher import mirror, tools
from tools.airgap.launcher.words import Problem


def test_the_first_mirror_that_carries_the_suite_is_taken() -> None:
    reasons = {"a": "a does not carry it.", "b": "", "c": ""}
    assert mirror.choose(["a", "b", "c"], reasons.__getitem__) == "b"


def test_every_mirror_that_fails_is_named_with_its_reason() -> None:
    reasons = {"a": "a does not carry it.", "b": "b cannot be reached."}
    with pytest.raises(Problem) as caught:
        mirror.choose(["a", "b"], reasons.__getitem__)
    assert caught.value.what == "a does not carry it.\nb cannot be reached."
    assert "BAZEL_AIRGAP_MIRROR" in caught.value.remedy


def test_sources_without_a_mirror_are_said_to_have_none() -> None:
    with pytest.raises(Problem, match="name no mirror"):
        mirror.choose([], lambda _: "")


@pytest.mark.parametrize(
    ("release", "said", "expected"),
    [
        ("-----\nOrigin: Debian\nSuite: testing\n", "", ""),
        ("Origin: Other\n", "", "is not a mirror of Debian"),
        (None, "E: Failed to fetch x  404  Not Found", "does not carry Debian"),
        (None, "E: Could not connect to m:80", "cannot be reached (Could not connect to m:80)"),
        (None, "", "cannot be reached (no answer)"),
    ],
)
def test_a_mirror_is_asked_for_the_suites_release_file(
    monkeypatch: pytest.MonkeyPatch, release: str | None, said: str, expected: str
) -> None:
    def ask(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        assert command[-2] == "http://m/dists/forky/InRelease"
        if release is not None:
            Path(command[-1]).write_text(release)
        return subprocess.CompletedProcess(command, 0 if release is not None else 100, "", said)

    monkeypatch.setattr(tools, "ask", ask)
    reason = mirror.probe("http://m")
    assert expected in reason
    assert bool(reason) == bool(expected)
