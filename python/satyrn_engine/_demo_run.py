"""The demonstration itself: drive a real Pi into a loop and note what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satyrn_engine.testing import (
    Package,
    PiHome,
    PiProgram,
    RealPi,
    Reply,
    Request,
    ScriptedModel,
    Session,
    bash,
    say,
)
from satyrn_engine.testing.signals import HeldSignals

# What the guard promises: while five identical admitted calls are among the last twenty, the same
# call is refused.
ADMITTED = 5
_RETRIES = 2
_TELEMETRY = "loop_broken"


@dataclass(frozen=True)
class Ask:
    """A command that the model asks for, and the file to which it adds a line when it runs."""

    command: str
    file: str


_LOOP = Ask("echo tested >> runs.log", "runs.log")
_OTHER = Ask("echo 'moved on' >> notes.log", "notes.log")
_SCRIPT = (*[_LOOP] * (ADMITTED + _RETRIES), _OTHER)


@dataclass(frozen=True)
class Step:
    """One call and what came of it.

    Attributes:
        number: Its place, from 1.
        ask: What the model asked for.
        lines_before: Lines in the command's file before the call.
        lines_after: Lines in it when the model was told the result.
        told: What the model was told, as its next request carries it.
    """

    number: int
    ask: Ask
    lines_before: int
    lines_after: int
    told: str

    @property
    def ran(self) -> bool:
        """Whether the command ran, by its effect."""
        return self.lines_after > self.lines_before


@dataclass(frozen=True)
class Outcome:
    """A demonstration that came to its end.

    Attributes:
        package: The package that was installed.
        program: The Pi that ran.
        steps: The calls.
        telemetry: The data of the guard's entries in the session file.
        faults: A sentence for each thing that is not as the guard promises.
    """

    package: Package
    program: PiProgram
    steps: tuple[Step, ...]
    telemetry: tuple[Any, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Watcher:
    """Who is told how it goes on.

    Attributes:
        stage: Gets a few words on what is being done now.
        step: Gets each call as soon as its result is known.
    """

    stage: Callable[[str], None]
    step: Callable[[Step], None]


class _LoopingModel:
    """Asks for one thing after the other and notes what came of the last one."""

    def __init__(self, project: Path, watcher: Watcher) -> None:
        self.steps: list[Step] = []
        self._project = project
        self._watcher = watcher
        self._lines_before = 0

    def __call__(self, request: Request) -> Reply:
        if request.number > 1:
            self._note(request)
        if len(self.steps) == len(_SCRIPT):
            return say("I give up on the first command.")
        ask = _SCRIPT[len(self.steps)]
        self._lines_before = self._lines(ask)
        return bash(ask.command)

    def _note(self, request: Request) -> None:
        ask = _SCRIPT[len(self.steps)]
        told = request.tool_results[-1].text if request.tool_results else ""
        number = len(self.steps) + 1
        step = Step(number, ask, self._lines_before, self._lines(ask), told)
        self.steps.append(step)
        self._watcher.step(step)

    def _lines(self, ask: Ask) -> int:
        file = self._project / ask.file
        return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0


def run_demo(program: PiProgram, package: Package, watcher: Watcher) -> Outcome:
    """Install `package` into a Pi in a temporary home and let its model loop.

    Raises:
        PiError: Pi could not be driven.
    """
    # An interruption waits while the home is made and removed.
    with HeldSignals() as signals, PiHome(program) as home, signals.let_through():
        looping = _LoopingModel(home.project, watcher)
        with ScriptedModel(looping, max_requests=2 * len(_SCRIPT)) as model:
            home.use_model(model)
            pi = RealPi(home)
            watcher.stage("installing the package")
            pi.install(package.folder)
            watcher.stage("starting Pi")
            session = pi.run("Run the tests until they pass.").session
            watcher.stage("removing the temporary folder")
    steps = tuple(looping.steps)
    faults = find_faults(steps, session)
    if home.root.exists():
        faults.append(f"The temporary folder {home.root} is still there.")
    telemetry = tuple(entry.data for entry in session.custom(_TELEMETRY))
    return Outcome(package, program, steps, telemetry, tuple(faults))


def find_faults(steps: tuple[Step, ...], session: Session) -> list[str]:
    """Return a sentence for each thing that is not as the guard promises."""
    faults: list[str] = []
    if len(steps) != len(_SCRIPT):
        faults.append(f"{len(steps)} calls came to an end instead of {len(_SCRIPT)}.")
    for step in steps:
        due = step.number <= ADMITTED or step.ask != _LOOP
        if step.ran != due:
            faults.append(
                f"Call {step.number} should have {'run' if due else 'been refused'} and "
                f"{'ran' if step.ran else 'did not run'}."
            )
    results = [(result.is_error, result.text) for result in session.results]
    if results != [(not step.ran, step.told) for step in steps]:
        faults.append("The results in the session file are not those that the model was told.")
    telemetry = [entry.data for entry in session.custom(_TELEMETRY)]
    expected = [
        {"tool": "bash", "repeats": ADMITTED, "blockedSoFar": count}
        for count in range(1, _RETRIES + 1)
    ]
    if telemetry != expected:
        faults.append(f"The session file holds the telemetry {telemetry} instead of {expected}.")
    return faults
