"""How Bazel's tests run pytest: shards, filters, and what may not pass."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree as ET

MAIN = Path(__file__).with_name("pytest_main.py")

MODULE = """
import pytest

def test_alone(): pass

@pytest.mark.parametrize("word", {"a", "b", "c", "d", "e"})
def test_of_a_set(word): pass

class TestGroup:
    def test_alone(self): pass
"""
TESTS = 7


class Suite:
    """A folder with a test module, and what the runs on it did."""

    def __init__(self, folder: Path, module: str = MODULE) -> None:
        self.folder = folder
        (folder / "test_it.py").write_text(module)

    def run(self, **variables: str) -> tuple[int, list[str]]:
        """Return the exit code and the tests that ran."""
        xml = self.folder / "out.xml"
        done = subprocess.run(
            [sys.executable, MAIN, "test_it.py"],
            cwd=self.folder,
            env={
                "PATH": os.defpath,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "XML_OUTPUT_FILE": str(xml),
                **variables,
            },
            capture_output=True,
            check=False,
        )
        ran = [case.attrib for case in ET.parse(xml).iter("testcase")]
        return done.returncode, [f"{case['classname']}.{case['name']}" for case in ran]

    def shards(self, total: int, **variables: str) -> list[tuple[int, list[str]]]:
        """Run all shards, each with another order of what is in a set."""
        return [
            self.run(
                TEST_TOTAL_SHARDS=str(total),
                TEST_SHARD_INDEX=str(index),
                PYTHONHASHSEED=str(index + 1),
                **variables,
            )
            for index in range(total)
        ]


def test_shards_run_each_test_exactly_once_and_share_evenly(tmp_path: Path) -> None:
    suite = Suite(tmp_path)
    _, everything = suite.run()
    runs = suite.shards(3)
    assert len(everything) == TESTS
    assert Counter(test for _, tests in runs for test in tests) == Counter(everything)
    assert [code for code, _ in runs] == [0, 0, 0]
    sizes = {len(tests) for _, tests in runs}
    assert max(sizes) - min(sizes) <= 1


def test_a_filter_is_applied_before_tests_are_shared_out(tmp_path: Path) -> None:
    runs = Suite(tmp_path).shards(2, TESTBRIDGE_TEST_ONLY="test_alone")
    assert [(code, len(tests)) for code, tests in runs] == [(0, 1), (0, 1)]


def test_a_failure_fails_the_shard_that_has_it_and_no_other(tmp_path: Path) -> None:
    module = "def test_a(): pass\ndef test_b(): assert False\n"
    assert [code for code, _ in Suite(tmp_path, module).shards(3)] == [0, 1, 0]


def test_without_any_test_every_shard_fails(tmp_path: Path) -> None:
    assert [code for code, _ in Suite(tmp_path, "").shards(2)] == [5, 5]


def test_a_filter_that_leaves_no_test_fails(tmp_path: Path) -> None:
    runs = Suite(tmp_path).shards(2, TESTBRIDGE_TEST_ONLY="test_nowhere")
    assert [code for code, _ in runs] == [5, 5]


def test_a_skipped_test_fails_the_run(tmp_path: Path) -> None:
    module = "import pytest\ndef test_a(): pytest.skip('no time')\ndef test_b(): pass\n"
    suite = Suite(tmp_path, module)
    assert suite.run()[0] == 1
    assert [code for code, _ in suite.shards(2)] == [1, 0]


def test_bazel_is_told_that_sharing_is_understood(tmp_path: Path) -> None:
    status = tmp_path / "status"
    Suite(tmp_path).run(
        TEST_TOTAL_SHARDS="2", TEST_SHARD_INDEX="0", TEST_SHARD_STATUS_FILE=str(status)
    )
    assert status.exists()
