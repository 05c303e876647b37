"""Keep a cache below a size: what was not used for longest goes first."""

from __future__ import annotations

import os
from pathlib import Path


def trim(data: Path, limit: int) -> int:
    """Delete files below `data` until they have at most `limit` bytes together.

    The order is that of the last use, as far as the file system notes it (most note a reading
    once a day), and of the upload where it doesn't. Bazel copes with whatever is missing.

    Returns:
        How many bytes were freed.
    """
    files = []
    for folder, _, names in os.walk(data):
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
