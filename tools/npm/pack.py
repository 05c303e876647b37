"""Pack an npm package reproducibly: `npm pack` in a folder that holds only the named files.

npm sorts the entries and fixes their times and owners, so equal files give an equal tarball.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path


def main() -> int:
    """Write the tarball, and its contents as a folder beside it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", required=True)
    parser.add_argument("--npm", required=True, help="npm-cli.js")
    parser.add_argument("--tarball", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--file", action="append", default=[], help="PATH_IN_PACKAGE=PATH")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        package = Path(scratch, "package")
        for pair in options.file:
            inside, _, source = pair.partition("=")
            target = package / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o644)
        node = Path(options.node).absolute()
        command = [str(node), str(Path(options.npm).absolute()), "pack", "--ignore-scripts"]
        command += ["--loglevel=error", "--offline", f"--pack-destination={scratch}"]
        environment = {"HOME": scratch, "PATH": f"{node.parent}:{os.defpath}"}
        done = subprocess.run(
            command, cwd=package, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            print(f"npm pack failed:\n{done.stdout}{done.stderr}", file=sys.stderr)
            return 1
        [packed] = Path(scratch).glob("*.tgz")
        shutil.copyfile(packed, options.tarball)
        _unpack(packed, Path(options.folder))
    return 0


def _unpack(tarball: Path, folder: Path) -> None:
    """Lay the tarball's files out in `folder`, without npm's leading `package/`."""
    with tarfile.open(tarball) as archive:
        for member in archive.getmembers():
            member.name = member.name.removeprefix("package/")
            archive.extract(member, folder, filter="data")


if __name__ == "__main__":
    sys.exit(main())
