"""Running a program with a deadline: nothing of it survives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from satyrn_engine.testing import process
from satyrn_engine.testing.process import Finished, end, run, start

SECONDS = 20.0


def python(code: str, folder: Path, timeout: float = SECONDS) -> Finished:
    command = [sys.executable, "-c", code]
    return run(command, cwd=folder, env={"PATH": os.defpath}, timeout=timeout)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for_end(pid: int) -> bool:
    deadline = time.monotonic() + SECONDS
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_output_and_exit_code_are_returned(tmp_path: Path) -> None:
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
    assert python(code, tmp_path) == Finished(3, b"out\n", b"err\n", timed_out=False)


def test_standard_input_is_closed_and_the_environment_is_only_what_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "1")
    code = "import os, sys; print(repr(sys.stdin.read()), 'SECRET' in os.environ, os.getcwd())"
    assert python(code, tmp_path).stdout.decode() == f"'' False {tmp_path.resolve()}\n"


def test_megabytes_of_output_do_not_block(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('x' * 3_000_000); sys.stderr.write('y' * 3_000_000)"
    done = python(code, tmp_path)
    assert (len(done.stdout), len(done.stderr)) == (3_000_000, 3_000_000)


def test_a_deadline_ends_the_program_and_keeps_what_it_said(tmp_path: Path) -> None:
    done = python("import time; print('begun', flush=True); time.sleep(600)", tmp_path, 5.0)
    assert done.timed_out
    assert done.exit_code < 0
    assert done.stdout == b"begun\n"


@pytest.mark.parametrize("own_session", [False, True])
def test_ending_a_program_ends_its_children_even_in_a_session_of_their_own(
    tmp_path: Path, *, own_session: bool
) -> None:
    code = f"""
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"],
                         start_new_session={own_session})
print(child.pid, flush=True)
time.sleep(600)
"""
    command = [sys.executable, "-c", code]
    program = start(command, cwd=tmp_path, env={"PATH": os.defpath}, stdin=subprocess.DEVNULL)
    with program:
        assert program.stdout is not None
        child = int(program.stdout.readline())
        assert is_alive(child)
        end(program)
    assert program.returncode == -signal.SIGKILL
    assert wait_for_end(child)


def test_a_number_that_was_given_to_another_process_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin() -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        return start(command, cwd=tmp_path, env={"PATH": os.defpath}, stdin=subprocess.DEVNULL)

    with begin() as stranger, begin() as program:
        # As if a child of the program's had had the stranger's number.
        monkeypatch.setattr(process, "_descendants", lambda _: {stranger.pid: "1"})
        end(program)
        assert program.returncode is not None
        with pytest.raises(subprocess.TimeoutExpired):
            stranger.wait(0.5)
        stranger.kill()


class Interrupted(Exception):
    """What the handler of a signal raises in these tests."""


@pytest.fixture
def interrupting() -> Iterator[None]:
    """Let SIGTERM raise `Interrupted`, as often as it comes."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGTERM, interrupt)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def born(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let a signal land in the middle of each `Popen`; returns the numbers of the children."""
    children: list[int] = []

    class Signalled(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401
            super().__init__(*given, **named)
            children.append(self.pid)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Signalled)
    return children


@pytest.mark.usefixtures("interrupting")
def test_a_signal_that_lands_while_a_program_starts_ends_it(
    tmp_path: Path, born: list[int]
) -> None:
    with pytest.raises(Interrupted):
        python("import time; time.sleep(600)", tmp_path)
    [child] = born
    assert not is_alive(child)


@pytest.mark.usefixtures("interrupting")
def test_a_signal_that_lands_while_a_program_is_only_started_ends_it_too(
    tmp_path: Path, born: list[int]
) -> None:
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with pytest.raises(Interrupted):
        start(command, cwd=tmp_path, env={"PATH": os.defpath}, stdin=subprocess.DEVNULL)
    [child] = born
    assert not is_alive(child)


@pytest.mark.usefixtures("interrupting")
def test_a_second_signal_does_not_keep_a_program_from_being_ended(
    tmp_path: Path, born: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = process._descendants

    def signalled(pid: int) -> dict[int, str | None]:
        signal.raise_signal(signal.SIGTERM)
        return known(pid)

    monkeypatch.setattr(process, "_descendants", signalled)
    with pytest.raises(Interrupted):
        python("import time; time.sleep(600)", tmp_path)
    [child] = born
    assert not is_alive(child)


@pytest.mark.usefixtures("interrupting")
def test_a_program_that_cannot_be_started_is_named_as_ever(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        run([str(tmp_path / "missing")], cwd=tmp_path, env={}, timeout=SECONDS)


def test_a_program_that_ends_by_itself_in_time_is_not_ended(tmp_path: Path) -> None:
    assert python("import time; time.sleep(0.2)", tmp_path) == Finished(
        0, b"", b"", timed_out=False
    )
