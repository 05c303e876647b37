"""The command `fixture`: made of a session by default, checked with `fixture check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from rich.console import Console

fixture_app = App(
    name="fixture",
    help="Make a fixture or a labelled scenario from a recorded session, or check such files.",
    help_format="markdown",
)


@fixture_app.default
def make(
    # Always text: an address is no path. That it may be a path makes shells complete files.
    session: str | Path,
    /,
    *,
    kind: Literal["guard", "scenario"] = "guard",
    label: Literal["loop", "legitimate"] | None = None,
    calls: str | None = None,
    branch: str | None = None,
    name: str | None = None,
    profile: Literal["classic", "evidence"] = "evidence",
    mask: bool = True,
    keep: Annotated[tuple[str, ...], Parameter(consume_multiple=False, negative="")] = (),
    seed: int = 0,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
) -> int:
    """Make a replay fixture or a labelled scenario from a recorded session.

    What the guards are expected to do is what the shipped guards do; it is printed on standard
    error. Confirm it before you rely on it. Exit code: 0 made, 2 if it cannot be made.

    Parameters
    ----------
    session
        A session file or `--mode json` stream, an address, or `-` for standard input. A file that
        is named `check` is `./check` here.
    kind
        `guard`: the calls that reached the guards, for the replay. `scenario`: all that happened,
        for the scoreboard.
    label
        The truth about a scenario.
    calls
        Which calls, as `40:75`: the first and the last one, both included, counted from 1 as in
        the reports of `scan`, where `First` 40 is the call with number 40. `40:` is all from there,
        `:75` all up to there. In a fork its own first call is 1. Default: all.
    branch
        The id of the entry at which the branch ends. Default: the branch that Pi would resume,
        which ends with the last entry of the file.
    name
        Names the fixture. Default: the name of the output's file, else `recorded`.
    profile
        Of police, for a scenario.
    mask
        Whether words become pseudo-words; with `--no-mask` they stay.
    keep
        Words that stay when others are masked, with commas: `cat,sleep`. It may be repeated.
    seed
        Another number gives other pseudo-words; the same one always the same.
    output
        Write to this file instead of standard output.
    """
    from satyrn_engine._fixture_command import MakeRequest, run_make

    words = tuple(word for each in keep for word in each.split(",") if word)
    request = MakeRequest(
        str(session), kind, label, calls, branch, name, profile, mask, words, seed, output
    )
    return run_make(request, Console(file=sys.stderr))


@fixture_app.command
def check(*files: Path) -> int:
    """Check fixtures and scenarios: against their JSON schemas, and against the shipped guards.

    Exit code: 0 if all is as it must be, 1 if something is not, 2 if no file is named.

    Parameters
    ----------
    files
        Guard fixtures and scenarios; which of the two a file is shows in it.
    """
    from satyrn_engine._fixture_command import run_check

    return run_check(files, Console(file=sys.stdout), Console(file=sys.stderr))
