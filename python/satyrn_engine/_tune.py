"""Tune: replays labelled sessions through police with one choice of settings after the other."""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from satyrn_engine._crew import Crew
from satyrn_engine._desk import Desk
from satyrn_engine._labels import Label, assign, labels_of, read_labels
from satyrn_engine._options import default_jobs, resolve_guards
from satyrn_engine._pool import scan_all
from satyrn_engine._sources import Source, default_folder, find_sources
from satyrn_engine._variants import ACTING, DEFAULT_KEYS, Value, Variant, settled, variants
from satyrn_engine.errors import ConfigError, SourceError
from satyrn_engine.reports import SessionReport, Skipped
from satyrn_engine.tuning import TuneReport, VariantResult

Found = SessionReport | Skipped
#: What every variant has: the stamp of the settings' version, and no hooks.
_NOT_TOLD = {"CONFIG_VERSION", *ACTING}
#: Is told of each variant that begins, with the number of variants and files.
Watch = Callable[[Variant, int, int], Callable[[Found], None]]


def tune_sessions(
    paths: Sequence[str | PathLike[str]],
    labels: str | PathLike[str] | Mapping[str, str],
    keys: Mapping[str, Sequence[Value]] | None = None,
    *,
    profile: str | None = None,
    police_config: str | PathLike[str] | None = None,
    grid: bool = False,
    jobs: int | None = None,
) -> TuneReport:
    """Sweep settings of police over recorded sessions whose truth is known.

    Args:
        paths: files, folders, globs, addresses. None of them: Pi's own session folder.
        labels: a table with the columns `session` and `label`, or the labels by session: its id,
            its file's name, or the end of its path.
        keys: values to try, by setting. Default: a few for the chief thresholds of the profile.
        profile: `classic` or `evidence`. Default: that of `police_config`, else `classic`.
        police_config: a `loop-police.json` to begin with.
        grid: every combination of the values, and not one key at a time.
        jobs: processes that run the guards. Default: one for each core.

    Raises:
        ConfigError: if the request cannot be carried out as it is, or a label is wrong.
        NodeError: if there is no Node.js that can run the guards.
    """
    given = labels_of(labels) if isinstance(labels, Mapping) else read_labels(Path(labels))
    base = base_settings(profile, None if police_config is None else Path(police_config))
    sweep = Sweep(base, keys, grid=grid)
    named = [str(path) for path in paths] or [str(default_folder())]
    for _ in sweep.run(named, given, jobs or default_jobs(), _unwatched):
        pass
    return sweep.report


def base_settings(profile: str | None, config: Path | None) -> dict[str, Any]:
    """Return the settings that variants differ from.

    Raises:
        ConfigError: if the file is no configuration, or there is no such profile.
    """
    if profile is not None and profile not in DEFAULT_KEYS:
        raise ConfigError(f"there is no profile {profile!r}; choose {' or '.join(DEFAULT_KEYS)}")
    text = resolve_guards(("police",), config).police_config
    settings: dict[str, Any] = {} if text is None else json.loads(text)
    chosen = profile or settings.get("PROFILE", "classic")
    return {**settings, "PROFILE": chosen}


