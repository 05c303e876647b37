"""The command `satyrn-engine`."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console

from satyrn_engine._fixture_cli import fixture_app
from satyrn_engine._sources import STDIN
from satyrn_engine._version import VERSION
from satyrn_engine.errors import SatyrnError

#: Exit codes of `scan`: everything was read; something was skipped; the command line was wrong;
#: Ctrl-C; nobody reads on what is printed (as a shell tells of a program that ends of it).
OK, SKIPPED, USAGE, INTERRUPTED, CLOSED = 0, 1, 2, 130, 141

app = App(
    name="satyrn-engine",
    help="How often do my models loop, what would the guards have done, and what did it cost?",
    version=VERSION,
    help_format="markdown",
)

app.register_install_completion_command(help="Install completion for your shell.")

GuardName = Literal["engine", "police"]
Format = Literal["table", "json", "jsonl", "csv", "parquet"]


@app.command
def scan(
    # Always text: an address is no path. That it may be a path makes shells complete files.
    *paths: str | Path,
    guard: Annotated[tuple[GuardName, ...], Parameter(consume_multiple=False, negative="")] = (
        "engine",
    ),
    config: Path | None = None,
    format: Format = "table",  # noqa: A002
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    html: Path | None = None,
    jobs: Annotated[int | None, Parameter(alias="-j")] = None,
    cache: Path | None = None,
    cluster: str | None = None,
) -> int:
    """Replay recorded Pi sessions through the shipped guards, and report what they would have done.

    Exit code: 0 if everything was read, 1 if something was skipped (it is named), 2 if the command
    line was wrong, 130 after Ctrl-C, which prints what there is by then.

    Parameters
    ----------
    paths
        Session files, folders, globs, addresses such as `s3://bucket/sessions`, or `-` for standard
        input; also `--mode json` streams, and gzip or Zstandard. Default: Pi's own session folder.
    guard
        The guard to replay; repeat it for both, which are then loaded into one Pi in that order.
    config
        A `loop-police.json` for police. Its hooks are not run.
    format
        What is printed: a table for people, or the findings for programs.
    output
        Write to this file instead of standard output.
    html
        Also write a page with plots, a timeline of each looping session, and the table.
    jobs
        Processes that run the guards. Default: one for each core.
    cache
        A folder that keeps the findings, so that sessions that have not changed are not read again.
    cluster
        The address of a Dask scheduler, whose workers then scan; or `local`.
    """
    # What the other commands do not need is loaded here.
    from satyrn_engine._scan_command import ScanRequest, run_scan

    return run_scan(
        ScanRequest(
            tuple(map(str, paths)),
            *(guard, config, format, output, html, jobs, cache, cluster),
        ),
        _consoles()[1],
    )


@app.command
def tune(
    *sessions: str | Path,
    labels: Path,
    key: Annotated[tuple[str, ...], Parameter(consume_multiple=False, negative="")] = (),
    profile: Literal["classic", "evidence"] | None = None,
    config: Path | None = None,
    grid: Annotated[bool, Parameter(negative="")] = False,
    format: Literal["table", "json", "csv"] = "table",  # noqa: A002
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    html: Path | None = None,
    jobs: Annotated[int | None, Parameter(alias="-j")] = None,
) -> int:
    """Try settings of police on sessions whose truth you know, and show the trade-off.

    Exit code: 0 if everything was read, 1 if something was skipped or a label has no session (it
    is named), 2 if the command line or a label was wrong, 130 after Ctrl-C, which prints what
    there is by then.

    Parameters
    ----------
    sessions
        Session files, folders, globs, or addresses. Default: Pi's own session folder.
    labels
        A table with the columns `session` and `label`, separated by tabs or commas: the session's
        id, its file's name or the end of its path, and `loop` or `legitimate`.
    key
        A setting and the values to try, as `STRIDE=25,100`; repeat it for more. Default: a few
        values for the chief settings of the profile, and the other profile.
    profile
        Of police. Default: that of `--config`, else `classic`.
    config
        A `loop-police.json` to begin with. Its hooks are not run.
    grid
        Try every combination of the values, and not one setting at a time.
    format
        What is printed: a table for people, or the findings for programs.
    output
        Write to this file instead of standard output.
    html
        Also write a page with the table and a plot.
    jobs
        Processes that run the guards. Default: one for each core.
    """
    from satyrn_engine._tune_command import TuneRequest, run_tune

    return run_tune(
        TuneRequest(
            tuple(map(str, sessions)),
            *(labels, key, profile, config, grid, format, output, html, jobs),
        ),
        _consoles()[1],
    )


@app.command
def check(contract: Path, *, repo: Path) -> int:
    """Check a contract, as the Pi command `/implement` does.

    A contract is a YAML mapping with the texts `id` and `task`. Exit code: 0 OK, 2 USAGE,
    3 CONTRACT_UNREADABLE, 4 CONTRACT_INVALID_YAML, 5 CONTRACT_MISSING_FIELD, 6 REPO_UNAVAILABLE.

    Parameters
    ----------
    contract
        The contract's file.
    repo
        The folder that it is about.
    """
    from satyrn_engine._contract import check_contract

    result = check_contract(repo, contract)
    out, err = _consoles()
    console = out if result.ok else err
    text = f"{result.code.name} {result.message}"
    console.print(text, highlight=False, markup=False, soft_wrap=True)
    return result.code


@app.command
def protocol() -> int:
    """Answer one JSON request on standard input: for the Pi extension, which asks for a check.

    Exit code: that of `check`, or 7 INVALID_REQUEST.
    """
    from satyrn_engine._protocol import answer

    return answer(sys.stdin.buffer, sys.stdout.buffer)


app.command(fixture_app)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    out, err = _consoles()
    given = sys.argv[1:] if arguments is None else arguments
    try:
        result = app(
            # A lone hyphen would be taken for an option.
            [STDIN if argument == "-" else argument for argument in given],
            console=out,
            error_console=err,
            exit_on_error=False,
            print_error=True,
            result_action="return_value",
        )
    except CycloptsError:
        return USAGE
    except SatyrnError as error:
        err.print(f"satyrn-engine: {error}", style="red", highlight=False, markup=False)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _write_no_more()
        return CLOSED
    except OSError as error:
        err.print(f"satyrn-engine: {error}", style="red", highlight=False, markup=False)
        _write_no_more()
        return USAGE
    return result if isinstance(result, int) else OK


def _write_no_more() -> None:
    """Keep the interpreter from writing the rest, as it ends, to where nothing can be written."""
    with open(os.devnull, "wb") as nowhere, suppress(OSError, ValueError):  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _consoles() -> tuple[Console, Console]:
    return Console(file=sys.stdout), Console(file=sys.stderr)
