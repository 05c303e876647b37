"""Fixture: what the shipped guards do becomes what is expected, and is told to a person."""

from __future__ import annotations

from satyrn_engine._desk import Desk, Played, Seen, Sighting
from satyrn_engine._fixture_events import Excerpt, Json, Label, Profile, dump
from satyrn_engine.errors import ConfigError, SatyrnError

_CHANGED = "masking has changed what the engine does, which it never must; use --no-mask"


class GuardJudge:
    """Lets the engine judge a guard fixture."""

    def __init__(self, desk: Desk, taken: Excerpt) -> None:
        self._desk = desk
        self._taken = taken

    def settle(self, document: Json, plain: Json | None) -> tuple[list[str], list[str]]:
        """Write down what the engine does; return that in words, and warnings."""
        seen = self._see(document)
        if plain is not None and self._see(plain) != seen:
            raise SatyrnError(_CHANGED)
        document["expected"] = {
            "blocked": seen.blocked,
            "entries": seen.entries,
            "firstBlock": seen.first_block,
        }
        return [refusals("engine", seen.blocked, seen.first_block, self._taken)], []

    def _see(self, document: Json) -> Seen:
        seen = self._desk.fixture(dump(document))
        if isinstance(seen, list):
            raise ConfigError(f"this part of the session makes no fixture: {'; '.join(seen)}")
        return seen


class ScenarioJudge:
    """Lets both guards judge a scenario."""

    def __init__(self, desk: Desk, taken: Excerpt, profile: Profile) -> None:
        self._desk = desk
        self._taken = taken
        self._police = f"police, {profile}"

    def settle(self, document: Json, plain: Json | None) -> tuple[list[str], list[str]]:
        """Write down what the guards do; return that in words, and warnings."""
        played = self._play(document)
        engine, police = played["engine"], played["police"]
        findings = [refusals("engine", engine.blocked, engine.first_block, self._taken)]
        findings.append(f"{self._police}: {sighting(police)}")
        warnings = list(self._doubts(document["label"], police))
        if plain is not None:
            warnings += self._compare(played, self._play(plain))
        by = police.any.event if document["label"] == "loop" else None
        document["expected"] = {
            "engine": {"blocked": engine.blocked, "firstBlock": engine.first_block},
            "police": {"by": by},
        }
        return findings, warnings

    def _doubts(self, label: Label, police: Played) -> list[str]:
        if label == "loop" and police.any.event is None:
            missed = f"{self._police} miss this loop, so expected.police.by is null"
            return [f"{missed}; write the event by which one can tell, if it is to be caught"]
        if label == "legitimate" and police.any.event is not None:
            return [f"{self._police} raise a false alarm here, and the scoreboard will say so"]
        return []

    def _compare(self, masked: dict[str, Played], plain: dict[str, Played]) -> list[str]:
        one, other = masked["engine"], plain["engine"]
        if (one.blocked, one.first_block) != (other.blocked, other.first_block):
            raise SatyrnError(_CHANGED)
        if (masked["police"].any, masked["police"].enforced) == (
            plain["police"].any,
            plain["police"].enforced,
        ):
            return []
        unmasked = f"the words matter to {self._police}: unmasked it is {sighting(plain['police'])}"
        return [f"{unmasked}; keep those that decide (--keep cat,sleep), or all (--no-mask)"]

    def _play(self, document: Json) -> dict[str, Played]:
        played = self._desk.scenario(dump(document))
        if isinstance(played, list):
            raise ConfigError(f"this part of the session makes no scenario: {'; '.join(played)}")
        return played


def refusals(guard: str, blocked: int, first: int | None, taken: Excerpt) -> str:
    """Say how many calls a guard refused."""
    of = f"{blocked} of {len(taken.reached)} calls refused"
    if first is None:
        return f"{guard}: {of}"
    number = taken.reached[first - 1].number
    place = "" if number == first else f" (call {number} of the session)"
    return f"{guard}: {of}, first at call {first}{place}"


def sighting(played: Played) -> str:
    def told(sighting: Sighting) -> str:
        if sighting.event is None:
            return sighting.outcome
        kind = sighting.kind or "unnamed"
        how = f", {sighting.how}" if sighting.how else ", told only"
        return f"{sighting.outcome} at event {sighting.event} ({kind}{how})"

    said = told(played.any)
    if played.enforced.event is not None and played.enforced.event != played.any.event:
        said += f"; {played.enforced.how} at event {played.enforced.event}"
    return said