class Sweep:
    """One sweep: what is tried, and what was found so far.

    Attributes:
        variants: what is tried, the base first.
        report: grows with each variant.
    """

    def __init__(
        self, base: dict[str, Any], keys: Mapping[str, Sequence[Value]] | None, *, grid: bool
    ) -> None:
        """Check what is to be tried.

        Raises:
            ConfigError: if police would not take one of the settings, or there are too many.
        """
        tried = DEFAULT_KEYS.get(str(base["PROFILE"]), {}) if keys is None else keys
        for key in tried:
            if key in ACTING:
                raise ConfigError(f"{key} acts outside of the replay; leave it out")
        with Desk() as desk:
            today = settled(base, desk)
            self.variants = variants(today, tried, grid=grid)
            for variant in variants(today, tried, grid=False):
                settled(variant.settings, desk, variant.name)
        self.report = TuneReport({key: today[key] for key in today if key not in _NOT_TOLD})
        self._labels: dict[tuple[str, str], str] = {}

    def run(
        self, paths: Sequence[str], labels: Sequence[Label], jobs: int, watch: Watch
    ) -> Iterator[VariantResult]:
        """Try one variant after the other, and yield what comes of each.

        Raises:
            ConfigError: if a label means several sessions, or none is labelled.
        """
        with tempfile.TemporaryDirectory(prefix="satyrn-") as spool:
            sources = list(find_sources(list(paths), Path(spool)))
            crew = Crew(jobs)
            try:
                for variant in self.variants:
                    done = watch(variant, len(self.variants), len(sources))
                    found = list(_replayed(variant, sources, crew, done))
                    if not self.report.variants:
                        self._begin(found, labels)
                    yield self._add(variant, found)
            finally:
                crew.close()

    def _begin(self, found: Sequence[Found], labels: Sequence[Label]) -> None:
        report = self.report
        reports = [each for each in found if isinstance(each, SessionReport)]
        self._labels, lost = assign(labels, reports)
        report.lost_labels = [f"{label.place}: {label.session}" for label in lost]
        truths = list(self._labels.values())
        report.loops, report.legitimate = truths.count("loop"), truths.count("legitimate")
        report.unlabelled = len(reports) - len(truths)
        if not truths:
            raise ConfigError(
                f"none of the {len(reports)} sessions has a label; the first label is for "
                f"{labels[0].session!r} ({labels[0].place}): is it the name of a file there?"
            )

    def _add(self, variant: Variant, found: Sequence[Found]) -> VariantResult:
        labelled = [
            (self._labels[each.source, each.session], each)
            for each in found
            if isinstance(each, SessionReport) and (each.source, each.session) in self._labels
        ]
        for each in found:
            # What no variant can read is told once.
            if isinstance(each, Skipped) and each not in self.report.skipped:
                self.report.skipped.append(each)
        result = outcome(variant, labelled)
        self.report.variants.append(result)
        mark_best(self.report.variants)
        return result


def outcome(variant: Variant, labelled: Sequence[tuple[str, SessionReport]]) -> VariantResult:
    """Return how police did on sessions with their labels."""
    loops = [report for label, report in labelled if label == "loop"]
    honest = [report for label, report in labelled if label != "loop"]
    calls = [each.first_enforcement for each in loops if each.first_enforcement is not None]
    missed = sorted(each.source for each in loops if each.first_enforcement is None)
    alarms = sorted(each.source for each in honest if each.first_enforcement is not None)
    return VariantResult(
        variant.name,
        variant.changes,
        len(calls),
        sum(_told(each) for each in loops),
        len(missed),
        len(alarms),
        sum(_told(each) for each in honest),
        statistics.median(calls) if calls else None,
        missed_sessions=missed,
        false_alarm_sessions=alarms,
    )


def mark_best(results: Sequence[VariantResult]) -> None:
    """Mark the variants that no other one beats: the Pareto front of what matters.

    Of equal ones the first is marked: a setting that changes nothing is no choice.
    """
    goals = [
        (
            -each.caught,
            each.false_alarms,
            float("inf") if each.median_calls is None else each.median_calls,
        )
        for each in results
    ]
    for place, (result, own) in enumerate(zip(results, goals, strict=True)):
        beaten = any(
            other != own and all(a <= b for a, b in zip(other, own, strict=True)) for other in goals
        )
        result.best = not beaten and own not in goals[:place]


def _told(report: SessionReport) -> bool:
    return report.first_detection is not None or report.first_enforcement is not None


def _replayed(
    variant: Variant,
    sources: Sequence[Source | SourceError],
    crew: Crew,
    done: Callable[[Found], None],
) -> Iterator[Found]:
    for found in scan_all(sources, crew.shift(json.dumps(variant.settings))):
        done(found)
        yield found


def _unwatched(variant: Variant, variants: int, files: int) -> Callable[[Found], None]:  # noqa: ARG001
    return lambda _: None
