"""Check what an npm package holds: `check_package.py TARBALL NAME VERSION FILE ...`."""

from __future__ import annotations

import json
import sys
import tarfile
from collections.abc import Sequence
from pathlib import PurePosixPath

# A Pi package is text: anything larger is something that a user does not need.
LARGEST_FILE_BYTES = 200_000


def problems(tarball: str, name: str, version: str, expected: Sequence[str]) -> list[str]:
    """Return what is wrong with `tarball`, as sentences; none is good."""
    found = []
    with tarfile.open(tarball) as archive:
        members = {m.name.removeprefix("package/"): m for m in archive.getmembers()}
        manifest_file = archive.extractfile("package/package.json")
        manifest = json.load(manifest_file) if manifest_file else {}
    for path in sorted(set(members) - set(expected)):
        found.append(f"{path} is in the package, and a user doesn't need it")
    for path in sorted(set(expected) - set(members)):
        found.append(f"{path} is missing from the package")
    for path in sorted(members):
        if "node_modules" in PurePosixPath(path).parts:
            found.append(f"{path} is of another package, and this one must bring none along")
    for path, member in sorted(members.items()):
        if not member.isfile():
            found.append(f"{path} is not a plain file")
        if member.size > LARGEST_FILE_BYTES:
            found.append(f"{path} has {member.size} bytes, more than {LARGEST_FILE_BYTES}")
    found.extend(_manifest_problems(manifest, name, version, set(members)))
    return found


def _manifest_problems(
    manifest: dict[str, object], name: str, version: str, files: set[str]
) -> list[str]:
    found = []
    for key, wanted in {
        "name": name,
        "version": version,
        "license": "Apache-2.0",
        "type": "module",
    }.items():
        if manifest.get(key) != wanted:
            found.append(f"package.json: {key} is {manifest.get(key)!r}, not {wanted!r}")
    keywords = manifest.get("keywords")
    if not isinstance(keywords, list) or "pi-package" not in keywords:
        found.append(
            "package.json: keywords must hold pi-package, or Pi's catalogue doesn't list it"
        )
    for key in (
        "dependencies",
        "devDependencies",
        "optionalDependencies",
        "scripts",
        # npm reads both spellings.
        "bundleDependencies",
        "bundledDependencies",
    ):
        if key in manifest:
            found.append(f"package.json: {key} must not be there; Pi loads the sources as they are")
    pi = manifest.get("pi")
    entries = pi.get("extensions") if isinstance(pi, dict) else None
    if not isinstance(entries, list) or not entries:
        return [*found, "package.json: pi.extensions must list the extensions"]
    for entry in entries:
        if not isinstance(entry, str) or entry.removeprefix("./") not in files:
            found.append(
                f"package.json: pi.extensions names {entry!r}, which is not in the package"
            )
    return found


def main() -> int:
    """Print the problems; exit 1 if there is one, 2 if the arguments are wrong."""
    try:
        tarball, name, version, *expected = sys.argv[1:]
    except ValueError:
        print("usage: check_package.py TARBALL NAME VERSION FILE ...", file=sys.stderr)
        return 2
    found = problems(tarball, name, version, expected)
    for problem in found:
        print(f"{name}: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
