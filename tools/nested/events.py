"""What a call of Bazel did, from its build event protocol file (`--build_event_json_file`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# How Bazel names the runners of actions that were not executed on this machine or another one.
CACHED = ("remote cache hit", "disk cache hit")
# What Bazel does itself without starting anything: files that it writes, links.
_INTERNAL = ("internal", "total")


@dataclass(frozen=True)
class RunOfTest:
    """One run of one test.

    Attributes:
        label: of the target; a test with shards has as many runs.
        passed: whether it did.
        strategy: what ran it, such as linux-sandbox, remote or remote cache hit.
        cached: whether its result came from the remote cache.
    """

    label: str
    passed: bool
    strategy: str
    cached: bool


@dataclass(frozen=True)
class Events:
    """The counts of one call.

    Attributes:
        runners: how many actions each runner handled.
        mnemonics: how many actions of each kind were done, wherever their result came from.
        tests: every run of every test.
    """

    runners: Mapping[str, int]
    mnemonics: Mapping[str, int]
    tests: tuple[RunOfTest, ...]

    @property
    def hits(self) -> int:
        """How many actions came from a cache."""
        return sum(self.runners.get(name, 0) for name in CACHED)

    @property
    def executed(self) -> Mapping[str, int]:
        """How many actions each runner executed; empty when none was."""
        return {k: n for k, n in self.runners.items() if k not in (*CACHED, *_INTERNAL)}

    @property
    def commands(self) -> int:
        """How many actions are more than Bazel's own bookkeeping."""
        return self.hits + sum(self.executed.values())


def read(file: Path) -> Events:
    """Read a file of one JSON object a line.

    Raises:
        ValueError: when the file tells of no finished build.
    """
    runners: dict[str, int] = {}
    mnemonics: dict[str, int] = {}
    tests = []
    finished = False
    for line in file.read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if "testResult" in event:
            tests.append(_test(event["id"]["testResult"]["label"], event["testResult"]))
        if "buildMetrics" in event:
            finished = True
            summary = event["buildMetrics"].get("actionSummary", {})
            # A build that was started again has several.
            for each in summary.get("runnerCount", []):
                runners[each["name"]] = int(each["count"])
            for each in summary.get("actionData", []):
                mnemonics[each["mnemonic"]] = int(each["actionsExecuted"])
    if not finished:
        raise ValueError(f"{file} holds no metrics of a build: did Bazel end early?")
    return Events(runners, mnemonics, tuple(tests))


def _test(label: str, result: dict[str, object]) -> RunOfTest:
    info = result.get("executionInfo")
    info = info if isinstance(info, dict) else {}
    return RunOfTest(
        label=label,
        passed=result.get("status") == "PASSED",
        strategy=str(info.get("strategy", "")),
        cached=bool(info.get("cachedRemotely", False)),
    )
