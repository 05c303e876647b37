"""The command `scan`: joins reading, replay, summary and rendering."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from satyrn_engine import _files, _terminal
from satyrn_engine._cache import Cache
from satyrn_engine._interruption import Interruption
from satyrn_engine._options import resolve_guards
from satyrn_engine._output import check_output, open_output, text_console
from satyrn_engine._pool import scan_all
from satyrn_engine._sources import Source, default_folder, find_sources
from satyrn_engine._summary import Summary
from satyrn_engine._workforce import check_workforce, new_workforce
from satyrn_engine.errors import ConfigError, SourceError
from satyrn_engine.reports import SessionReport, Skipped


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What the user asked for; see `cli.scan`."""

    paths: tuple[str, ...]
    guard: tuple[str, ...]
    config: Path | None
    format: str
    output: Path | None
    html: Path | None
    jobs: int | None
    cache: Path | None
    cluster: str | None


def run_scan(request: ScanRequest, err: Console) -> int:
    """Scan, print, and return the exit code.

    Raises:
        SatyrnError: if the request cannot be carried out as it is.
    """
    _check(request)
    guards = resolve_guards(request.guard, request.config)
    if guards.police_config is not None:
        _check_settings(guards.police_config, str(request.config))
    cache = None if request.cache is None else Cache(request.cache, guards)
    summary = Summary()
    kept: list[SessionReport | Skipped] = []
    interrupted = False
    with (
        tempfile.TemporaryDirectory(prefix="satyrn-") as spool,
        open_output(request.output) as file,
    ):
        paths = list(request.paths) or [_default()]
        watch = _Watch(err)
        try:
            with Interruption() as interruption, watch:
                sources = watch.count(find_sources(paths, Path(spool)))
                workforce = new_workforce(guards, request.jobs, request.cluster)
                for found in scan_all(sources, workforce, cache):
                    interruption.check()
                    watch.done(found)
                    summary.add(found)
                    if request.format == "jsonl":
                        _files.write_line(found, file)
                        file.flush()
                    if (
                        request.format != "jsonl"
                        or request.html is not None
                        or isinstance(found, Skipped)
                        or found.broken
                    ):
                        kept.append(found)
        except KeyboardInterrupt:
            interrupted = True
        kept.sort(key=lambda each: (each.source, getattr(each, "session", "")))
        _render(request, kept, summary, file)
    if request.html is not None:
        _write_page(request.html, kept, summary)
    _tell(request, kept, interrupted=interrupted, err=err)
    if interrupted:
        return 130
    return 0 if summary.complete else 1


def _check(request: ScanRequest) -> None:
    check_workforce(request.jobs, request.cluster, request.paths)
    if request.format == "parquet" and request.output is None and sys.stdout.isatty():
        raise ConfigError("Parquet is not for the terminal; add --output FILE")
    for option, file in (("--output", request.output), ("--html", request.html)):
        check_output(option, file, [*request.paths, *([request.config] if request.config else [])])


def _check_settings(text: str, name: str) -> None:
    """Refuse settings that police would set aside: the scan would not be the one that was meant."""
    from satyrn_engine._desk import Desk
    from satyrn_engine._variants import settled

    with Desk() as desk:
        settled(json.loads(text), desk, name)


def _default() -> str:
    folder = default_folder()
    if not folder.is_dir():
        raise ConfigError(f"{folder}: Pi's session folder does not exist; name a path to scan")
    return str(folder)


def _render(
    request: ScanRequest, found: list[SessionReport | Skipped], summary: Summary, file: IO[bytes]
) -> None:
    match request.format:
        case "json":
            _files.write_json(found, summary, file)
        case "csv" | "parquet":
            from satyrn_engine import _tables

            write = _tables.write_csv if request.format == "csv" else _tables.write_parquet
            write(found, file)
        case "table":
            with text_console(file) as console:
                _terminal.show(found, summary, console)
        case _:
            pass


def _write_page(path: Path, found: list[SessionReport | Skipped], summary: Summary) -> None:
    # Plots are only drawn when they are asked for.
    from satyrn_engine._page import page

    html = page(found, summary)
    with open_output(path) as file:
        file.write(html.encode())


def _tell(
    request: ScanRequest, found: list[SessionReport | Skipped], *, interrupted: bool, err: Console
) -> None:
    """Say on standard error what the output does not hold."""
    if interrupted:
        err.print("Interrupted: these are the sessions that were done.", style="yellow")
    if request.format != "table":
        for line in _terminal.skipped_lines(found):
            err.print(f"skipped {line}", highlight=False, markup=False, soft_wrap=True)


class _Watch:
    """The progress bar of a scan that takes long enough to need one."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.completed:,} of {task.fields[found]} files"),
            BarColumn(),
            TextColumn("{task.fields[refused]:,} refused calls"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=None, found="…", refused=0)
        self._found = 0
        self._refused = 0

    def __enter__(self) -> None:
        self._progress.__enter__()

    def __exit__(self, *reason: object) -> None:
        self._progress.stop()

    def count(self, sources: Iterator[Source | SourceError]) -> Iterator[Source | SourceError]:
        """Count sources as they are found."""
        for source in sources:
            self._found += 1
            yield source
        self._progress.update(self._task, total=self._found)

    def done(self, found: SessionReport | Skipped) -> None:
        """Count what is done."""
        if isinstance(found, SessionReport):
            self._refused += found.refusals
        shown = f"{self._found:,}"
        self._progress.update(self._task, advance=1, refused=self._refused, found=shown)
