"""What a folder holds, to prove that something was left alone or left nothing behind."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def tree_listing(folder: Path) -> dict[str, str]:
    """Return every path under `folder` with a digest of what it is.

    Keys are relative POSIX paths, values SHA-256 hex digests over kind, permission bits and
    content (for a symbolic link: its target, which is not followed). Times do not count.
    A folder that does not exist is `{}`.
    """
    found: dict[str, str] = {}
    for current, folders, files in os.walk(folder, onerror=_raise):
        for name in (*folders, *files):
            path = Path(current, name)
            found[path.relative_to(folder).as_posix()] = _digest(path)
    return dict(sorted(found.items()))


def tree_digest(folder: Path) -> str:
    """Return one SHA-256 hex digest over `tree_listing(folder)`."""
    lines = (f"{digest}  {path}\n" for path, digest in tree_listing(folder).items())
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _digest(path: Path) -> str:
    mode = path.lstat().st_mode & 0o7777
    if path.is_symlink():
        kind, content = "link", os.fsencode(path.readlink())
    elif path.is_dir():
        kind, content = "folder", b""
    elif path.is_file():
        kind, content = "file", path.read_bytes()
    else:
        kind, content = "other", b""
    return hashlib.sha256(f"{kind} {mode:o}\n".encode() + content).hexdigest()


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
