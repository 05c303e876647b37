"""Tune: the settings of police that are tried out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from satyrn_engine._desk import Desk
from satyrn_engine.errors import ConfigError

Value = int | float | str

#: Settings that run a command or write a file: no replay does that.
ACTING = ("HOOK_CMD", "HOOK_LOG")

#: More takes days, and is nearly always a mistake.
MOST = 2000

#: What is tried by default: about half and twice each default (`police/config/keys.ts`), and off.
#: Only what a profile looks at; the other profile is tried as well.
DEFAULT_KEYS: Mapping[str, Mapping[str, Sequence[Value]]] = {
    "classic": {
        "PROFILE": ["evidence"],
        "TOOL_LOOP_BAN": [0, 2],
        "FILE_SCAN_LIMIT": [0, 10, 40],
        "SEARCH_EXPAND_LIMIT": [0, 2, 6],
        "REREAD_RATIO": [0.2, 0.6, 0.8],
        "SEMANTIC_THRESHOLD": [0, 2, 6],
        "STAGNATION_WINDOW": [0, 3, 8],
        "REJECTED_LOOP_LIMIT": [0, 2, 8],
    },
    "evidence": {
        "PROFILE": ["classic"],
        "REJECTED_LOOP_LIMIT": [0, 2, 3, 6, 8],
        "REFUSAL_LIMIT": [0, 3, 10],
    },
}


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings of police.

    Attributes:
        name: what differs from the base, as `KEY=VALUE`; `base` for the base itself.
        changes: the settings that differ.
        settings: all that are set; the others have their defaults.
    """

    name: str
    changes: dict[str, Value]
    settings: dict[str, Any]


def variants(
    base: Mapping[str, Any], keys: Mapping[str, Sequence[Value]], *, grid: bool
) -> list[Variant]:
    """Return the base, and what it becomes with other values.

    Args:
        base: settings of police.
        keys: values to try.
        grid: every combination, and not one key at a time.

    Raises:
        ConfigError: if there are too many.
    """
    count = 1
    for values in keys.values():
        count = count * len(values) if grid else count + len(values)
    if count > MOST:
        raise ConfigError(
            f"{count:,} variants are too many; give fewer values, or leave out --grid"
        )
    if grid:
        choices = [[(key, value) for value in values] for key, values in keys.items()]
        changes = [dict(chosen) for chosen in itertools.product(*choices)]
    else:
        changes = [{key: value} for key, values in keys.items() for value in values]
    found = [Variant("base", {}, dict(base))]
    for change in changes:
        differs = {key: value for key, value in change.items() if base.get(key) != value}
        if not differs or any(differs == known.changes for known in found):
            continue
        name = " ".join(f"{key}={value}" for key, value in differs.items())
        found.append(Variant(name, differs, {**base, **differs}))
    return found


def parse_keys(given: Sequence[str]) -> dict[str, list[Value]]:
    """Return the values of `NAME=V1,V2`.

    Raises:
        ConfigError: if something else stands there.
    """
    keys: dict[str, list[Value]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        listed = [value.strip() for value in values.split(",") if value.strip()]
        if not name.strip() or not equals or not listed:
            raise ConfigError(f"--key {text}: write a setting and its values, as STRIDE=25,100")
        if name.strip() in ACTING:
            raise ConfigError(f"--key {text}: acts outside of the replay; leave it out")
        keys.setdefault(name.strip(), []).extend(_value(value) for value in listed)
    return keys


def settled(settings: Mapping[str, Any], desk: Desk, name: str = "base") -> dict[str, Any]:
    """Return settings as police understand them today: a file may be of an older version.

    Raises:
        ConfigError: if they would not take one of them.
    """
    today, complaint = desk.settings(dict(settings))
    if complaint is not None:
        said = complaint.removesuffix(" Defaults are used for what is wrong.")
        raise ConfigError(f"{name}: police say: {said} `/loop-police` in Pi shows all settings")
    return today


def _value(text: str) -> Value:
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d*\.\d+", text) else text
