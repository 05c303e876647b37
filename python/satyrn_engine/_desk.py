"""Fixture: asks the shipped guards, in a Node process, what they do with fixtures and scenarios."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal, Self

import msgspec

from satyrn_engine._children import node_command, node_environment
from satyrn_engine.errors import WorkerDiedError

#: A file that is larger is no fixture: the replay would refuse it.
MOST_BYTES = 64 << 20


class Seen(msgspec.Struct, frozen=True, rename="camel"):
    """What the engine did with the calls of a guard fixture.

    Attributes:
        calls: how many there are.
        blocked: how many were refused.
        first_block: the first refused one, 1 for the first call; None if none was.
        entries: how many `loop_broken` entries were recorded.
    """

    calls: int
    blocked: int
    first_block: int | None
    entries: int


class Sighting(msgspec.Struct, frozen=True):
    """The first detection in a scenario.

    Attributes:
        outcome: `caught`, `late` or `missed` of a loop, `left alone` or `false alarm` otherwise.
        event: the number of the event, 1 for the first; None if nothing was detected.
        kind: the guard's name for what it found.
        how: what was kept from happening: `block`, `abort` or `terminate`.
    """

    outcome: str
    event: int | None
    kind: str | None
    how: str | None


class Played(msgspec.Struct, frozen=True, rename="camel"):
    """What one guard did with a scenario.

    Attributes:
        blocked: how many calls were refused.
        first_block: the first refused one, 1 for the first that reached the hook.
        any: the first detection.
        enforced: the first one by which something was kept from happening.
        problems: what is not as the scenario expects it, or must not happen with any guard.
    """

    blocked: int
    first_block: int | None
    any: Sighting
    enforced: Sighting
    problems: list[str]


class _Answer(msgspec.Struct):
    inputs: list[dict[str, Any]] = []
    names: dict[str, list[str]] = {}
    malformed: list[str] | None = None
    observation: Seen | None = None
    problems: list[str] = []
    played: dict[str, Played] = {}
    complaint: str | None = None
    settings: dict[str, Any] = {}
    error: str | None = None


class Desk:
    """A Node process that answers one question after the other."""

    def __init__(self) -> None:
        """Start it.

        Raises:
            NodeError: if there is no Node that can run it.
        """
        self._folder = tempfile.TemporaryDirectory(prefix="satyrn-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            node_command("desk.mjs"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self._folder.name,
            env=node_environment(self._folder.name),
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def accept(
        self, tools: Sequence[Any], calls: Sequence[tuple[str, Any]]
    ) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
        """Return the arguments of calls as the hook was given them, and tools' argument names.

        Args:
            tools: that the session declared.
            calls: tool and arguments of calls that Pi accepted.
        """
        answer = self._ask({"accept": {"tools": tools, "calls": calls}})
        return answer.inputs, answer.names

    def fixture(self, text: str) -> Seen | list[str]:
        """Return what the engine does with a fixture's calls; or what is wrong with the text."""
        answer = self._ask({"fixture": text})
        return answer.observation or answer.malformed or answer.problems

    def fixture_problems(self, text: str) -> list[str]:
        """Return what is wrong with a fixture, or not as it expects."""
        answer = self._ask({"fixture": text})
        return answer.malformed or answer.problems

    def scenario(
        self, text: str, profile: Literal["classic", "evidence"] | None = None
    ) -> dict[str, Played] | list[str]:
        """Return what each guard does with a scenario; or what is wrong with the text.

        Args:
            text: of the scenario.
            profile: of police, whatever the scenario says.
        """
        more = {} if profile is None else {"profile": profile}
        answer = self._ask({"scenario": text, **more})
        return answer.played if answer.malformed is None else answer.malformed

    def settings(self, given: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
        """Return what police take settings for today, and what they say is wrong with them."""
        answer = self._ask({"settings": given})
        return answer.settings, answer.complaint

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def _ask(self, request: dict[str, Any]) -> _Answer:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = b""
        # What the process is sent is ASCII, in which half a character can be written, too.
        with suppress(OSError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            code = self._process.wait()
            raise WorkerDiedError(f"the process that runs the guards ended with {code}")
        # Half a character is no UTF-8, but may be written in JSON.
        answer = msgspec.convert(json.loads(line), type=_Answer)
        if answer.error is not None:
            raise WorkerDiedError(f"the guards failed ({answer.error})")
        return answer
