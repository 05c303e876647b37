"""`tools/bazel doctor`: what the launcher would use, what is missing, and how to get it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import enter, environment, locking, mirror, settings, sources, tools, versions
from .words import Problem, size

# Bytes: the outputs of one checkout take 1.7 GB once it was built and tested whole.
_SCARCE = 2_000_000_000


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        name: what was looked at.
        text: what was found.
        remedy: what to do about it, when it keeps the launcher from working.
    """

    name: str
    text: str
    remedy: str | None = None


def main(workspace: Path, environ: Mapping[str, str]) -> int:
    """Print the report; 0 if the launcher would work, 1 if not."""
    remedies = []
    for finding in examine(workspace, environ):
        print(f"{finding.name + ':':14}{finding.text}", flush=True)
        if finding.remedy:
            remedies.append(finding.remedy)
    if not remedies:
        print("It would work.")
        return 0
    print("It would not work.")
    for remedy in remedies:
        print(f"What to do: {remedy}")
    return 1


def examine(workspace: Path, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Look at everything in the order in which the launcher comes to it."""
    try:
        want = versions.wanted(workspace)
        yield Finding("wanted", f"Bazel {versions.show(want)}, says .bazelversion")
        found = on_path(environ)
        if found is not None and not settings.forced(environ):
            yield from _with_tool(found, want, environ)
        else:
            chosen = settings.read(workspace, environ)
            yield Finding("would use", f"a private root of its own ({chosen.reason})")
            yield from _with_root(chosen, want, environ)
    except Problem as problem:
        yield Finding("problem", problem.what, problem.remedy)


def on_path(environ: Mapping[str, str]) -> Path | None:
    """The program that tools/bazel hands over to: bazelisk before bazel, and no such launcher."""
    if environ.get("BAZEL_REAL"):
        return Path(environ["BAZEL_REAL"])
    for name in ("bazelisk", "bazel"):
        for folder in environ.get("PATH", "").split(os.pathsep):
            candidate = Path(folder or ".", name)
            if os.access(candidate, os.X_OK) and candidate.is_file() and not _launcher(candidate):
                return candidate
    return None


def _launcher(program: Path) -> bool:
    # tools/ of this checkout or another one may be on PATH.
    return (program.resolve().parent / "airgap/__main__.py").exists()


def _with_tool(tool: Path, want: versions.Version, environ: Mapping[str, str]) -> Iterator[Finding]:
    if environ.get("BAZEL_REAL"):
        runs = _starts(tool)
        other = None if runs else "unset BAZEL_REAL, or name a Bazel that can be run."
        can = "" if runs else ", but it cannot be run"
        yield Finding("would use", f"{tool}, given by bazelisk as BAZEL_REAL{can}", other)
        return
    if tool.name == "bazelisk":
        yield Finding("would use", f"{tool}, which downloads Bazel {versions.show(want)} itself")
        return
    other = f"set BAZEL_AIRGAP=1 (on Debian), or {settings.INSTALL_BAZELISK}."
    try:
        said = _version(tool)
        have = versions.parse(said.replace("bazel", "").strip().partition("-")[0], str(tool))
    except (OSError, subprocess.TimeoutExpired):
        yield Finding("would use", f"{tool}, which does not run", other)
        return
    except Problem as problem:
        yield Finding("would use", f"{tool}, but {problem.what}", other)
        return
    fits = have[0] == want[0] and have >= want
    yield Finding("would use", f"{tool}, Bazel {versions.show(have)}", None if fits else other)


def _version(tool: Path) -> str:
    return subprocess.run(
        [str(tool), "--version"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    ).stdout


def _starts(tool: Path) -> bool:
    try:
        _version(tool)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return True


def _with_root(
    chosen: settings.Settings, want: versions.Version, environ: Mapping[str, str]
) -> Iterator[Finding]:
    host = enter.Host.look(environment.certificates(environ))
    if chosen.root.is_dir():
        yield from _ready(chosen, host, want)
        yield from _cache(chosen)
    else:
        yield from _to_be_made(chosen, host)
    bundle = host.bundle or "those of the private root"
    yield Finding("certificates", str(bundle))


def _ready(
    chosen: settings.Settings, host: enter.Host, want: versions.Version
) -> Iterator[Finding]:
    try:
        have = versions.provided(chosen.root)
        warning = versions.compare(have, want)
        yield Finding("private root", f"{chosen.root}, Bazel {versions.show(have)}")
        if warning:
            yield Finding("note", warning)
    except Problem as problem:
        yield Finding("private root", problem.what, problem.remedy)
    bwrap = tools.find("bwrap")
    if bwrap is None:
        yield Finding("bubblewrap", "not installed", "run `apt-get install bubblewrap` as root.")
        return
    try:
        enter.prove(chosen, host, bwrap)
        yield Finding("sandbox", f"works (entered with {bwrap})")
    except Problem as problem:
        yield Finding("sandbox", problem.what, problem.remedy)


def _to_be_made(chosen: settings.Settings, host: enter.Host) -> Iterator[Finding]:
    yield Finding("private root", _prospect(chosen))
    tools.require_debian(chosen.mirror, chosen.reason)
    packages = tools.missing(host.uid)
    if not packages:
        yield Finding("packages", "all that is needed is installed")
    elif host.uid == 0:
        yield Finding("packages", f"{', '.join(packages)}: the first call installs them with apt")
    else:
        yield Finding(
            "packages",
            f"{', '.join(packages)}: not installed",
            f"ask the administrator to run `apt-get install {' '.join(packages)}`,"
            f" or {settings.INSTALL_BAZELISK}.",
        )
    if tools.find("bwrap") is not None:
        yield _namespaces()
    yield from _place(chosen)
    listed = [chosen.mirror] if chosen.mirror else sources.mirrors()
    address = mirror.choose(listed, mirror.probe)
    yield Finding("mirror", f"{address} carries {settings.SUITE}")


def _prospect(chosen: settings.Settings) -> str:
    holder = locking.holder_of(chosen.lock)
    if holder is not None:
        return f"{holder} is making it right now"
    if any(chosen.cache.glob("root-*.partial*")):
        return "half made by a call that was interrupted; the next call removes that and makes it"
    return "not made yet; the first call makes it, in a minute or two"


def _namespaces() -> Finding:
    try:
        enter.try_namespaces()
    except Problem as problem:
        return Finding("sandbox", problem.what, problem.remedy)
    return Finding("sandbox", "this system lets programs make namespaces")


def _place(chosen: settings.Settings) -> Iterator[Finding]:
    """What keeps the cache from being written, and from holding the root."""
    there = _nearest(chosen.cache)
    if not (there.is_dir() and _writable(there)):
        yield Finding(
            "cache",
            f"{chosen.cache} cannot be written",
            "set BAZEL_AIRGAP_CACHE to a folder that you can write.",
        )
        return
    yield Finding("cache", f"{chosen.cache}{'' if there == chosen.cache else ' (not there yet)'}")
    free = shutil.disk_usage(there).free
    if free < settings.NEEDED:
        yield Finding(
            "disk",
            f"{size(free)} free, {size(settings.NEEDED)} needed",
            "free some space, or set BAZEL_AIRGAP_CACHE to a folder on another disk.",
        )


def _writable(folder: Path) -> bool:
    # To root everything seems to be: only trying shows it of /proc, and of a system that is mounted
    # to be read.
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _cache(chosen: settings.Settings) -> Iterator[Finding]:
    parts = [f"Bazel's outputs {size(_used(chosen.outputs))}"]
    others = []
    for root in sorted(chosen.cache.glob("root-*")):
        if root == chosen.root:
            parts.append(f"the root {size(_used(root))}")
        elif root.is_dir():
            others.append(root)
    yield Finding("cache", f"{chosen.cache}: {', '.join(parts)}")
    for root in others:
        yield Finding(
            "another root", f"{root}, {size(_used(root))}; delete it if no other checkout uses it"
        )
    free = shutil.disk_usage(chosen.cache).free
    scarce = "free some space: Bazel writes what it builds there." if free < _SCARCE else None
    yield Finding("disk", f"{size(free)} free", scarce)


def _nearest(folder: Path) -> Path:
    """The folder, or what there is of the path to it."""
    while not folder.exists():
        folder = folder.parent
    return folder


def _used(folder: Path) -> int:
    done = tools.ask(["du", "-s", "-x", "--block-size=1", "--", str(folder)])
    return int(done.stdout.split()[0]) if done.stdout.strip() else 0
