"""Fixture: from a recorded session to a document with what the shipped guards do with it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal

from satyrn_engine._branch_file import BranchFile, branch_file
from satyrn_engine._desk import Desk
from satyrn_engine._fixture_events import (
    CallRange,
    Excerpt,
    Json,
    Label,
    Profile,
    dump,
    excerpt,
    guard_document,
    scenario_document,
)
from satyrn_engine._fixture_judge import GuardJudge, ScenarioJudge
from satyrn_engine._fixture_mask import PROJECT, in_project, masked
from satyrn_engine._mask import Mask, texts_in
from satyrn_engine._recorded import RecordedBranch, read_branch
from satyrn_engine._sources import Source, find_sources
from satyrn_engine.errors import ConfigError, SourceError

Kind = Literal["guard", "scenario"]

#: A number of so many digits may be a secret.
LONG_NUMBER = 8


@dataclass(frozen=True, slots=True)
class MadeFixture:
    """A fixture or scenario from a recorded session.

    Attributes:
        text: of the file: JSON, laid out.
        document: the same as data.
        findings: what the shipped guards do with it, for a person to confirm.
        notes: what was left out or changed on the way.
        warnings: what a person ought to look into.
    """

    text: str
    document: Json
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def make_fixture(
    session: str | PathLike[str],
    kind: Kind = "guard",
    *,
    label: Label | None = None,
    calls: tuple[int, int | None] | None = None,
    branch: str | None = None,
    name: str = "recorded",
    profile: Profile = "evidence",
    mask: bool = True,
    keep: Sequence[str] = (),
    seed: int = 0,
) -> MadeFixture:
    """Make a guard fixture or a labelled scenario from a recorded session.

    What is expected in it is what the shipped guards do: look at it before you rely on it.

    Args:
        session: a file that Pi wrote, or an address; `-` for standard input.
        kind: `guard` for a guard fixture, `scenario` for a labelled scenario.
        label: the truth about a scenario: `loop` or `legitimate`.
        calls: the first and the last call to take, both included, 1 for the first call of the
            branch, as in the reports of `scan_sessions`; None for the end. Default: all.
        branch: id of the branch's last entry. Default: the branch that Pi would resume.
        name: names the fixture.
        profile: of police, for a scenario.
        mask: whether words become pseudo-words.
        keep: words that stay nevertheless.
        seed: another one gives other pseudo-words; the same one always the same.

    Raises:
        SourceError: if the session cannot be read.
        ConfigError: if the request cannot be carried out as it is.
        NodeError: if there is no Node.js that can run the guards.
        WorkerDiedError: if the process that runs them ends.
    """
    _check(kind, label, calls, name)
    wanted = CallRange() if calls is None else CallRange(*calls)
    source = str(session)
    with tempfile.TemporaryDirectory(prefix="satyrn-") as spool, Desk() as desk:
        chosen = branch_file(_one_source(source, Path(spool)), branch, Path(spool))
        read = read_branch(chosen.source)
        taken = excerpt(read, wanted, source, desk)
        about = _about(calls, masked=mask)
        if kind == "guard":
            plain = guard_document(taken, name, about)
        else:
            assert label is not None
            plain = in_project(scenario_document(taken, name, about, label, profile), read.cwd)
        notes = _notes(chosen, read, taken, kind)
        document, masking = plain, None
        if mask:
            masking = Mask(texts_in(plain), [name, about], keep, seed, PROJECT)
            document = masked(plain, masking, taken)
        judge = GuardJudge(desk, taken) if kind == "guard" else ScenarioJudge(desk, taken, profile)
        findings, warnings = judge.settle(document, plain if mask else None)
    text = dump(document)
    if masking is not None:
        notes.append(f"{masking.words:,} different words are masked; numbers are not")
        warnings += _long_numbers(text)
    return MadeFixture(text, document, tuple(findings), tuple(notes), tuple(warnings))


def _check(kind: str, label: str | None, calls: tuple[int, int | None] | None, name: str) -> None:
    if kind == "scenario" and label not in ("loop", "legitimate"):
        raise ConfigError("a scenario needs its label: --label loop or --label legitimate")
    if kind == "guard" and label is not None:
        raise ConfigError("a guard fixture has no label; leave out --label, or add --kind scenario")
    if kind not in ("guard", "scenario"):
        raise ConfigError(f"there is no kind {kind!r}; choose guard or scenario")
    if not name:
        raise ConfigError("the name is empty; give --name one")
    if calls is not None:
        first, last = calls
        if first < 1 or (last is not None and last < first):
            raise ConfigError(
                f"--calls {first}:{last or ''}: calls count from 1, the first one first"
            )


def _one_source(path: str, spool: Path) -> Source:
    source, *more = [*find_sources([path], spool)] or [SourceError(f"{path}: holds no session")]
    if isinstance(source, SourceError):
        raise source
    if more:
        raise SourceError(f"{path}: is more than one file; name one session")
    return source


def _about(calls: tuple[int, int | None] | None, *, masked: bool) -> str:
    part = "a recorded session"
    if calls is not None:
        first, last = calls
        part = f"calls {first} to {last or 'the last'} of {part}"
        if first == last:
            part = f"call {first} of a recorded session"
    return f"{part}, words masked" if masked else part


def _notes(chosen: BranchFile, read: RecordedBranch, taken: Excerpt, kind: Kind) -> list[str]:
    notes = []
    if chosen.others:
        notes.append(
            f"this is the branch that ends at {chosen.leaf}; others end at "
            f"{', '.join(chosen.others)} (--branch)"
        )
    if read.copied:
        notes.append(
            f"the session is a fork: {_of(read.copied, 'call')} of its parent are left out, and "
            "its own are numbered from 1"
        )
    if taken.rejected and kind == "guard":
        notes.append(f"{_of(taken.rejected, 'call')} that Pi rejected: no guard saw them, left out")
    if taken.rejected and kind == "scenario":
        notes.append(f"{_of(taken.rejected, 'call')} that Pi rejected: in it as invalid")
    if taken.unclear:
        notes.append(f"{_of(taken.unclear, 'call')} without a clear outcome: left out")
    if taken.joined and kind == "scenario":
        notes.append(f"{_of(taken.joined, 'message')} with several blocks of a kind: joined to one")
    for reason in read.broken:
        notes.append(f"a line of the session was skipped: {reason}")
    return notes


def _long_numbers(text: str) -> list[str]:
    found = set(re.findall(rf"\d{{{LONG_NUMBER},}}", text))
    if not found:
        return []
    kept = f"{_of(len(found), 'number')} of {LONG_NUMBER} digits or more stay as they are"
    return [f"{kept}; see that none is a secret"]


def _of(count: int, thing: str) -> str:
    return f"{count:,} {thing}" + ("" if count == 1 else "s")
