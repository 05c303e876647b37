"""Run pytest on the files named, and write Bazel's XML.

A run that collects no test, or skips one, fails: a gate with holes is not a gate.
"""

from __future__ import annotations

import os
import sys

import pytest


class _NoSkips:
    """Turns a skipped test into a failed run, and says which test it was."""

    def __init__(self) -> None:
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.skipped.append(report.nodeid)


def main() -> int:
    """Return pytest's exit code, or 1 when a test was skipped."""
    args = ["-p", "no:cacheprovider", "--import-mode=importlib", "--color=no", *sys.argv[1:]]
    if xml := os.environ.get("XML_OUTPUT_FILE"):
        args.append(f"--junitxml={xml}")
    if only := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        args.append(f"-k={only}")
    watch = _NoSkips()
    code = int(pytest.main(args, plugins=[watch]))
    if watch.skipped:
        print("skipped, which the gate doesn't allow:", *watch.skipped, sep="\n  ")
        return code or 1
    return code


if __name__ == "__main__":
    sys.exit(main())
