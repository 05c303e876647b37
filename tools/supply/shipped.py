"""What the wheel brings along: its requirements and theirs, on each Python and system it is for."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

# The Pythons that the wheel is for (python/pyproject.toml).
_PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# A marker may ask for any release of a Python; none of them has as many as these.
_RELEASES = range(32)
# What people have: sys_platform, platform_system, os_name and platform_machine, as Python says it.
_MACHINES = (
    ("linux", "Linux", "posix", "x86_64"),
    ("linux", "Linux", "posix", "aarch64"),
    ("darwin", "Darwin", "posix", "x86_64"),
    ("darwin", "Darwin", "posix", "arm64"),
    ("win32", "Windows", "nt", "AMD64"),
    ("win32", "Windows", "nt", "ARM64"),
)
# What differs from machine to machine without end: a marker that names one of them may hold.
_ENDLESS = ("platform_release", "platform_version")
# Every variable that a marker can name is given: what is missing would be the building machine's.
ENVIRONMENTS: tuple[Mapping[str, str], ...] = tuple(
    {
        "implementation_name": "cpython",
        "implementation_version": f"{python}.{release}",
        "os_name": os_name,
        "platform_machine": machine,
        "platform_python_implementation": "CPython",
        "platform_system": system,
        "python_full_version": f"{python}.{release}",
        "python_version": python,
        "sys_platform": platform,
        **dict.fromkeys(_ENDLESS, ""),
    }
    for python, release, (platform, system, os_name, machine) in itertools.product(
        _PYTHONS, _RELEASES, _MACHINES
    )
)


@dataclass(frozen=True)
class Distribution:
    """A Python distribution that comes along with the wheel.

    Attributes:
        name: Its normalised name.
        version: The locked one; None where the lock has none, because the Python of the build does
            not need it.
        licence: What its own metadata says, see `licence_of`; "" for nothing.
        extra: The extra of the wheel that asks for it, or "".
        asked: The versions that suit all that ask for it, on whatever Python and system.
    """

    name: str
    version: str | None
    licence: str
    extra: str
    asked: SpecifierSet = field(default_factory=SpecifierSet)


@dataclass
class _Walk:
    """Follows requirements; `needs` gives those of an installed distribution, None for others."""

    needs: Callable[[str], Iterable[str] | None]
    seen: set[tuple[str, str]] = field(default_factory=set)
    asked: dict[str, SpecifierSet] = field(default_factory=dict)

    def names(self, wanted: Iterable[Requirement], extras: Iterable[str] = ("",)) -> Iterator[str]:
        for requirement in wanted:
            if not _may_hold(requirement, extras):
                continue
            name = canonicalize_name(requirement.name)
            self.asked[name] = self.asked.get(name, SpecifierSet()) & requirement.specifier
            for extra in sorted({"", *requirement.extras}):
                if (name, extra) not in self.seen:
                    self.seen.add((name, extra))
                    yield name
                    needs = map(Requirement, self.needs(name) or ())
                    yield from self.names(needs, [extra])


def shipped(
    project: str,
    find: Callable[[str], Message | None],
    needs: Callable[[str], Iterable[str] | None],
) -> list[Distribution]:
    """Return what comes along, sorted by name: first without an extra, then for each extra.

    Args:
        project: The text of the wheel's pyproject.toml.
        find: Gives the metadata of a distribution, or None if it is not locked.
        needs: Gives the requirements of a distribution, or None if it is not locked.
    """
    table: dict[str, Any] = tomllib.loads(project)["project"]
    groups = {"": table.get("dependencies", []), **table.get("optional-dependencies", {})}
    walk = _Walk(needs)
    extra_of: dict[str, str] = {}
    for extra, texts in groups.items():
        for name in sorted(set(walk.names(map(Requirement, texts))) - set(extra_of)):
            extra_of[name] = extra
    # Only now is all known that is asked for.
    return [_described(name, find(name), extra, walk) for name, extra in extra_of.items()]


def licence_of(message: Message) -> str:
    """What a distribution's metadata says of its licence: an SPDX expression, if it has one.

    Older metadata has a free text, which may be the whole licence, or classifiers; the first line
    of the former, or else the names of the latter.
    """
    said = str(message.get("License-Expression") or "").strip()
    if said:
        return said
    classifiers = [
        str(text).rpartition(" :: ")[2]
        for text in message.get_all("Classifier", [])
        if str(text).startswith("License :: ") and not str(text).endswith("OSI Approved")
    ]
    text = str(message.get("License") or "").strip().splitlines()
    if text and text[0] != "UNKNOWN" and (not classifiers or len(text) == 1):
        return text[0]
    return " AND ".join(classifiers)


def installed(name: str) -> Message | None:
    """The metadata of a distribution that this program runs with, or None."""
    try:
        # What importlib calls PackageMetadata is an email message.
        message: Any = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    assert isinstance(message, Message)
    return message


def installed_needs(name: str) -> list[str] | None:
    """The requirements of a distribution that this program runs with, or None."""
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return None


def _described(name: str, message: Message | None, extra: str, walk: _Walk) -> Distribution:
    version, licence = None, ""
    if message is not None:
        version, licence = str(message["Version"]), licence_of(message)
    return Distribution(name, version, licence, extra, walk.asked[name])


def _may_hold(requirement: Requirement, extras: Iterable[str]) -> bool:
    marker = requirement.marker
    if marker is None or any(name in str(marker) for name in _ENDLESS):
        return True
    return any(
        marker.evaluate({**environment, "extra": extra})
        for environment in ENVIRONMENTS
        for extra in extras
    )
