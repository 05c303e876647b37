"""Programs that end when the launcher does."""

from __future__ import annotations

import fcntl
import os
import signal
import time
from pathlib import Path

import pytest

from tools.airgap.launcher import children


@pytest.fixture(name="held")
def _held(tmp_path: Path) -> int:
    return os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)


def _nothing() -> None:
    pass


def test_every_line_is_heard_and_logged_and_the_status_returned(tmp_path: Path, held: int) -> None:
    log, heard = tmp_path / "log", list[str]()
    script = "echo one; echo two >&2; printf three; exit 3"
    status = children.run(
        ["/bin/sh", "-c", script], log, held=held, heard=heard.append, idle=_nothing
    )
    assert status == 3
    assert heard == ["one", "two", "three"]
    assert log.read_text().endswith("one\ntwo\nthree\n")


def test_output_that_is_no_words_goes_to_its_file(tmp_path: Path, held: int) -> None:
    heard = list[str]()
    with (tmp_path / "out").open("wb") as out:
        children.run(
            ["/bin/sh", "-c", "echo data; echo word >&2"],
            tmp_path / "log",
            held=held,
            heard=heard.append,
            idle=_nothing,
            stdout=out,
        )
    assert (tmp_path / "out").read_bytes() == b"data\n"
    assert heard == ["word"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_and_all_that_it_started(
    tmp_path: Path, held: int, number: signal.Signals
) -> None:
    pids = list[int]()

    def heard(line: str) -> None:
        pids.append(int(line))
        os.kill(os.getpid(), number)

    script = "sleep 60 & echo $!; wait"
    with pytest.raises(children.Interrupted) as caught, children.interruptible():
        children.run(
            ["/bin/sh", "-c", script], tmp_path / "log", held=held, heard=heard, idle=_nothing
        )
    assert caught.value.number == number
    until = time.monotonic() + 5
    while _runs(pids[0]) and time.monotonic() < until:
        time.sleep(0.02)
    assert not _runs(pids[0])


def _runs(pid: int) -> bool:
    try:
        # A zombie that nobody has waited for yet runs no more.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_lock_lasts_as_long_as_a_program_does_whose_launcher_was_killed(
    tmp_path: Path, held: int
) -> None:
    fcntl.flock(held, fcntl.LOCK_EX)
    # The shell ends, as a killed launcher does; what it started keeps the descriptor.
    children.run(
        ["/bin/sh", "-c", "sleep 1 >/dev/null 2>&1 &"],
        tmp_path / "log",
        held=held,
        heard=lambda _: None,
        idle=_nothing,
    )
    os.close(held)
    again = os.open(tmp_path / "lock", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(again, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(again, fcntl.LOCK_EX)
    os.close(again)
