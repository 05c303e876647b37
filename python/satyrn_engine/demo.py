"""See the guard at work: a real Pi, a model that loops, what ran and what was refused.

Run it as `tools/bazel run //engine:demo`. It needs no account and no network and leaves nothing
behind. Exit codes: 0, the guard did what it promises; 1, it did not, or Pi could not be driven; 2,
the command line is wrong; 130, interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from satyrn_engine._demo_run import Outcome, Watcher, run_demo
from satyrn_engine._demo_view import View, as_json, install_folder, wants_colour
from satyrn_engine.testing import Package, PackageError, PiError, find_pi, read_package

PACKAGE_VARIABLE = "SATYRN_ENGINE_DIR"
"""Names the folder of the engine package when `--package` does not."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration and return the exit code."""
    options = _parser().parse_args(arguments)
    view = View(sys.stdout, sys.stderr, wants_colour(sys.stdout, os.environ))
    try:
        with _signals_interrupt():
            package = read_package(_package_folder(options.package, os.environ))
            outcome = _demonstrate(package, view, as_rows=not options.json)
    except PiError as error:
        view.end()
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        view.end()
        print("demo: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader has seen enough; keep Python from complaining about the rest at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return _report(outcome, view, as_rows=not options.json, named=options.package is not None)


def _demonstrate(package: Package, view: View, *, as_rows: bool) -> Outcome:
    program = find_pi()
    if as_rows:
        view.opening(package, program)
    watcher = Watcher(stage=view.stage, step=view.step if as_rows else lambda _: None)
    return run_demo(program, package, watcher)


def _report(outcome: Outcome, view: View, *, as_rows: bool, named: bool) -> int:
    view.end()
    with contextlib.suppress(BrokenPipeError):
        if as_rows and named:
            view.closing(outcome, outcome.package.folder, packs=False)
        elif as_rows:
            view.closing(outcome, install_folder(outcome.package, os.environ), packs=True)
        else:
            print(as_json(outcome))
    if outcome.faults:
        print(f"demo: the guard broke its promise: {outcome.faults[0]}", file=sys.stderr)
        return 1
    return 0


def _package_folder(named: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the folder of the package to show.

    What a person names starts where they are, which is not where Bazel runs the program.
    """
    if named is not None:
        folder = Path(environ.get("BUILD_WORKING_DIRECTORY", "."), named)
        if not folder.is_dir():
            raise PackageError(
                f"there is no folder {folder}: name the folder of a Pi package with --package, "
                "or leave it out"
            )
        return folder
    built = environ.get(PACKAGE_VARIABLE)
    if not built:
        raise PackageError(
            "no package to show: run this as `tools/bazel run //engine:demo`, "
            "or name the package's folder with --package"
        )
    return Path(built)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="demo",
        description="Show the loop guard at work in a real Pi, without an account or a network.",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    parser.add_argument(
        "--package",
        type=Path,
        metavar="FOLDER",
        help=f"the package to show (default: ${PACKAGE_VARIABLE})",
    )
    return parser


@contextlib.contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let each signal that asks for an end take the way that also removes the folder.

    SIGINT too, which a shell without job control hands down as ignored.
    """
    asked = False

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        # A second one must not cut the cleaning up short.
        if not asked:
            asked = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    sys.exit(main())
