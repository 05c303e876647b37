"""How the demonstration looks: rows on a terminal or in a pipe, or one JSON object."""

from __future__ import annotations

import json
import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from satyrn_engine._demo_run import Outcome, Step
from satyrn_engine.testing import Package, PiProgram

_WIDTH = 80
_COMMAND_WIDTH = 34
_CLEAR_LINE = "\r\x1b[K"
_COLOURS = {"bold": "1", "dim": "2", "red": "31", "green": "32"}


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Colour is for terminals that can show it, and for nobody who set `NO_COLOR`."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


@dataclass
class View:
    """Prints the demonstration for a person, each row as soon as it is known.

    Attributes:
        out: Where the text goes.
        err: Where the passing word on what is being done goes, when it is a terminal.
        colour: Whether to colour.
    """

    out: TextIO
    err: TextIO
    colour: bool
    _words: str = field(default="", init=False)

    def opening(self, package: Package, program: PiProgram) -> None:
        """Say what is about to be seen."""
        self._line(self._paint("bold", f"{package.name} {package.version} in Pi {program.version}"))
        self._paragraph(
            "A real Pi in a temporary folder with this package installed. Its model is a script "
            "on loopback that keeps asking for the same command; the command adds a line to a "
            "file. No account, no network."
        )
        self._line()
        head = f"{'call':>4}  {'the model asks for':<{_COMMAND_WIDTH}}  {'result':<7}  effect"
        self._line(self._paint("dim", head))

    def stage(self, words: str) -> None:
        """Show on a terminal what is being done, until the next line takes its place."""
        if self.err.isatty():
            self.err.write(f"{_CLEAR_LINE}  {words} …")
            self.err.flush()

    def step(self, step: Step) -> None:
        """Print a call; for a refused one also the words that the model was told."""
        verdict = self._paint("green", "ran".ljust(7)) if step.ran else ""
        verdict = verdict or self._paint("red", "refused")
        command = step.ask.command.ljust(_COMMAND_WIDTH)
        lines = f"{step.lines_after} line{'' if step.lines_after == 1 else 's'}"
        self._line(f"{step.number:>4}  {command}  {verdict}  {step.ask.file} has {lines}")
        if not step.ran:
            self._tell(step.told)

    def closing(self, outcome: Outcome, folder: Path, *, packs: bool) -> None:
        """Print the telemetry, the verdict, and how to install the package that was shown.

        Args:
            outcome: What happened.
            folder: Where the package is installed from.
            packs: Whether it is the one that the checkout packs.
        """
        self._line()
        self._line("In the session file:")
        for data in outcome.telemetry:
            self._line(f"  loop_broken  {json.dumps(data)}")
        self._line()
        if outcome.faults:
            self._line(self._paint("red", "This is not what the guard promises:"))
            for fault in outcome.faults:
                self._paragraph(fault, indent="  ")
            return
        self._paragraph(_summary(outcome))
        self._line()
        ways = "from this checkout or as a tarball" if packs else "from its folder"
        self._line(f"Into your own Pi, {ways}:")
        self._line(self._paint("bold", f"  pi install {shlex.quote(str(folder))}"))
        if packs:
            self._line(self._paint("bold", "  tools/bazel run //engine:package"))
            self._line("The second packs the tarball and prints the command that installs it.")

    def end(self) -> None:
        """Take the passing word away."""
        if self.err.isatty():
            self.err.write(_CLEAR_LINE)
            self.err.flush()

    def _tell(self, told: str) -> None:
        words = "the same words" if told == self._words else f"“{told}”"
        self._words = told
        self._paragraph(words, indent=" " * 6 + self._paint("red", "│") + " ", indent_width=8)

    def _paragraph(self, text: str, indent: str = "", indent_width: int | None = None) -> None:
        width = _WIDTH - (len(indent) if indent_width is None else indent_width)
        for line in textwrap.wrap(text, width):
            self._line(indent + line)

    def _line(self, text: str = "") -> None:
        self.end()
        print(text, file=self.out, flush=True)

    def _paint(self, colour: str, text: str) -> str:
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colour else text


def as_json(outcome: Outcome) -> str:
    """Return the outcome as one JSON object.

    Its members: `engine`, `pi`, `node` (versions), `calls` (`number`, `tool`, `command`, `ran`,
    `told`, `file`, `lines`), `telemetry`, and `faults`, which is empty when the guard held.
    """
    calls: list[dict[str, Any]] = [
        {
            "number": step.number,
            "tool": "bash",
            "command": step.ask.command,
            "ran": step.ran,
            "told": step.told,
            "file": step.ask.file,
            "lines": step.lines_after,
        }
        for step in outcome.steps
    ]
    value = {
        "engine": outcome.package.version,
        "pi": outcome.program.version,
        "node": outcome.program.node_version,
        "calls": calls,
        "telemetry": outcome.telemetry,
        "faults": outcome.faults,
    }
    return json.dumps(value, indent=2, ensure_ascii=False)


def _summary(outcome: Outcome) -> str:
    first = outcome.steps[0].ask
    same = [step for step in outcome.steps if step.ask == first]
    others = len(outcome.steps) - len(same)
    ran = sum(step.ran for step in same)
    went_through = "the different call" if others == 1 else f"all {others} different calls"
    return (
        f"The guard held: of {len(same)} identical calls {ran} ran and {len(same) - ran} were "
        f"refused; {went_through} went through. The temporary folder is gone."
    )


def install_folder(package: Package, environ: Mapping[str, str]) -> Path:
    """Return the folder to install from: the checkout's when Bazel says where that is."""
    workspace = environ.get("BUILD_WORKSPACE_DIRECTORY")
    if workspace:
        folder = Path(workspace) / "engine"
        if (folder / "package.json").is_file():
            return folder
    return package.folder
