"""Keep a cache below a size: `python3 -m tools.cache.trim FOLDER GIGABYTES`.

What was not used for longest goes first.
"""

from __future__ import annotations

import argparse
import itertools
import os
from pathlib import Path

GIGABYTE = 1_000_000_000
# Bazel's folders of what actions made, and of contents.
PARTS = ("ac", "cas")


def trim(data: Path, limit: int) -> int:
    """Delete what is cached in `data` until it has at most `limit` bytes together.

    Only what lies in `ac/` and `cas/` is looked at: nothing else is a cache's.
    The order is that of the last use, as far as the file system notes it (most note a reading
    once a day), and of the upload where it doesn't. Bazel copes with whatever is missing.

    Returns:
        How many bytes were freed.
    """
    files = []
    walks = (os.walk(data / part) for part in PARTS)
    for folder, _, names in itertools.chain.from_iterable(walks):
        for name in names:
            path = os.path.join(folder, name)  # noqa: PTH118 - a cache has many files
            try:
                found = os.stat(path)  # noqa: PTH116
            except FileNotFoundError:
                continue
            files.append((max(found.st_atime, found.st_mtime), found.st_size, path))
    excess = sum(size for _, size, _ in files) - limit
    freed = 0
    for _, size, path in sorted(files):
        if freed >= excess:
            break
        Path(path).unlink(missing_ok=True)
        freed += size
    return freed


def main() -> None:
    """Trim a folder, such as Bazel's disk cache, and say what was freed."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.cache.trim", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("gigabytes", type=float, help="to keep at most")
    options = parser.parse_args()
    freed = trim(options.folder, int(options.gigabytes * GIGABYTE))
    print(f"{freed / GIGABYTE:.2f} GB were deleted in {options.folder}")


if __name__ == "__main__":
    main()
