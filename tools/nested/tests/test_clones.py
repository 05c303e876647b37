"""Which checkout is cloned, and what a nested Bazel takes over from the build that started it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tools.nested import clones


def _git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.com"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    _git(folder, "init", "--quiet")
    (folder / "file").write_text("committed\n")
    _git(folder, "add", "file")
    _git(folder, "commit", "--quiet", "--message=one")
    return folder


def test_a_clone_holds_the_last_commit(checkout: Path, tmp_path: Path) -> None:
    (checkout / "file").write_text("changed\n")
    clones.clone(checkout, tmp_path / "deep/clone")
    assert (tmp_path / "deep/clone/file").read_text() == "committed\n"


def test_what_is_not_committed_is_told(checkout: Path) -> None:
    assert clones.uncommitted(checkout) == []
    (checkout / "file").write_text("changed\n")
    (checkout / "new").write_text("")
    assert sorted(clones.uncommitted(checkout)) == ["file", "new"]


def test_a_folder_without_git_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(clones.NotStarted, match="can't be cloned"):
        clones.clone(tmp_path, tmp_path / "clone")


def test_a_program_that_bazel_did_not_run_says_how_to_start_it() -> None:
    assert clones.started_from({"BUILD_WORKSPACE_DIRECTORY": "/w"}) == Path("/w")
    with pytest.raises(clones.NotStarted, match="tools/bazel run"):
        clones.started_from({})


def test_downloads_are_taken_over_and_what_refers_to_the_checkout_is_not(tmp_path: Path) -> None:
    external = tmp_path / "base/external"
    for inside in (
        *("rules~~pip~pip_314_rich/site-packages", "_main~_repo_rules~npm/node_modules"),
        *("rules~~node~nodejs_linux_amd64/bin/nodejs", "rules~~pip~pip/rich"),
        "rules_python~/python",
    ):
        (external / inside).mkdir(parents=True)
    (external / "@rules_python~.marker").write_text("")
    program = tmp_path / "base/execroot/_main/bazel-out/bin/prove.runfiles/_main/prove.py"
    assert set(clones.fetched(program)) == {
        *("rules~~pip~pip_314_rich", "_main~_repo_rules~npm"),
        "rules~~node~nodejs_linux_amd64",
    }


def test_a_program_outside_of_an_output_base_takes_nothing_over(tmp_path: Path) -> None:
    assert clones.fetched(tmp_path / "prove.py") == {}
