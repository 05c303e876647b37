"""Finds the Pi and the Node that are to be driven, and says what to do when there is none."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from satyrn_engine.testing.errors import PiNotFoundError

PI_VARIABLE = "SATYRN_PI"
"""Names Pi's `cli.js`, or an executable; a relative path starts at the current directory."""

NODE_VARIABLE = "SATYRN_NODE"
"""Names the `node` executable; a relative path starts at the current directory."""

# The package was renamed with version 0.74.0; 0.73.1 is the last under the older name.
_PACKAGE_NAMES = ("@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent")
_VERSION_SECONDS = 20.0
_NODE_REMEDY = f"install Node 24, or set {NODE_VARIABLE} to the path of a newer node"
_PI_REMEDY = (
    f"install it with `npm install -g {_PACKAGE_NAMES[0]}`, "
    f"or set {PI_VARIABLE} to the path of its cli.js"
)


@dataclass(frozen=True)
class PiProgram:
    """A Pi that can be started.

    Attributes:
        command: The command line that starts it, absolute.
        version: Its version, for instance `1.6.0`.
        node: The absolute path of node.
        node_version: For instance `24.15.0`.
        npm: What starts npm with that node; None when there is none, and then Pi can install
            folders only.
    """

    command: tuple[str, ...]
    version: str
    node: Path
    node_version: str
    npm: tuple[str, ...] | None

    @property
    def release(self) -> tuple[int, ...]:
        """The version as numbers, for comparing."""
        return _numbers(self.version)


def find_pi(environ: Mapping[str, str] | None = None) -> PiProgram:
    """Find Pi and Node as the environment names them, else on `PATH`.

    Raises:
        PiNotFoundError: One of them is missing, cannot be run, or Node is older than this Pi
            allows; the text says what to do.
    """
    variables = os.environ if environ is None else environ
    node = _find(variables, NODE_VARIABLE, "node", _NODE_REMEDY)
    node_version = _output_of(node, "--version").removeprefix("v")
    # npm links the executable to cli.js, whose real place tells the package and its version.
    pi = _find(variables, PI_VARIABLE, "pi", _PI_REMEDY).resolve()
    is_script = pi.suffix in {".js", ".mjs", ".cjs"}
    command = (str(node), str(pi)) if is_script else (str(pi),)
    manifest = _manifest_of(pi)
    version = str(manifest.get("version", "")) or _output_of(*command, "--version")
    engines = manifest.get("engines")
    wanted = str(engines.get("node", "")) if isinstance(engines, dict) else ""
    if _numbers(node_version) < _numbers(wanted):
        msg = f"{node} is Node {node_version}, but Pi {version} needs {wanted}: {_NODE_REMEDY}"
        raise PiNotFoundError(msg)
    return PiProgram(command, version, node, node_version, _find_npm(node, variables))


def _find(variables: Mapping[str, str], variable: str, name: str, remedy: str) -> Path:
    named = variables.get(variable)
    if named:
        path = Path(named).absolute()
        if not path.is_file():
            msg = f"{variable} names {named}, which is no file here: {remedy}"
            raise PiNotFoundError(msg)
        return path
    found = shutil.which(name, path=variables.get("PATH", os.defpath))
    if found is None:
        msg = f"there is no {name} on PATH: {remedy}"
        raise PiNotFoundError(msg)
    return Path(found).absolute()


def _manifest_of(script: Path) -> dict[str, object]:
    for folder in script.parents:
        try:
            manifest = json.loads((folder / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(manifest, dict) and manifest.get("name") in _PACKAGE_NAMES:
            return manifest
    return {}


def _find_npm(node: Path, variables: Mapping[str, str]) -> tuple[str, ...] | None:
    """Return the npm that came with `node`, else the one on `PATH`."""
    for place in (node, node.resolve()):
        script = place.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return (str(node), str(script))
    found = shutil.which("npm", path=variables.get("PATH", os.defpath))
    if found is None:
        return None
    real = Path(found).resolve()
    return (str(node), str(real)) if real.suffix == ".js" else (str(real),)


def _output_of(*command: str | Path) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        msg = f"{command[0]} cannot be run ({error}): {_NODE_REMEDY}"
        raise PiNotFoundError(msg) from error
    return done.stdout.strip()


def _numbers(version: str) -> tuple[int, ...]:
    """Return the first `X.Y.Z` in a version or in a range such as `>=22.19.0`; () for none."""
    match = re.search(r"\d+(?:\.\d+)*", version)
    return tuple(map(int, match[0].split("."))) if match else ()
