"""Run one linter over the files that it reads: `lint.py LINTER FILE_LIST [TOOL ...]`.

A linter works on copies in a scratch folder with the project's configuration beside them, so it
sees exactly the declared files and can't write into the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.lint import kinds, whitespace
from tools.staging import copy_sources

Command = list[str]

CONFIGURATION = ["biome.json", "pyproject.toml"]


def _buildifier(tool: Command, files: list[str]) -> int:
    return _call([*tool, "-mode=check", "-lint=warn", *files])


def _ruff(tool: Command, files: list[str]) -> int:
    check = _call([*tool, "check", "--no-cache", *files])
    return _call([*tool, "format", "--check", "--diff", "--no-cache", *files]) or check


def _biome(tool: Command, files: list[str]) -> int:
    return _call([*tool, "ci", "--error-on-warnings", "--colors=off", *files])


def _mypy(_tool: Command, files: list[str]) -> int:
    # A remote worker may run at "/", which makes these start with "//". mypy finds its own stubs
    # from where it is imported, so this comes first.
    sys.path[:] = ["/" + p.lstrip("/") if p.startswith("//") else p for p in sys.path]
    from mypy import api  # In this process, where Bazel has set up the import path.

    out, err, status = api.run(["--cache-dir", os.devnull, *files])
    sys.stdout.write(out)
    sys.stderr.write(err)
    return status


def _whitespace(_tool: Command, files: list[str]) -> int:
    found = [line for name in files for line in whitespace.problems(name, Path(name).read_bytes())]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


LINTERS: dict[str, Callable[[Command, list[str]], int]] = {
    "biome": _biome,
    "buildifier": _buildifier,
    "mypy": _mypy,
    "ruff": _ruff,
    "whitespace": _whitespace,
}


def _call(command: list[str]) -> int:
    return subprocess.run(command, check=False).returncode


def main() -> int:
    """Stage the files and run the linter on them."""
    linter, file_list, *tool = sys.argv[1:]
    listed = Path(file_list).read_text().splitlines()
    command = [str(Path(t).absolute()) for t in tool]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as stage:
        files = kinds.read_by(linter, listed)
        if not files:
            print(f"{linter} reads none of the {len(listed)} files: is the list right?")
            return 1
        copy_sources({*files, *(c for c in CONFIGURATION if c in listed)}, Path(stage))
        os.chdir(stage)
        status = LINTERS[linter](command, files)
        if not status:
            print(f"{linter}: {len(files)} files are in order")
        elif linter != "mypy":
            print("\nMost of this can be mended by: tools/bazel run //tools/lint:fix")
        os.chdir("/")
    return status


if __name__ == "__main__":
    sys.exit(main())
