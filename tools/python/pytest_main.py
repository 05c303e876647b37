"""Run pytest on the files named, and write Bazel's XML.

A run that collects no test, or skips one, fails: a gate with holes is not a gate. Of a test with a
`shard_count`, each run takes its share; one without a share passes, as the others have it all.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

# A remote worker may run at "/", which makes these start with "//": to pytest and its plugins that
# is another folder than the one with a single slash.
sys.path[:] = ["/" + path.lstrip("/") if path.startswith("//") else path for path in sys.path]

import pytest  # noqa: E402


class _NoSkips:
    """Turns a skipped test into a failed run, and says which test it was."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.skipped.append(report.nodeid)


class _Shard:
    """Keeps every `total`-th test, in the order of their names, from number `index` on.

    Attributes:
        collected: How many tests all shards have together.
    """

    def __init__(self, index: int, total: int) -> None:
        self.collected = 0
        self._index = index
        self._total = total

    # The last one: what is left after `-k` is what gets shared out.
    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        self.collected = len(items)
        names = sorted(item.nodeid for item in items)
        mine = set(names[self._index :: self._total])
        others = [item for item in items if item.nodeid not in mine]
        items[:] = [item for item in items if item.nodeid in mine]
        config.hook.pytest_deselected(items=others)


def _shard() -> _Shard:
    """Return this run's share, and tell Bazel that sharing is understood here."""
    if status_file := os.environ.get("TEST_SHARD_STATUS_FILE"):
        Path(status_file).touch()
    index = int(os.environ.get("TEST_SHARD_INDEX", "0"))
    return _Shard(index, int(os.environ.get("TEST_TOTAL_SHARDS", "1")))


def main() -> int:
    """Return pytest's exit code, or 1 when a test was skipped."""
    args = ["-p", "no:cacheprovider", "--import-mode=importlib", "--color=no", *sys.argv[1:]]
    if xml := os.environ.get("XML_OUTPUT_FILE"):
        args.append(f"--junitxml={xml}")
    if only := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        args.append(f"-k={only}")
    watch, shard = _NoSkips(), _shard()
    code = int(pytest.main(args, plugins=[watch, shard]))
    if watch.skipped:
        print("skipped, which the gate doesn't allow:", *watch.skipped, sep="\n  ")
        return code or 1
    if code == pytest.ExitCode.NO_TESTS_COLLECTED and shard.collected:
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())
