"""Bazel started by a program of this project, on another checkout and with its own output base."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO

from tools.nested.events import Events, read

# What the caller's own call of Bazel or its test sets, and what would change how another one works.
_DROPPED = ("BAZEL", "BUILD_", "RUNFILES_", "TEST_", "PYTHON", "XML_OUTPUT_FILE", "JAVA_RUNFILES")
# The variables of the launcher for a restricted network, which shares downloads by them.
_KEPT = ("BAZEL_NPM_CACHE", "BAZELISK_HOME", "BAZEL_REAL")
# Where Debian's Bazel notes its version; with it, modules come from tools/airgap.
_DEBIAN = Path("/usr/share/bazel/build-label.txt")
# A server that does one thing: little memory, as several may run at the same time, and no time
# for the compiler's second stage, which pays off after minutes.
_JVM = ("-Xmx1200m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# A line every so many seconds where somebody waits, for a log rather than a terminal's last line.
_PROGRESS = "--show_progress_rate_limit=10"

NO_BAZEL = """\
There is no Bazel to start here.
What to do: start this through tools/bazel, or put bazelisk on PATH."""


@dataclass(frozen=True)
class Outcome:
    """How one call of Bazel ended.

    Attributes:
        code: its exit code; 0 is success, 3 that a test failed.
        seconds: how long it took, the start of its server included.
        events: what it did, or None when it ended before there was anything to count.
        said: all that it printed.
    """

    code: int
    seconds: float
    events: Events | None
    said: str

    @property
    def counts(self) -> Events:
        """What it did.

        Raises:
            RuntimeError: with what Bazel said, when it failed.
        """
        if self.code or self.events is None:
            raise RuntimeError(f"Bazel ended with {self.code}:\n{self.said}")
        return self.events


class Checkout:
    """A checkout with an output base that nobody else uses.

    Use it with `with`: its server ends with the block.

    Attributes:
        workspace: the checkout.
        scratch: a folder for the output base and what belongs to it.
    """

    def __init__(
        self,
        workspace: Path,
        scratch: Path,
        *,
        bazel: str | None = None,
        overrides: Mapping[str, Path] | None = None,
        echo: TextIO | None = None,
    ) -> None:
        """Name what is run, and where.

        Args:
            workspace: the checkout.
            scratch: a folder for the output base and what belongs to it.
            bazel: the program; by default the one that this program was started by.
            overrides: repositories that are there already, by name.
            echo: gets what builds and tests say while they run, their progress too.
        """
        self.workspace = workspace
        self.scratch = scratch
        self._bazel = bazel or find_bazel()
        self._overrides = overrides or {}
        self._echo = echo
        self._jvm = _JVM
        self._calls = 0

    def run(self, command: str, *arguments: str) -> Outcome:
        """Run one command of Bazel on it, with options (`--...`) and targets in any order."""
        self._calls += 1
        options = [argument for argument in arguments if argument.startswith("--")]
        targets = [argument for argument in arguments if not argument.startswith("--")]
        self.scratch.mkdir(parents=True, exist_ok=True)
        file = self.scratch / f"events-{self._calls}.json"
        counted = command in ("build", "test")
        echo = self._echo if counted else None
        # An earlier Checkout may have used this folder.
        file.unlink(missing_ok=True)
        flags = [f"--build_event_json_file={file}"] if counted else []
        if command in ("build", "test", "info", "clean"):
            flags += ["--color=no", "--curses=no"]
            flags += [_PROGRESS if echo else "--noshow_progress"]
            flags += [f"--override_repository={k}={v}" for k, v in self._overrides.items()]
        started = time.monotonic()
        said = []
        with subprocess.Popen(
            [*self._program(), command, *options, *flags, "--", *targets],
            cwd=self.workspace,
            env=environment(os.environ, self.scratch),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process:
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    said.append(line)
                    if echo:
                        echo.write(line)
                        echo.flush()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        seconds = time.monotonic() - started
        try:
            events = read(file)
        except (OSError, ValueError):
            events = None
        return Outcome(process.returncode, seconds, events, "".join(said))

    def _program(self) -> list[str]:
        startup = [f"--output_user_root={self.scratch}/out", "--max_idle_secs=60"]
        startup += ["--nohome_rc", *(f"--host_jvm_args={flag}" for flag in self._jvm)]
        if _DEBIAN.exists():
            startup.insert(0, f"--bazelrc={self.workspace}/tools/airgap/airgap.bazelrc")
        return [self._bazel, *startup]

    def outputs(self) -> Path:
        """The folder of the outputs, bazel-out."""
        outcome = self.run("info", "output_path")
        lines = [line for line in outcome.said.splitlines() if line.startswith("/")]
        if outcome.code or not lines:
            raise RuntimeError(f"Bazel ended with {outcome.code}:\n{outcome.said}")
        return Path(lines[-1])

    def forget(self) -> None:
        """Delete all that was built, so that the next build starts from nothing.

        Unlike `bazel clean` it leaves the server what it knows of the packages, which only takes
        time to find out again.
        """
        for folder in self.outputs().iterdir():
            if folder.is_dir():
                remove(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.run("shutdown")


def remove(tree: Path) -> None:
    """Delete a folder that Bazel has made, in which some can't be written."""
    for folder, _, _ in os.walk(tree):
        Path(folder).chmod(0o700)
    shutil.rmtree(tree)


def environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """The caller's environment without what its own Bazel put there; `home` if it names none."""
    kept = {k: v for k, v in environ.items() if k in _KEPT or not k.startswith(_DROPPED)}
    return {"HOME": str(home), **kept}


def find_bazel() -> str:
    """The Bazel that this program was started by, or one on PATH.

    Raises:
        FileNotFoundError: with what to do, when there is none.
    """
    found = os.environ.get("BAZEL_REAL") or shutil.which("bazelisk") or shutil.which("bazel")
    if not found:
        raise FileNotFoundError(NO_BAZEL)
    return found
