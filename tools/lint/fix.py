"""Format the checkout in place, and mend what linters can mend: `bazel run //tools/lint:fix`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.lint import kinds


def main() -> int:
    """Run the formatters on the files of the checkout that the linters read."""
    try:
        file_list, *tools = sys.argv[1:]
        ruff, node, biome, buildifier = (str(Path(tool).absolute()) for tool in tools)
    except ValueError:
        print("This program takes no arguments: tools/bazel run //tools/lint:fix", file=sys.stderr)
        return 2
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if workspace is None:
        print(
            "This program writes into the checkout, so start it there with: "
            "tools/bazel run //tools/lint:fix",
            file=sys.stderr,
        )
        return 2
    listed = Path(file_list).read_text().splitlines()
    commands = {
        "ruff": [[ruff, "check", "--fix", "--exit-zero", "--quiet"], [ruff, "format"]],
        "biome": [[node, biome, "check", "--write", "--colors=off"]],
        "buildifier": [[node, buildifier, "-mode=fix", "-lint=fix"]],
    }
    status = 0
    for linter, calls in commands.items():
        files = kinds.read_by(linter, listed)
        for call in calls:
            status |= subprocess.run([*call, *files], cwd=workspace, check=False).returncode
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
