"""Resolve npm's packages anew: `tools/bazel run //tools:update_npm [-- --upgrade | NAME ...]`.

Without arguments only what the package.json files ask for changes; with `--upgrade` everything
becomes as new as they allow, with names only those packages, wherever they are in a tree. Every
package.json beside which there is a package-lock.json is resolved.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from tools.supply import renovation

COMMAND = "//tools:update_npm"
LOCK = "package-lock.json"
_ASKED = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
# What npm sees of the caller's environment: the network's proxies, certificates and own mirror.
_SEEN = ("npm_config_registry", "node_extra_ca_certs", "ssl_cert_file", "ssl_cert_dir")


def main() -> int:
    """Renovate the locks of the checkout, and return the exit code."""
    options = _parser().parse_args()
    node, npm = options.node.absolute(), options.npm.absolute()
    try:
        workspace = renovation.checkout(COMMAND)
        locks = locks_in(options.files.read_text(encoding="utf-8").splitlines())
        renovation.require(options.names, set().union(*(_known(workspace, lock) for lock in locks)))
        for lock in locks:
            _renovate(node, npm, workspace, lock, options)
    except renovation.Stopped as stopped:
        return renovation.explain(stopped)
    return 0


def locks_in(files: Sequence[str]) -> list[str]:
    """The locks that belong to a package.json, among the files of the checkout."""
    known = set(files)
    return [
        file for file in files if PurePosixPath(file).name == LOCK and manifest_of(file) in known
    ]


def manifest_of(lock: str) -> str:
    """The package.json that a lock belongs to."""
    return str(PurePosixPath(lock).with_name("package.json"))


def commands(names: Sequence[str], *, everything: bool) -> list[list[str]]:
    """What npm is to do in turn: fit the lock to package.json, then let versions rise."""
    flags = ["--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"]
    flags += ["--loglevel=error", "--logs-max=0"]
    steps = [["install", *flags]]
    if everything or names:
        steps.append(["update", *flags, *([] if everything else names)])
    return steps


def without_addresses(text: str) -> str:
    """A lock without the addresses that packages were once fetched from.

    npm leaves them out by itself for packages of a registry, when .npmrc says so.
    """
    lock = json.loads(text)
    for entry in lock.get("packages", {}).values():
        if not entry.get("link"):
            entry.pop("resolved", None)
    return json.dumps(lock, indent=2, ensure_ascii=False) + "\n"


def environment(environ: Mapping[str, str], node: Path, home: Path) -> dict[str, str]:
    """The environment of npm: a home of its own, and of the caller's only what the network asks."""
    seen = {
        name: value
        for name, value in environ.items()
        if name.lower().endswith("_proxy") or name.lower() in _SEEN
    }
    cache = environ.get("BAZEL_NPM_CACHE", str(home / "cache"))
    return {
        **seen,
        "HOME": str(home),
        "PATH": os.pathsep.join([str(node.parent), os.defpath]),
        "npm_config_cache": cache,
        "npm_config_globalconfig": str(home / "globalrc"),
        "npm_config_userconfig": str(home / "userrc"),
    }


def _known(workspace: Path, lock: str) -> set[str]:
    manifest = json.loads((workspace / manifest_of(lock)).read_text(encoding="utf-8"))
    asked = {name for kind in _ASKED for name in manifest.get(kind, {})}
    return asked | renovation.pinned(workspace / lock)


def _renovate(
    node: Path, npm: Path, workspace: Path, lock: str, options: argparse.Namespace
) -> None:
    with renovation.scratch() as folder:
        # npm takes the folder's name for that of a package without one.
        package = Path(folder, (workspace / lock).parent.name)
        package.mkdir()
        for file in (workspace / lock, workspace / manifest_of(lock), workspace / ".npmrc"):
            if file.exists():
                shutil.copyfile(file, package / file.name)
        home = Path(folder, ".home")
        home.mkdir()
        environ = environment(os.environ, node, home)
        for step in commands(options.names, everything=options.upgrade):
            renovation.run([node, npm, *step], package, environ)
        text = without_addresses((package / LOCK).read_text(encoding="utf-8"))
        asked = (package / "package.json").read_text(encoding="utf-8")
    if asked != (workspace / manifest_of(lock)).read_text(encoding="utf-8"):
        raise renovation.Stopped(
            f"npm would change {manifest_of(lock)}, so it and its lock stay.\n"
            "What to do: write into package.json what is wanted, and start again."
        )
    renovation.replace(workspace / lock, lock, text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"tools/bazel run {COMMAND} --",
        description="Resolve every package.json anew and write its package-lock.json.",
    )
    parser.add_argument("--files", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--node", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--npm", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--upgrade", action="store_true", help="let every version rise")
    parser.add_argument("names", nargs="*", metavar="NAME", help="let this package rise")
    return parser


if __name__ == "__main__":
    sys.exit(main())
