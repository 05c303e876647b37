"""Reads the locks: what each pins, and whether it pins all of it by digest and names no address."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

REMEDY = "make it again with `bazel run //tools:update_python` or `bazel run //tools:update_npm`"

_NPM = "package-lock.json"
# Locks of package managers that this project does not use: whoever brings one in has to teach this
# module to read it, so that nothing is fetched that is not checked.
_FOREIGN = frozenset(
    [
        *("MODULE.bazel.lock", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock"),
        *("bun.lockb", "Pipfile.lock", "pdm.lock", "poetry.lock", "pylock.toml", "uv.lock"),
        *("Cargo.lock", "Gemfile.lock", "composer.lock", "flake.lock", "go.sum", "deno.lock"),
    ]
)
_PYTHON = re.compile(r"(.*[._-])?requirements([._-].*)?\.txt|.*[._-]lock\.txt")
# SHA-256 and stronger. npm's locks write digests in base64, Python's in hexadecimal.
_SRI = re.compile(r"sha256-[A-Za-z0-9+/]{43}=|sha384-[A-Za-z0-9+/]{64}|sha512-[A-Za-z0-9+/]{86}==")
_HEX = re.compile(r"--hash=sha256:[0-9a-f]{64}")
_OPTION = re.compile(r"--hash=\S+")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"',]+|\bgit@[^\s\"',]+", re.IGNORECASE)
# What npm fetches from; all else is for people, such as `funding` or why a package is deprecated.
_SOURCES = ("resolved", "version")
_ASKED = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
# npm's ways to name something that is not in its registry: any kind of URL (`github:a/b` is one),
# the host and path of SSH, and the repository a/b of GitHub.
_ELSEWHERE = re.compile(
    r"(?!(npm|file|workspace):)[a-z][a-z0-9+.-]*:.*|[^@/\s]+@[^:/\s]+:.*", re.IGNORECASE
)
_REPOSITORY = re.compile(r"[^@:./~\s][^:/\s]*/[^/\s]+")


@dataclass(frozen=True)
class Pin:
    """One distribution or package in a lock.

    Attributes:
        name: Python's normalised name, or the path of npm's tree (`node_modules/a`).
        version: The one version.
        digests: Whether digests hold it, all of them strong ones.
    """

    name: str
    version: str
    digests: bool


def is_lock(path: str) -> bool:
    """Whether a file of this name is a lock of some package manager."""
    name = PurePosixPath(path).name
    return name == _NPM or name in _FOREIGN or _PYTHON.fullmatch(name) is not None


def pins(path: str, text: str) -> list[Pin]:
    """What a lock pins.

    Raises:
        ValueError: It is not a lock that this module reads, or a line of it is none; the message
            is a sentence without the path.
    """
    name = PurePosixPath(path).name
    if name == _NPM:
        return _npm_pins(_npm_lock(text))
    if name in _FOREIGN:
        raise ValueError(f"nothing here reads a {name}, so nothing checks what it pins")
    return _python_pins(text)


def faults(path: str, text: str) -> list[str]:
    """A sentence for each thing in a lock that is not pinned, or that is an address."""
    try:
        found = pins(path, text)
    except ValueError as error:
        return [f"{path}: {error}"]
    sentences = [
        f"{path}: {pin.name} {pin.version} is not pinned by a digest of SHA-256 or stronger"
        for pin in found
        if not pin.digests
    ]
    if not found:
        sentences.append(f"{path}: it pins nothing")
    npm = PurePosixPath(path).name == _NPM
    addresses = _npm_addresses(_npm_lock(text)) if npm else set(_ADDRESS.findall(text))
    return sentences + [f"{path}: it names the address {each}" for each in sorted(addresses)]


def npm_staleness(path: str, text: str, manifest: str) -> list[str]:
    """A sentence for each kind of dependency that package.json and its lock disagree on."""
    wanted = json.loads(manifest)
    root = _npm_lock(text)["packages"].get("", {})
    return [
        f"{path}: its {key} are not those of package.json beside it"
        for key in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")
        if root.get(key) != wanted.get(key)
    ]


def python_staleness(path: str, text: str, wanted: str) -> list[str]:
    """A sentence for each line of the file of wishes that the lock does not fulfil."""
    versions: dict[str, list[str]] = {}
    for pin in _python_pins(text):
        versions.setdefault(pin.name, []).append(pin.version)
    sentences = []
    for wish in wishes(wanted):
        found = versions.get(canonicalize_name(wish.name), [])
        if not found:
            sentences.append(f"{path}: it has no {wish.name}")
        elif not all(wish.specifier.contains(each, prereleases=True) for each in found):
            sentences.append(f"{path}: it has {wish.name} {', '.join(found)}, and {wish} is wanted")
    return sentences


def wishes(text: str) -> list[Requirement]:
    """The requirements in a file such as requirements.in.

    Raises:
        ValueError: A line is none.
    """
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [_requirement(line) for line in lines if line]


def _npm_lock(text: str) -> dict[str, Any]:
    try:
        lock = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is no JSON ({error})") from None
    if not isinstance(lock, dict) or lock.get("lockfileVersion") != 3:
        raise ValueError("it is no lock of npm 7 or later (lockfileVersion 3)")
    return lock


def _npm_pins(lock: dict[str, Any]) -> list[Pin]:
    return [
        Pin(path, str(entry.get("version", "")), _SRI.fullmatch(_integrity(entry)) is not None)
        for path, entry in lock["packages"].items()
        # The root is the project itself, a link leads into it, and what comes in a bundle is held
        # by the digest of the package around it.
        if path and not entry.get("link") and not entry.get("inBundle")
    ]


def _integrity(entry: dict[str, Any]) -> str:
    return str(entry.get("integrity", ""))


def _python_pins(text: str) -> list[Pin]:
    found = []
    for raw in text.replace("\\\n", " ").splitlines():
        line = re.sub(r"(^|\s)#.*", "", raw).strip()
        if not line:
            continue
        if line.startswith("-"):
            raise ValueError(f"{line.split()[0]} is an option, which a lock does without")
        requirement = _requirement(_OPTION.sub("", line).strip())
        exact = [each.version for each in requirement.specifier if each.operator == "=="]
        if requirement.url or len(requirement.specifier) != 1 or len(exact) != 1:
            raise ValueError(f"{requirement} names no version")
        digests = _OPTION.findall(line)
        strong = bool(digests) and all(_HEX.fullmatch(each) for each in digests)
        found.append(Pin(canonicalize_name(requirement.name), exact[0], strong))
    return found


def _requirement(line: str) -> Requirement:
    try:
        return Requirement(line)
    except InvalidRequirement as error:
        raise ValueError(f"{line!r} is no requirement ({str(error).splitlines()[0]})") from None


def _npm_addresses(lock: dict[str, Any]) -> set[str]:
    """Where npm would fetch from other than its registry, or from one that is named."""
    found: set[str] = set()
    for entry in lock["packages"].values():
        sources = [str(entry.get(key, "")).strip() for key in _SOURCES]
        asked = [str(wish).strip() for key in _ASKED for wish in entry.get(key, {}).values()]
        found.update(each for each in sources + asked if _ELSEWHERE.fullmatch(each))
        found.update(each for each in asked if _REPOSITORY.fullmatch(each))
    return found
