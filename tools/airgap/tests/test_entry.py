"""tools/bazel itself, with pretended programs on PATH."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2]
ECHO = '#!/bin/sh\necho "$0 $*"\ncat\n'


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> Path:
    checkout = tmp_path / "a checkout"
    # This test's own imports leave caches where its inputs are plain files.
    shutil.copytree(
        TOOLS / "airgap/launcher",
        checkout / "tools/airgap/launcher",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(TOOLS / "airgap/__main__.py", checkout / "tools/airgap")
    shutil.copy(TOOLS / "bazel", checkout / "tools")
    (checkout / ".bazelversion").write_text("7.7.1\n")
    return checkout


def _program(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(ECHO)
    file.chmod(0o755)
    return file


def _run(checkout: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([environ.pop("PATH", ""), "/usr/bin", "/bin"]).lstrip(os.pathsep)
    home = checkout.parent / "home"
    return subprocess.run(
        [checkout / "tools/bazel", *arguments],
        input="typed",
        capture_output=True,
        text=True,
        # A cache that cannot be made: should it come to that, no root is provisioned here.
        env={"BAZEL_AIRGAP_CACHE": "/dev/null/x", "HOME": str(home), "PATH": path, **environ},
        check=False,
    )


def test_run_by_bazelisk_it_hands_over_at_once(checkout: Path) -> None:
    real = _program(checkout.parent / "real", "bazel-7.7.1")
    other = _program(checkout.parent / "bin", "bazelisk")
    done = _run(checkout, "test", "a b", BAZEL_REAL=str(real), PATH=str(other.parent))
    assert done.stdout == f"{real} test a b\ntyped"


def test_bazelisk_comes_before_bazel_wherever_they_are_on_path(checkout: Path) -> None:
    bazel = _program(checkout.parent / "first", "bazel")
    assert _run(checkout, "info", PATH=str(bazel.parent)).stdout == f"{bazel} info\ntyped"
    bazelisk = _program(checkout.parent / "second", "bazelisk")
    path = f"{bazel.parent}:{bazelisk.parent}"
    assert _run(checkout, "info", PATH=path).stdout == f"{bazelisk} info\ntyped"


def test_it_never_takes_itself_for_bazel(checkout: Path) -> None:
    bazel = _program(checkout.parent / "bin", "bazel")
    link = checkout.parent / "links/bazel"
    link.parent.mkdir()
    link.symlink_to(checkout / "tools/bazel")
    path = f"{checkout / 'tools'}:{link.parent}:{bazel.parent}"
    assert _run(checkout, "info", PATH=path).stdout == f"{bazel} info\ntyped"


def test_the_launcher_of_another_checkout_is_no_bazel_either(checkout: Path) -> None:
    other = checkout.parent / "other"
    shutil.copytree(checkout, other)
    for each in (checkout, other):
        (each / "tools/bazelisk").symlink_to("bazel")
    both = f"{checkout / 'tools'}:{other / 'tools'}"
    used = _run(checkout, "doctor", PATH=both).stdout.partition("would use:")[2]
    assert str(checkout / "tools") not in used
    assert str(other / "tools") not in used
    bazel = _program(checkout.parent / "bin", "bazel")
    done = _run(checkout, "info", PATH=f"{both}:{bazel.parent}")
    assert done.stdout == f"{bazel} info\ntyped"


def test_a_bazel_of_bazelisk_that_is_not_there_is_told(checkout: Path) -> None:
    done = _run(checkout, "info", BAZEL_REAL="/nowhere/bazel")
    assert done.returncode == 36
    assert done.stderr.splitlines()[-1].startswith("What to do: mend or remove /nowhere/bazel")


def test_a_bazel_on_path_that_cannot_be_started_is_told(checkout: Path) -> None:
    bazel = _program(checkout.parent / "bin", "bazel")
    bazel.write_text("#!/nowhere/sh\n")
    done = _run(checkout, "info", PATH=str(bazel.parent))
    assert done.returncode == 36
    assert done.stderr.splitlines()[-1].startswith(f"What to do: mend or remove {bazel}")


def test_a_path_without_the_system_s_folders_is_enough(checkout: Path) -> None:
    done = subprocess.run(
        ["/bin/bash", checkout / "tools/bazel", "doctor"],
        env={"PATH": "/nowhere", "HOME": str(checkout.parent), "BAZEL_REAL": "/bin/sh"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("It would work.\n"), done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("words", [["--help"], ["everything"]])
def test_the_doctor_takes_no_arguments(checkout: Path, words: list[str]) -> None:
    done = _run(checkout, "doctor", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1] == "What to do: call tools/bazel doctor alone."


def test_a_bazel_of_bazelisk_that_does_not_start_is_told(checkout: Path) -> None:
    real = _program(checkout.parent / "real", "bazel-7.7.1")
    real.write_text("#!/nowhere/sh\n")
    done = _run(checkout, "info", BAZEL_REAL=str(real))
    assert done.returncode == 36
    assert done.stderr.splitlines()[-1].startswith("What to do: ")
    looked = _run(checkout, "doctor", BAZEL_REAL=str(real))
    assert looked.returncode == 1
    assert "cannot be run" in looked.stdout


def test_doctor_is_never_passed_on(checkout: Path) -> None:
    real = _program(checkout.parent / "bin", "bazelisk")
    for environ in ({"BAZEL_REAL": str(real)}, {"PATH": str(real.parent)}):
        done = _run(checkout, "doctor", **environ)
        assert done.returncode == 0, done.stderr
        assert str(real) in done.stdout
        assert "typed" not in done.stdout


def test_a_problem_ends_with_what_to_do_and_leaves_nothing_beside_the_sources(
    checkout: Path,
) -> None:
    (checkout / ".bazelversion").write_text("latest\n")
    bazel = _program(checkout.parent / "bin", "bazel")
    done = _run(checkout, "info", BAZEL_AIRGAP="1", PATH=str(bazel.parent))
    assert done.returncode == 36
    assert done.stderr.splitlines()[-1].startswith("What to do: ")
    assert done.stdout == ""
    assert list(checkout.rglob("__pycache__")) == []
