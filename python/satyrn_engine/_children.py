"""How the processes that this package starts are called, and what they see of this one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from satyrn_engine._node import find_node, typescript

_KEPT = ("PATH", "SYSTEMROOT", "NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE")


def python_environment(folder: str) -> dict[str, str]:
    """Return the environment of a Python process that has this one's packages.

    Args:
        folder: for what it keeps on disk: a process that is killed removes nothing itself.
    """
    paths = os.pathsep.join(path for path in sys.path if path)
    return {**os.environ, **_places(folder), "PYTHONPATH": paths}


def node_command(program: str, *arguments: str) -> list[str]:
    """Return what starts a program of `replay/`.

    Raises:
        NodeError: if there is no Node that can run it.
    """
    return [
        find_node(),
        "--disable-warning=ExperimentalWarning",
        "--experimental-strip-types",
        "--preserve-symlinks",
        "--preserve-symlinks-main",
        str(typescript() / "replay" / program),
        *arguments,
    ]


def node_environment(folder: str) -> dict[str, str]:
    """Return the environment of a Node process with guards: nothing of the user's is in it.

    Args:
        folder: where their settings are, and where what they leave behind goes.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    if (compiled := _compile_cache()) is not None:
        kept.setdefault("NODE_COMPILE_CACHE", str(compiled))
    pi = {"HOME": folder, "PI_CODING_AGENT_DIR": folder, "PI_OFFLINE": "1"}
    return {**kept, **_places(folder), **pi}


def _places(folder: str) -> dict[str, str]:
    return dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)


def _compile_cache() -> Path | None:
    """Return where Node keeps the guards compiled, which makes it start in a third of the time.

    Node makes the folder; where it cannot, it compiles them each time.
    """
    caches = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return (Path(caches) if caches else Path.home() / ".cache") / "satyrn-engine" / "node"
    except RuntimeError:
        # There is no home.
        return None
