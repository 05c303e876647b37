"""The command `fixture`: what it prints, where it writes, and how it ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from satyrn_engine._desk import Desk
from satyrn_engine._fixture_check import check_fixture
from satyrn_engine._fixture_events import Label, Profile
from satyrn_engine._fixture_make import Kind, make_fixture
from satyrn_engine._output import check_output, is_standard, open_output
from satyrn_engine.errors import ConfigError

_CALLS = re.compile(r"(\d*)(:?)(\d*)")


@dataclass(frozen=True, slots=True)
class MakeRequest:
    """What the user asked for; see `_fixture_cli.make`."""

    session: str
    kind: Kind
    label: Label | None
    calls: str | None
    branch: str | None
    name: str | None
    profile: Profile
    mask: bool
    keep: tuple[str, ...]
    seed: int
    output: Path | None


def run_make(request: MakeRequest, err: Console) -> int:
    """Make a fixture, write it, and say what it expects.

    Raises:
        SatyrnError: if it cannot be made.
    """
    output = request.output
    check_output("--output", output, [request.session])
    named = "recorded" if output is None or is_standard(output) else output.stem
    made = make_fixture(
        request.session,
        request.kind,
        label=request.label,
        calls=None if request.calls is None else calls_range(request.calls),
        branch=request.branch,
        name=named if request.name is None else request.name,
        profile=request.profile,
        mask=request.mask,
        keep=request.keep,
        seed=request.seed,
    )
    _write(made.text, output)
    for note in made.notes:
        _say(err, f"note: {note}")
    for warning in made.warnings:
        _say(err, f"look: {warning}", "yellow")
    for finding in made.findings:
        _say(err, f"{finding} - confirm before you commit this", "bold")
    return 0


def run_check(files: Sequence[Path], out: Console, err: Console) -> int:
    """Check files and return the exit code."""
    if not files:
        raise ConfigError("name the fixtures and scenarios to check")
    sound = True
    with Desk() as desk:
        for file in files:
            problems = check_fixture(file, desk)
            for problem in problems:
                _say(err, f"{file}: {problem}", "red")
            if not problems:
                _say(out, f"{file}: as expected")
            sound = sound and not problems
    return 0 if sound else 1


def calls_range(text: str) -> tuple[int, int | None]:
    """Return the first and last call of `40:75`, `40:`, `:75` or `40`.

    Raises:
        ConfigError: if the text is nothing of that kind.
    """
    found = _CALLS.fullmatch(text)
    if found is None or not (found[1] or found[3]):
        raise ConfigError(f"--calls {text}: write two numbers of calls, as 40:75, or 40: or :75")
    first = int(found[1] or 1)
    last = int(found[3]) if found[3] else None
    return first, last if found[2] else first


def _write(text: str, output: Path | None) -> None:
    with open_output(output) as file:
        file.write(text.encode())


def _say(console: Console, sentence: str, style: str = "") -> None:
    console.print(sentence, style=style, highlight=False, markup=False, soft_wrap=True)
