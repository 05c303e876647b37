"""What the package's commands do and say, as a user of `bazel run` meets them."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def run(program: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, HERE / program, *arguments],
        env={"PATH": os.defpath, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_release_is_copied_into_dist_and_the_commands_that_install_it_are_printed(
    tmp_path: Path,
) -> None:
    packed = tmp_path / "packed.tgz"
    packed.write_bytes(b"the package")
    done = run("release.py", str(packed), "it", "1.0.0", BUILD_WORKSPACE_DIRECTORY=str(tmp_path))
    target = tmp_path / "dist" / "it-1.0.0.tgz"
    assert (done.returncode, done.stderr) == (0, "")
    assert target.read_bytes() == packed.read_bytes()
    assert [file.name for file in target.parent.iterdir()] == [target.name]
    lines = done.stdout.splitlines()
    assert f"sha256   {hashlib.sha256(packed.read_bytes()).hexdigest()}" in lines
    assert f"  pi install npm:it@file:{target}" in lines
    assert f"  pi install -l npm:it@file:{target}" in lines


def test_with_l_the_user_is_told_that_pi_must_trust_the_project(tmp_path: Path) -> None:
    packed = tmp_path / "packed.tgz"
    packed.touch()
    done = run("release.py", str(packed), "it", "1.0.0", BUILD_WORKSPACE_DIRECTORY=str(tmp_path))
    *_, last = done.stdout.split("pi install -l ")
    assert "trusts the project" in last
    assert "`pi --approve`" in last


def test_a_release_outside_of_bazel_run_says_how_to_start_it(tmp_path: Path) -> None:
    done = run("release.py", str(tmp_path), "it", "1.0.0")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(": tools/bazel run //PACKAGE:package\n")


@pytest.mark.parametrize("arguments", [(), ("a.tgz", "it", "1.0.0", "more")])
def test_wrong_arguments_of_a_release_are_answered_with_the_command(
    arguments: tuple[str, ...],
) -> None:
    done = run("release.py", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("This program takes no arguments: tools/bazel run //PACKAGE:package\n")


def test_too_few_arguments_of_the_check_are_answered_with_its_usage() -> None:
    done = run("check_package.py", "a.tgz", "it")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "usage: check_package.py TARBALL NAME VERSION FILE ...\n"
