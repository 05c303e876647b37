"""Pack a wheel from a pyproject.toml, a package, and files of other packages that go into it.

Usage: wheel.py OUT PYPROJECT LICENSE PACKAGE_DIR [--under FOLDER] FILE ...

Files that follow `--under FOLDER` are put into that folder of the package, by their paths in the
checkout. Equal inputs give an equal wheel.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

#: 1980-02-01: a zip file cannot hold an earlier time everywhere.
_EPOCH = "318211200"


def stage(root: Path, base: Path, files: list[str]) -> None:
    """Copy the files below `root`, by their paths relative to `base` where they lie in it."""
    for name in files:
        path = Path(name)
        target = root / (path.relative_to(base) if path.is_relative_to(base) else path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def main() -> int:
    """Pack the wheel and return the exit code."""
    out, pyproject, licence, package, *rest = sys.argv[1:]
    at = rest.index("--under") if "--under" in rest else len(rest)
    own, other = rest[:at], rest[at + 2 :]
    base = Path(package).parent
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copyfile(pyproject, root / "pyproject.toml")
        shutil.copyfile(licence, root / "LICENSE")
        stage(root, base, own)
        if other:
            stage(root / Path(package).name / rest[at + 1], Path(), other)
        os.environ["SOURCE_DATE_EPOCH"] = _EPOCH
        (built,) = WheelBuilder(folder).build(directory=str(root / "dist"), versions=["standard"])
        shutil.copyfile(built, out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
