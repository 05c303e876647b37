"""What a proof is asked for, and which tests are its exceptions."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools.nested import proof
from tools.nested.checkout import Checkout, Outcome


@pytest.mark.parametrize(
    ("arguments", "targets"),
    [
        ([], ["//..."]),
        (["//a", "@b//c"], ["//a", "@b//c"]),
        (["-//docs/..."], ["//...", "-//docs/..."]),
        (["//a/...", "-//a:b", "-@c//d"], ["//a/...", "-//a:b", "-@c//d"]),
    ],
)
def test_targets_may_be_left_out_by_a_minus(arguments: list[str], targets: list[str]) -> None:
    options = proof.parse(proof.parser("//a:prove", "About."), arguments)
    assert options.targets == targets
    assert not options.keep


def test_an_option_that_there_is_not_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        proof.parse(proof.parser("//a:prove", "About."), ["--kept", "-//a"])
    assert "unknown: --kept" in capsys.readouterr().err


class _Asked(Checkout):
    """Answers a query and keeps it."""

    def __init__(self) -> None:
        super().__init__(Path("/w"), Path("/s"), bazel="bazel")
        self.query = ""

    def run(self, command: str, *arguments: str) -> Outcome:
        self.query = " ".join([command, *arguments])
        return Outcome(0, 1.0, None, "WARNING: nothing\n//a:one\n//a:two\n")


def test_the_tagged_tests_are_asked_for_among_the_targets() -> None:
    asked = _Asked()
    assert proof.tagged(asked, {"no-remote"}, ["//a", "-//b", "//c"]) == {"//a:one", "//a:two"}
    assert "tests(//a) + tests(//c)" in asked.query
    assert "//b" not in asked.query


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        ("[no-remote]", True),
        ("[cpu:2, no-remote, large]", True),
        ("[large, external]", True),
        ("[no-remote-exec]", False),
        ("[external-x, x-external]", False),
        ("[]", False),
    ],
)
def test_a_tag_is_found_as_a_whole(tags: str, *, found: bool) -> None:
    asked = _Asked()
    proof.tagged(asked, {"no-remote", "external"}, ["//a"])
    [pattern] = re.findall(r'"(.*)"', asked.query)
    assert (re.search(pattern, tags) is not None) is found


# Stands for a proof that works and cleans up slowly.
_PROOF = """
import pathlib, sys, time
from tools.nested import proof

def prove(scratch):
    try:
        print(scratch, flush=True)
        time.sleep(60)
    finally:
        print("cleaning", flush=True)
        time.sleep(1)
        print("clean", flush=True)
    return 0

sys.exit(proof.run(prove, "proof-", (), keep=False, place=pathlib.Path(sys.argv[1])))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whatever_ends_it_its_folder_goes_even_if_it_is_asked_twice(
    tmp_path: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PROOF, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ) as process:
        assert process.stdout is not None
        scratch = Path(process.stdout.readline().strip())
        assert [*tmp_path.iterdir()] == [scratch]
        process.send_signal(number)
        assert process.stdout.readline() == "cleaning\n"
        process.send_signal(number)
        assert process.stdout.read() == "clean\n"
        assert process.wait(60) == 130
    assert [*tmp_path.iterdir()] == []
