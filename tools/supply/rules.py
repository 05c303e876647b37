"""What `licenses.toml` says, and whether what was read by hand is still of what is shipped."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.supply import expressions
from tools.supply.shipped import Distribution

FILE = "tools/supply/licenses.toml"


@dataclass(frozen=True)
class Reading:
    """What somebody read of one version of a distribution; it holds for no other.

    Attributes:
        version: The one that was read.
        licence: An SPDX expression.
        needs: Its requirements, where the build has no metadata of it.
    """

    version: str
    licence: str
    needs: Sequence[str] = ()


@dataclass(frozen=True)
class Rules:
    """What `licenses.toml` says; see there.

    Attributes:
        allowed: SPDX identifiers.
        names: Older names of licences.
        read: By distribution, where metadata leaves the licence open.
        unlocked: By distribution, where the lock has none.
    """

    allowed: Collection[str]
    names: Mapping[str, str]
    read: Mapping[str, Reading]
    unlocked: Mapping[str, Reading]


def read_rules(text: str) -> Rules:
    """Read `licenses.toml`.

    Raises:
        ValueError: It is no TOML, or a reading lacks something; the message is a sentence that
            says where.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{FILE}: it is no TOML; mend it there: {error}") from None
    return Rules(
        table["allowed"],
        table["names"],
        _readings(table, "read", ["version", "licence"]),
        # Without its needs, what they bring along would be missing without a word.
        _readings(table, "unlocked", ["version", "licence", "needs"]),
    )


def licence_of(found: Distribution, rules: Rules) -> str:
    """The licence by its metadata, or else as read of this version; "" if neither tells it."""
    if found.version is None:
        unlocked = rules.unlocked.get(found.name)
        return unlocked.licence if unlocked else ""
    reading = rules.read.get(found.name)
    by_hand = reading.licence if reading and reading.version == found.version else ""
    return expressions.plain(found.licence, rules.names) or by_hand


def faults(found: Collection[Distribution], rules: Rules) -> list[str]:
    """A sentence for each reading that is of another version, or that nothing needs."""
    locked = {each.name: each for each in found if each.version is not None}
    others = {each.name: each for each in found if each.version is None}
    told = {
        f"[read] {name}": _read_fault(reading, locked.get(name), rules.names)
        for name, reading in rules.read.items()
    } | {
        f"[unlocked] {name}": _unlocked_fault(reading, others.get(name))
        for name, reading in rules.unlocked.items()
    }
    return [f"{FILE}: {entry}: {fault}" for entry, fault in told.items() if fault]


def _read_fault(
    reading: Reading, found: Distribution | None, names: Mapping[str, str]
) -> str | None:
    if found is None:
        return "nothing that is locked and shipped has this name; take it out"
    said = expressions.plain(found.licence, names)
    if said:
        return f"its metadata says {said} by itself; take it out"
    if found.version != reading.version:
        return (
            f"it was read of {reading.version}, and {found.version} is shipped; "
            "read that one's licence, and write both here"
        )
    return None


def _unlocked_fault(reading: Reading, found: Distribution | None) -> str | None:
    if found is None:
        return "nothing that is shipped and not locked has this name; take it out"
    if not found.asked.contains(reading.version, prereleases=True):
        return (
            f"it was read of {reading.version}, and {found.asked} is asked for; "
            "read the metadata of such a one, and write here what it says"
        )
    return None


def _readings(table: Mapping[str, Any], section: str, keys: Sequence[str]) -> dict[str, Reading]:
    for name, entry in table[section].items():
        if not isinstance(entry, dict) or set(entry) != set(keys):
            raise ValueError(
                f"{FILE}: [{section}] {name}: write {', '.join(keys)}, and nothing else"
                + ("; needs = [] if it asks for nothing" if "needs" in keys else "")
            )
    return {name: Reading(**entry) for name, entry in table[section].items()}
