"""Lay declared inputs out in a scratch folder as real files.

Node.js and several linters resolve symbolic links, so a linked source would be looked up in the
developer's checkout (or refused) instead of among the declared inputs. Everything that runs such
a tool stages copies first, through this module.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path, PurePosixPath


def copy_sources(files: Iterable[str], into: Path) -> list[str]:
    """Copy `files` (paths relative to the runfiles root) below `into`.

    Keeps each file's path and executable bit, follows links, and merges directories.

    Returns:
        The staged paths relative to `into`, sorted.

    Raises:
        FileNotFoundError: a declared input is missing.
        ValueError: a declared input lies in another repository.
    """
    staged = []
    for name in sorted(set(files)):
        if PurePosixPath(name).parts[0] == "..":
            raise ValueError(f"{name} belongs to another repository and can't be staged")
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if Path(name).is_dir():
            shutil.copytree(name, target, dirs_exist_ok=True)
        else:
            shutil.copy(name, target)
        target.chmod(target.stat().st_mode | 0o200)
        staged.append(name)
    return staged


def link_node_modules(trees: Iterable[str], into: Path) -> None:
    """Make one `node_modules` below `into`, of links to the packages of several trees.

    The first tree that holds a package provides it. Node.js resolves a link to its real place,
    so each package finds its own dependencies in the tree that it came from.
    """
    modules = into / "node_modules"
    for tree in trees:
        root = Path(tree).absolute()
        for package in _packages(root):
            link = modules / package.relative_to(root)
            if not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(package)


def _packages(root: Path) -> list[Path]:
    """Return the package folders of a node_modules tree, scoped ones included."""
    found: list[Path] = []
    for entry in sorted(root.iterdir()):
        if entry.name.startswith("@"):
            found.extend(sorted(entry.iterdir()))
        elif not entry.name.startswith("."):
            found.append(entry)
    return found
