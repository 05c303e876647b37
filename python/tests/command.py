"""Runs `satyrn-engine` for tests, with the packages of the test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-m", "satyrn_engine"]


def environment(**more: str) -> dict[str, str]:
    """Return what the command needs, and nothing else of this process's environment."""
    node = os.environ.get("SATYRN_NODE")
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "COLUMNS": "200",
        **({"SATYRN_NODE": str(Path(node).absolute())} if node else {}),
        **more,
    }


def run(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, **more: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=environment(**more),
        cwd=cwd,
        timeout=240,
    )
