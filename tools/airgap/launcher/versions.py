"""The Bazel that is wanted, and whether the one at hand will do."""

from __future__ import annotations

import re
from pathlib import Path

from .settings import INSTALL_BAZELISK, SUITE
from .words import Problem

Version = tuple[int, int, int]


def parse(text: str, where: str) -> Version:
    """A version such as `7.7.1`.

    Raises:
        Problem: when it is something else.
    """
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", text.strip())
    if not found:
        raise Problem(
            f"{where} says {text.strip()!r}, which is no version of Bazel such as 7.7.1.",
            f"correct {where}.",
        )
    major, minor, patch = (int(part) for part in found.groups())
    return major, minor, patch


def wanted(workspace: Path) -> Version:
    """The version in the workspace's .bazelversion."""
    file = workspace / ".bazelversion"
    try:
        return parse(file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise Problem(
            f"{file} cannot be read ({why}).", "restore it from the repository."
        ) from None


def provided(root: Path) -> Version:
    """The version that a private root holds; Debian's `bazel version` does not tell it."""
    file = root / "usr/share/bazel/build-label.txt"
    try:
        return parse(file.read_text(encoding="utf-8"), str(file))
    except OSError as error:
        raise Problem(
            f"The private root has no usable Bazel: {file} cannot be read ({error.strerror}).",
            f"delete {root} and start again.",
        ) from None


def compare(have: Version, want: Version) -> str | None:
    """None when both are the same, and a warning when a newer one of the same major will do.

    Raises:
        Problem: when it will not do.
    """
    if have == want:
        return None
    names = f"Debian {SUITE} has Bazel {show(have)}, .bazelversion asks for {show(want)}"
    if have[0] != want[0]:
        raise Problem(
            f"{names}: another major version.",
            f"{INSTALL_BAZELISK}, or move the project and its .bazelversion to Bazel {have[0]}.",
        )
    if have < want:
        raise Problem(
            f"{names}, which is newer.",
            f"delete the private root, so that it is made anew from what Debian has today"
            f" (tools/bazel doctor names its folder); if that is not enough, {INSTALL_BAZELISK}.",
        )
    return f"{names}; going on, as it is newer and of the same major version"


def show(version: Version) -> str:
    """The version as people write it."""
    return ".".join(str(part) for part in version)
