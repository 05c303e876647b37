"""The digest of every output of a build, to compare one output base with another."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

# Forests of links to files that are listed themselves, and the lists of them, which name the
# output base by design. Bazel never uploads either.
_FORESTS = (".runfiles",)
_LISTS = (".runfiles_manifest", "MANIFEST", ".repo_mapping")


def digests(bazel_out: Path) -> dict[str, str]:
    """The SHA-256, or the target of a link, of all that lies in the `bin` folders of bazel-out.

    Links that point into the output base itself, by a path that begins differently in each, are
    followed. The keys are paths relative to `bazel_out`; an executable file has `*` appended.
    """
    found = {}
    for top in sorted(bazel_out.glob("*/bin")):
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(f for f in folders if not f.endswith(_FORESTS))
            links = [f for f in folders if Path(folder, f).is_symlink()]
            for name in sorted([*names, *links]):
                if not name.endswith(_LISTS):
                    path = Path(folder, name)
                    found[str(path.relative_to(bazel_out))] = _digest(path)
    return found


def _digest(path: Path) -> str:
    if path.is_symlink() and not path.readlink().is_absolute():
        return f"link to {path.readlink()}"
    if path.is_dir():
        return "link to a folder of the sources"
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return digest + ("*" if os.access(path, os.X_OK) else "")


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Each path that is not the same in both, with the reason; none is reproducible."""
    found = [f"{path} is only in the first" for path in sorted(one.keys() - other.keys())]
    found += [f"{path} is only in the second" for path in sorted(other.keys() - one.keys())]
    common = sorted(one.keys() & other.keys())
    return found + [f"{path} differs" for path in common if one[path] != other[path]]
