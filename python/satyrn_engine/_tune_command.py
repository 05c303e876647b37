"""The command `tune`: joins the sweep and its rendering."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from satyrn_engine import _tune_show
from satyrn_engine._interruption import Interruption
from satyrn_engine._labels import read_labels
from satyrn_engine._options import default_jobs
from satyrn_engine._output import check_output, open_output, text_console
from satyrn_engine._sources import default_folder
from satyrn_engine._tune import Found, Sweep, base_settings
from satyrn_engine._variants import Variant, parse_keys
from satyrn_engine._workforce import check_workforce
from satyrn_engine.tuning import TuneReport


@dataclass(frozen=True, slots=True)
class TuneRequest:
    """What the user asked for; see `cli.tune`."""

    paths: tuple[str, ...]
    labels: Path
    key: tuple[str, ...]
    profile: str | None
    config: Path | None
    grid: bool
    format: str
    output: Path | None
    html: Path | None
    jobs: int | None


def run_tune(request: TuneRequest, err: Console) -> int:
    """Sweep, print, and return the exit code.

    Raises:
        SatyrnError: if the request cannot be carried out as it is.
    """
    _check(request)
    labels = read_labels(request.labels)
    base = base_settings(request.profile, request.config)
    keys = parse_keys(request.key) if request.key else None
    sweep = Sweep(base, keys, grid=request.grid)
    paths = list(request.paths) or [str(default_folder())]
    interrupted = False
    with open_output(request.output) as file:
        watch = _Watch(err)
        try:
            with Interruption() as interruption, watch:
                for _ in sweep.run(paths, labels, request.jobs or default_jobs(), watch.begin):
                    interruption.check()
        except KeyboardInterrupt:
            interrupted = True
        _render(request.format, sweep.report, file)
    if request.html is not None:
        _write_page(request.html, sweep.report)
    if interrupted:
        err.print("Interrupted: these are the settings that were tried.", style="yellow")
        return 130
    if request.format != "table":
        for sentence in _tune_show.sentences(sweep.report)[1:]:
            err.print(sentence, highlight=False, markup=False, soft_wrap=True)
    return 1 if sweep.report.skipped or sweep.report.lost_labels else 0


def _check(request: TuneRequest) -> None:
    check_workforce(request.jobs, None, request.paths)
    inputs: list[str | Path] = [*request.paths, request.labels]
    if request.config is not None:
        inputs.append(request.config)
    for option, file in (("--output", request.output), ("--html", request.html)):
        check_output(option, file, inputs)


def _render(form: str, report: TuneReport, file: IO[bytes]) -> None:
    if form == "json":
        _tune_show.write_json(report, file)
    elif form == "csv":
        _tune_show.write_csv(report, file)
    else:
        with text_console(file) as console:
            _tune_show.show(report, console)


def _write_page(path: Path, report: TuneReport) -> None:
    # Plots are only drawn when they are asked for.
    from satyrn_engine._tune_page import page

    with open_output(path) as file:
        file.write(page(report).encode())


class _Watch:
    """The progress bar of a sweep."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.fields[name]}"),
            BarColumn(),
            TextColumn("{task.completed:,} of {task.total:,} files"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=0, name="")

    def __enter__(self) -> None:
        self._progress.__enter__()

    def __exit__(self, *reason: object) -> None:
        self._progress.stop()

    def begin(self, variant: Variant, variants: int, files: int) -> Callable[[Found], None]:
        """Show which variant is tried; return what counts the files of it."""
        self._progress.update(self._task, total=variants * files, name=variant.name)
        return self._done

    def _done(self, _: Found) -> None:
        self._progress.update(self._task, advance=1)
