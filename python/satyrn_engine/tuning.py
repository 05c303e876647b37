"""What a sweep over the settings of police finds out: documented dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from satyrn_engine.reports import Skipped


@dataclass(slots=True)
class VariantResult:
    """How police did with one choice of settings.

    A loop is caught when something was kept from happening: a call refused, an answer stopped.

    Attributes:
        name: what differs from the base, as `KEY=VALUE`; `base` for the base itself.
        changes: the settings that differ.
        caught: loops that were caught.
        told: loops in which anything was found; those that were caught are among them.
        missed: loops that were not caught.
        false_alarms: legitimate sessions in which something was kept from happening.
        false_alarms_told: legitimate sessions in which anything was found.
        median_calls: the median number of calls until a loop was caught; None if none was.
        best: whether no other variant is as good in what is caught, in false alarms and in the
            median, and better in one of them; of equal ones, the first.
        missed_sessions: sources of the loops that were missed.
        false_alarm_sessions: sources of the legitimate sessions with a false alarm.
    """

    name: str
    changes: dict[str, Any]
    caught: int = 0
    told: int = 0
    missed: int = 0
    false_alarms: int = 0
    false_alarms_told: int = 0
    median_calls: float | None = None
    best: bool = False
    missed_sessions: list[str] = field(default_factory=list)
    false_alarm_sessions: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TuneReport:
    """What a sweep found out.

    Attributes:
        base: the settings from which the variants differ.
        loops: sessions that are labelled as loops.
        legitimate: sessions that are labelled as legitimate.
        unlabelled: sessions without a label: they do not count.
        lost_labels: labels of sessions that were not there; each the place and the name.
        skipped: what could not be read.
        variants: the base first.
    """

    base: dict[str, Any]
    loops: int = 0
    legitimate: int = 0
    unlabelled: int = 0
    lost_labels: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    variants: list[VariantResult] = field(default_factory=list)
