"""Which linter reads which file: the one table that the linters and their coverage test share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

# The linters by the suffix of a file, or by its name where it has no telling suffix.
# "whitespace" reads every text file and so is not listed.
BY_SUFFIX = {
    ".bzl": ("buildifier",),
    ".bazel": ("buildifier",),
    ".cjs": ("biome",),
    ".css": ("biome",),
    ".js": ("biome",),
    ".json": ("biome",),
    ".mjs": ("biome",),
    ".py": ("ruff", "mypy"),
    ".ts": ("biome", "tsc"),
}

# Text that no linter but "whitespace" understands.
PROSE = {".bazelignore", ".bazelrc", ".bazelversion", ".cfg", ".gitattributes", ".gitignore", ".in"}
PROSE |= {".j2", ".jsonl", ".md", ".npmrc", ".rst", ".svg", ".toml", ".tpl", ".txt"}
PROSE |= {".yaml", ".yml"}
PROSE_NAMES = {"LICENSE", "NOTICE", "py.typed", "CODEOWNERS"}

# Written by npm, in npm's own format.
GENERATED = {"package-lock.json"}

# Bash, because bazelisk, a continuous integration or Git runs it by this very name.
SHELL = {"tools/bazel", ".ci/run"}


def kind(path: str) -> str:
    """Return the suffix that decides, also for dot files: `.bazelrc` of `.bazelrc`."""
    pure = PurePosixPath(path)
    return pure.suffix or (pure.name if pure.name.startswith(".") else "")


def linters(path: str) -> tuple[str, ...] | None:
    """Return the linters of `path`, an empty tuple for prose, None for a file of unknown kind."""
    name = PurePosixPath(path).name
    if name in GENERATED or name in PROSE_NAMES or path in SHELL:
        return ()
    found = BY_SUFFIX.get(kind(path))
    if found is not None:
        return found
    return () if kind(path) in PROSE else None


def read_by(linter: str, paths: Iterable[str]) -> list[str]:
    """Return the paths that `linter` reads."""
    return [p for p in paths if linter == "whitespace" or linter in (linters(p) or ())]
