"""Copy a packed npm package into `dist/` of the checkout and say how to install it.

`npm_package` (see defs.bzl) gives it its arguments: `release.py TARBALL NAME VERSION`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path


def main() -> int:
    """Copy `argv[1]` to dist/NAME-VERSION.tgz, print where it lies, its digest and the commands."""
    try:
        _, source, name, version = sys.argv
    except ValueError:
        print("This program takes no arguments: tools/bazel run //PACKAGE:package", file=sys.stderr)
        return 2
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if workspace is None:
        print(
            "This program writes into dist/ of the checkout, so start it there with: "
            "tools/bazel run //PACKAGE:package",
            file=sys.stderr,
        )
        return 2
    target = Path(workspace, "dist", f"{name}-{version}.tgz")
    target.parent.mkdir(exist_ok=True)
    beside = target.with_suffix(".part")
    shutil.copyfile(source, beside)
    beside.replace(target)
    print(f"package  {target}")
    print(f"sha256   {hashlib.sha256(target.read_bytes()).hexdigest()}")
    print()
    print("Install it into your own Pi, for all projects or (-l) for the current one:")
    print(f"  pi install npm:{name}@file:{target}")
    print(f"  pi install -l npm:{name}@file:{target}")
    print("With -l, Pi loads it once it trusts the project: say yes when Pi asks, or start it with")
    print("`pi --approve`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
