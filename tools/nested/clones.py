"""Clones of the checkout that a program was started from, and what its build has fetched."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

# What a repository that was downloaded holds: a distribution of Python, npm's tree, Node.js. The
# rest is made in no time, some of it from the checkout itself.
_DOWNLOADED = ("site-packages", "node_modules", "bin/nodejs")


class NotStarted(Exception):
    """The program was not started as it must be; the message says how."""


def started_from(environ: Mapping[str, str]) -> Path:
    """The checkout that `bazel run` was called in.

    Raises:
        NotStarted: when it was not started by `bazel run`.
    """
    workspace = environ.get("BUILD_WORKSPACE_DIRECTORY")
    if not workspace:
        raise NotStarted("This program works on a checkout: start it there with tools/bazel run.")
    return Path(workspace)


def clone(workspace: Path, at: Path) -> None:
    """Clone the last commit of `workspace` to the new folder `at`.

    Raises:
        NotStarted: when the checkout is no Git repository, with what Git said.
    """
    at.parent.mkdir(parents=True, exist_ok=True)
    done = _git(workspace, "clone", "--quiet", "--no-hardlinks", str(workspace), str(at))
    if done.returncode:
        raise NotStarted(f"{workspace} can't be cloned:\n{done.stderr.rstrip()}")


def uncommitted(workspace: Path) -> list[str]:
    """The files whose changes are not in the last commit, and so not in a clone."""
    done = _git(workspace, "-C", str(workspace), "status", "--porcelain")
    return [line[3:] for line in done.stdout.splitlines()]


def _git(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # The checkout may be another user's, as in a container; Git is told of it by the environment,
    # which reaches the process that reads the repository too.
    trusted = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    return subprocess.run(
        ["git", *arguments],
        cwd=workspace,
        env={**os.environ, **trusted},
        capture_output=True,
        text=True,
        check=False,
    )


def fetched(program: Path) -> dict[str, Path]:
    """What the build of `program` has downloaded, as overrides for another Bazel.

    Without them the other one downloads it all again, which is as right, and slower.
    """
    for parent in program.absolute().parents:
        if parent.name == "execroot":
            return choose(sorted((parent.parent / "external").iterdir()))
    return {}


def choose(repositories: Iterable[Path]) -> dict[str, Path]:
    """The downloaded ones among the folders of an output base's `external`."""
    return {
        folder.name: folder
        for folder in repositories
        if any((folder / mark).is_dir() for mark in _DOWNLOADED)
    }
