"""A Pi in RPC mode: send commands, wait for responses and events, always with a deadline."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

from satyrn_engine.testing.errors import PiFailedError, PiTimeoutError
from satyrn_engine.testing.jsonl import JsonObject, LineCutter, parse_line
from satyrn_engine.testing.process import end, start

EVENT_SECONDS = 30.0
"""The default deadline of a wait."""

_EXIT_SECONDS = 10.0
# What Pi said on standard error is awaited for so long once its standard output has ended: longer
# than a busy machine takes to hand it over, while a child of Pi's may keep the pipe open for good.
_LAST_WORDS_SECONDS = 2.0
_READ_BYTES = 65536
_POLL_SECONDS = 0.05

Wanted: TypeAlias = str | Callable[[JsonObject], bool]
"""A record's type, or a predicate over the record."""


class RpcSession:
    """A running `pi --mode rpc`; leave its `with` block to end it.

    Args:
        command: The command line.
        cwd: Where it runs.
        env: Its whole environment.
        settles: Whether this Pi says `agent_settled`, as it does from 0.80.4 on. For an older one
            `prompt` waits for `agent_end` and then for a state that is not streaming.
        report: Gives more text for error messages.

    Attributes:
        broken_lines: Lines on standard output that were no JSON object.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        settles: bool = True,
        report: Callable[[], str] = str,
    ) -> None:
        """Start Pi."""
        self.broken_lines = 0
        self._settles = settles
        self._report = report
        self._records: list[JsonObject] = []
        self._stderr: list[bytes] = []
        self._ended = False
        self._changed = threading.Condition()
        self._next_id = 0
        self._process = start(command, cwd=cwd, env=env, stdin=subprocess.PIPE)
        self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
        self._stdout_reader = threading.Thread(target=self._read_stdout, daemon=True)
        # In this order: the end of standard output waits for the other reader.
        self._stderr_reader.start()
        self._stdout_reader.start()

    def __enter__(self) -> Self:
        """Return the session, which runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End Pi."""
        self.close()

    @property
    def events(self) -> tuple[JsonObject, ...]:
        """All records from Pi so far, responses too."""
        with self._changed:
            return tuple(self._records)

    def mark(self) -> int:
        """Return the present end of `events`, for `wait_for(..., since=mark)`."""
        with self._changed:
            return len(self._records)

    def send(self, command: str, **fields: Any) -> str:  # noqa: ANN401 - becomes JSON
        """Send a command and return the id that its response will carry.

        Raises:
            PiFailedError: Pi is gone.
        """
        self._next_id += 1
        request_id = f"request-{self._next_id}"
        record = {"id": request_id, "type": command, **fields}
        pipe = self._process.stdin
        try:
            if pipe is None:
                raise BrokenPipeError
            pipe.write(json.dumps(record).encode() + b"\n")
            pipe.flush()
        except (OSError, ValueError) as error:
            msg = f"Pi took no more commands ({command})\n{self.explain()}"
            raise PiFailedError(msg) from error
        return request_id

    def wait_for(
        self, wanted: Wanted, *, since: int = 0, timeout: float = EVENT_SECONDS
    ) -> JsonObject:
        """Return the first record that is `wanted`, from position `since` on.

        Raises:
            PiTimeoutError: None came within `timeout` seconds.
            PiFailedError: Pi ended before one came.
        """
        matches = _matcher(wanted)
        position = since
        deadline = time.monotonic() + timeout
        while True:
            with self._changed:
                for record in self._records[position:]:
                    if matches(record):
                        return record
                position = max(position, len(self._records))
                if self._ended:
                    msg = f"Pi ended before {_name(wanted)} came\n{self.explain()}"
                    raise PiFailedError(msg)
                left = deadline - time.monotonic()
                if left <= 0:
                    msg = f"no {_name(wanted)} came in {timeout:g} s\n{self.explain()}"
                    raise PiTimeoutError(msg)
                self._changed.wait(left)

    def request(
        self,
        command: str,
        *,
        timeout: float = EVENT_SECONDS,
        **fields: Any,  # noqa: ANN401 - becomes JSON
    ) -> JsonObject:
        """Send a command and return the `data` of its response, `{}` when it has none.

        Raises:
            PiFailedError: Pi says that the command failed, or is gone.
            PiTimeoutError: There was no response within `timeout` seconds.
        """
        mark = self.mark()
        request_id = self.send(command, **fields)

        def answers(record: JsonObject) -> bool:
            return record.get("type") == "response" and record.get("id") == request_id

        response = self.wait_for(answers, since=mark, timeout=timeout)
        if response.get("success") is not True:
            msg = f"{command}: {response.get('error')}\n{self.explain()}"
            raise PiFailedError(msg)
        data = response.get("data")
        return data if isinstance(data, dict) else {}

    def prompt(self, message: str, *, timeout: float = EVENT_SECONDS) -> tuple[JsonObject, ...]:
        """Send a prompt, wait until Pi has settled, and return the records since.

        Raises:
            PiFailedError: Pi refused the prompt, or is gone.
            PiTimeoutError: It had not settled within `timeout` seconds.
        """
        mark = self.mark()
        deadline = time.monotonic() + timeout
        self.request("prompt", message=message, timeout=timeout)
        self._wait_until_settled(mark, deadline)
        return self.events[mark:]

    def _wait_until_settled(self, mark: int, deadline: float) -> None:
        def left() -> float:
            return max(deadline - time.monotonic(), 0.0)

        if self._settles:
            self.wait_for("agent_settled", since=mark, timeout=left())
            return
        self.wait_for("agent_end", since=mark, timeout=left())
        while self.request("get_state", timeout=left()).get("isStreaming") is not False:
            time.sleep(_POLL_SECONDS)

    def close(self, timeout: float = _EXIT_SECONDS) -> int:
        """Close Pi's input, wait for its end, and end it by force after `timeout` seconds.

        Returns:
            The exit code, negative for a signal. Idempotent.
        """
        if self._process.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            end(self._process)
        except BaseException:
            end(self._process)
            raise
        for reader, pipe in (
            (self._stdout_reader, self._process.stdout),
            (self._stderr_reader, self._process.stderr),
        ):
            reader.join(timeout)
            if pipe is not None and not reader.is_alive():
                pipe.close()
        return self._process.returncode

    def explain(self) -> str:
        """Return what is known as text for an error message."""
        with self._changed:
            last = self._records[-5:]
            stderr = b"".join(self._stderr)
        lines = [json.dumps(record)[:300] for record in last]
        text = stderr.decode("utf-8", "replace")[-4000:]
        return "\n".join(["last records:", *lines, f"standard error: {text}", self._report()])

    def _read_stdout(self) -> None:
        pipe = self._process.stdout
        cutter = LineCutter()
        # read1 gives what is there; read would wait for a full buffer.
        while pipe is not None and (data := pipe.read1(_READ_BYTES)):  # type: ignore[attr-defined]
            parsed = [parse_line(line) for line in cutter.feed(data)]
            records = [record for record in parsed if record is not None]
            with self._changed:
                self._records += records
                self.broken_lines += len(parsed) - len(records)
                self._changed.notify_all()
        self._stderr_reader.join(_LAST_WORDS_SECONDS)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _read_stderr(self) -> None:
        pipe = self._process.stderr
        while pipe is not None and (data := pipe.read1(_READ_BYTES)):  # type: ignore[attr-defined]
            with self._changed:
                self._stderr.append(data)


def _matcher(wanted: Wanted) -> Callable[[JsonObject], bool]:
    if callable(wanted):
        return wanted
    return lambda record: record.get("type") == wanted


def _name(wanted: Wanted) -> str:
    return wanted if isinstance(wanted, str) else getattr(wanted, "__name__", "record")
