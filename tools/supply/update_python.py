"""Resolve the requirements anew: `tools/bazel run //tools:update_python [-- --upgrade | NAME ...]`.

Without arguments only what requirements.in asks for changes; with `--upgrade` everything becomes as
new as the requirements allow, with names only those distributions. Every X.in beside which there is
an X_lock.txt is resolved.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from tools.supply import locks, renovation

COMMAND = "//tools:update_python"
PYTHON = "3.14"
"""The oldest Python that the lock is for: that of the build, as MODULE.bazel names it."""


def main() -> int:
    """Renovate the locks of the checkout, and return the exit code."""
    options = _parser().parse_args()
    uv = next(Path(file).absolute() for file in options.tool.split() if Path(file).name == "uv")
    try:
        workspace = renovation.checkout(COMMAND)
        files = wishes_in(options.files.read_text(encoding="utf-8").splitlines())
        there = (_known(workspace, wishes) for wishes in files)
        renovation.require(map(canonicalize_name, options.names), set().union(*there))
        for wishes in files:
            _renovate(uv, workspace, wishes, upgrades(options.names, everything=options.upgrade))
    except renovation.Stopped as stopped:
        return renovation.explain(stopped)
    return 0


def wishes_in(files: Sequence[str]) -> list[str]:
    """The files of wishes that have a lock, among the files of the checkout."""
    known = set(files)
    return [file for file in files if file.endswith(".in") and lock_of(file) in known]


def lock_of(wishes: str) -> str:
    """The lock that belongs to a file of wishes."""
    return wishes.removesuffix(".in") + "_lock.txt"


def upgrades(names: Sequence[str], *, everything: bool) -> list[str]:
    """The options of uv that let versions rise which would fulfil the wishes as they are."""
    if everything:
        return ["--upgrade"]
    return [f"--upgrade-package={name}" for name in names]


def command(uv: Path, wishes: str, lock: str, risen: Sequence[str]) -> list[str]:
    """The command line of uv, whose output may exist: it then says which versions to keep."""
    return [
        *(str(uv), "pip", "compile", wishes, "--output-file", lock, "--quiet", "--no-config"),
        # One lock for every platform, with a digest for every file, and without an address.
        *("--universal", f"--python-version={PYTHON}", "--generate-hashes"),
        *("--no-emit-index-url", "--no-emit-find-links", "--no-strip-extras", "--no-header"),
        *risen,
    ]


def _known(workspace: Path, wishes: str) -> set[str]:
    asked = locks.wishes((workspace / wishes).read_text(encoding="utf-8"))
    return {canonicalize_name(wish.name) for wish in asked} | renovation.pinned(
        workspace / lock_of(wishes)
    )


def _renovate(uv: Path, workspace: Path, wishes: str, risen: Sequence[str]) -> None:
    lock = workspace / lock_of(wishes)
    with renovation.scratch() as folder:
        # The same names as in the checkout: the lock says which file each wish came from.
        for file in (workspace / wishes, lock):
            if file.exists():
                Path(folder, file.name).write_bytes(file.read_bytes())
        named = command(uv, Path(wishes).name, lock.name, risen)
        renovation.run(named, Path(folder), {**os.environ, "UV_PYTHON": sys.executable})
        text = Path(folder, lock.name).read_text(encoding="utf-8")
    renovation.replace(lock, lock_of(wishes), text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"tools/bazel run {COMMAND} --",
        description="Resolve requirements.in anew and write requirements_lock.txt.",
    )
    parser.add_argument("--files", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--tool", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--upgrade", action="store_true", help="let every version rise")
    parser.add_argument("names", nargs="*", metavar="NAME", help="let this distribution rise")
    return parser


if __name__ == "__main__":
    sys.exit(main())
