"""A real Pi in a temporary home: install packages, run prompts, read what it left."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from satyrn_engine.testing.errors import PiError, PiFailedError, PiTimeoutError
from satyrn_engine.testing.home import PROVIDER, PiHome
from satyrn_engine.testing.jsonl import JsonObject, parse_jsonl
from satyrn_engine.testing.model import Script, ScriptedModel
from satyrn_engine.testing.process import run
from satyrn_engine.testing.program import PiProgram, find_pi
from satyrn_engine.testing.rpc import RpcSession
from satyrn_engine.testing.session import Session, read_session

RUN_SECONDS = 60.0
"""The default deadline of a run; one takes about a second."""

# Pi's change log: agent_settled came with 0.80.4.
_FIRST_TO_SETTLE = (0, 80, 4)
_TAIL = 4000


@dataclass(frozen=True)
class PiRun:
    """A Pi that ran to its end.

    Attributes:
        command: The command line.
        exit_code: As `subprocess` gives it: negative for a signal.
        stdout: Standard output.
        stderr: Standard error.
        sessions: The session files that this run wrote, parsed.
        model_report: What the scripted model saw, as text.
    """

    command: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    sessions: tuple[Session, ...] = ()
    model_report: str = ""

    @property
    def session(self) -> Session:
        """The one session that the run wrote.

        Raises:
            PiFailedError: It wrote none, or several.
        """
        if len(self.sessions) != 1:
            msg = f"the run wrote {len(self.sessions)} sessions instead of one\n{self.explain()}"
            raise PiFailedError(msg)
        return self.sessions[0]

    @property
    def events(self) -> tuple[JsonObject, ...]:
        """The events on standard output, for a run with `mode="json"`."""
        return parse_jsonl(self.stdout.encode())[0]

    def explain(self) -> str:
        """Return the run as text for an error message: exit code, outputs, last requests."""
        return "\n".join(
            (
                f"$ {' '.join(self.command)}",
                f"exit code {self.exit_code}",
                f"standard output: {self.stdout[-_TAIL:]}",
                f"standard error: {self.stderr[-_TAIL:]}",
                self.model_report,
            )
        )


@dataclass(frozen=True)
class InstalledPackage:
    """A package as `pi list` shows it.

    Attributes:
        source: What the settings name.
        folder: Where it lies.
    """

    source: str
    folder: Path


class RealPi:
    """Pi, bound to a home. All its waits are bounded, and a timeout ends all that it started."""

    def __init__(self, home: PiHome) -> None:
        """Bind the home's Pi to it."""
        self.home = home

    def install(self, source: Path | str, *, timeout: float = RUN_SECONDS) -> PiRun:
        """Run `pi install`; see `source_of_tarball` for a tarball.

        Raises:
            PiError: It failed, or took too long.
        """
        return self.command("install", str(source), timeout=timeout)

    def remove(self, source: Path | str, *, timeout: float = RUN_SECONDS) -> PiRun:
        """Run `pi remove`; raises as `install` does."""
        return self.command("remove", str(source), timeout=timeout)

    def list(self, *, timeout: float = RUN_SECONDS) -> tuple[InstalledPackage, ...]:
        """Return what `pi list` shows; raises as `install` does."""
        lines = self.command("list", timeout=timeout).stdout.splitlines()
        # Each source is followed by its folder, indented deeper by two.
        return tuple(
            InstalledPackage(source.strip(), Path(folder.strip()))
            for source, folder in itertools.pairwise(lines)
            if source.startswith("  ") and folder.startswith("    ")
        )

    def run(
        self,
        prompt: str,
        *arguments: str,
        mode: Literal["text", "json"] = "text",
        timeout: float = RUN_SECONDS,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> PiRun:
        """Run one prompt to its end with the home's scripted model.

        Args:
            prompt: What the user says.
            arguments: More of Pi's options.
            mode: `text` prints the last answer, `json` the events.
            timeout: Seconds until the run is ended.
            check: Raise when Pi ends with another exit code than 0 or the script had a fault.
            env: Variables to add to the home's.

        Raises:
            PiFailedError: See `check`.
            PiTimeoutError: The deadline passed.
        """
        options = (*self._model_options(), "--mode", mode, *arguments)
        return self.command(*options, "-p", prompt, timeout=timeout, check=check, env=env)

    def rpc(self, *arguments: str, env: Mapping[str, str] | None = None) -> RpcSession:
        """Start `pi --mode rpc` with the home's scripted model; use it in a `with` block."""
        options = (*self._model_options(), "--mode", "rpc", *arguments)
        return RpcSession(
            (*self.home.program.command, *options),
            cwd=self.home.project,
            env={**self.home.environment(), **(env or {})},
            settles=self.home.program.release >= _FIRST_TO_SETTLE,
            report=self._model_report,
        )

    def sessions(self) -> tuple[Session, ...]:
        """Return all sessions in the home, oldest first."""
        return tuple(map(read_session, self.home.session_files()))

    def command(
        self,
        *arguments: str,
        timeout: float = RUN_SECONDS,
        check: bool = True,
        env: Mapping[str, str] | None = None,
    ) -> PiRun:
        """Run Pi with any arguments; parameters and errors as for `run`."""
        before = set(self.home.session_files())
        command = (*self.home.program.command, *arguments)
        environment = {**self.home.environment(), **(env or {})}
        done = run(command, cwd=self.home.project, env=environment, timeout=timeout)
        written = [path for path in self.home.session_files() if path not in before]
        result = PiRun(
            command=command,
            exit_code=done.exit_code,
            stdout=done.stdout.decode("utf-8", "replace"),
            stderr=done.stderr.decode("utf-8", "replace"),
            sessions=tuple(map(read_session, written)) if not done.timed_out else (),
            model_report=self._model_report(),
        )
        if done.timed_out:
            msg = f"Pi was ended after {timeout:g} s\n{result.explain()}"
            raise PiTimeoutError(msg)
        if check and (result.exit_code != 0 or (self.home.model and self.home.model.errors)):
            msg = f"Pi or the scripted model failed\n{result.explain()}"
            raise PiFailedError(msg)
        return result

    def _model_options(self) -> tuple[str, ...]:
        model = self.home.model
        if model is None:
            msg = "there is no model: call PiHome.use_model with a ScriptedModel first"
            raise PiError(msg)
        return ("--provider", PROVIDER, "--model", model.name)

    def _model_report(self) -> str:
        return self.home.model.report() if self.home.model else ""


def source_of_tarball(name: str, tarball: Path) -> str:
    """Return the source by which Pi installs a packed package.

    A bare `pi install x.tgz` says "Installed" and then fails at load; this form goes through npm.
    """
    return f"npm:{name}@file:{tarball.absolute()}"


@contextmanager
def real_pi(
    script: Script,
    *,
    install: Path | str | None = None,
    program: PiProgram | None = None,
    final: str | None = "Done.",
) -> Iterator[tuple[RealPi, ScriptedModel]]:
    """Give a real Pi, in a home of its own, whose model is `script`.

    >>> # with real_pi([bash("ls"), say("Done.")], install=folder) as (pi, model):
    ... #     pi.run("List the files.").session.results

    Args:
        script: What the model says, see `ScriptedModel`.
        install: A package to install first: a folder of the caller's, or a source as Pi takes it.
        program: The Pi to drive; by default what `find_pi` finds.
        final: What the model says when the script is used up, see `ScriptedModel`.

    Raises:
        PiError: There is no Pi, or the installation failed.
    """
    with PiHome(program or find_pi()) as home, ScriptedModel(script, final=final) as model:
        home.use_model(model)
        pi = RealPi(home)
        if install is not None:
            pi.install(_from_here(install))
        yield pi, model


def _from_here(source: Path | str) -> Path | str:
    """Return a folder of the caller's as Pi finds it, which works in another one."""
    path = Path(source)
    return path.absolute() if path.exists() else source
