"""One at a time, whoever dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tools.airgap.launcher.locking import exclusive

HOLDER = """\
import fcntl, os, sys
f = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(f, fcntl.LOCK_EX)
os.pwrite(f, b"%d\\n" % os.getpid(), 0)
print("held", flush=True)
sys.stdin.read()
"""


def _no_waiting(holder: str) -> None:
    message = f"waited for {holder}"
    raise AssertionError(message)


def test_nobody_waits_for_a_lock_that_is_free_or_was_left(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    for _ in range(2):
        with exclusive(file, _no_waiting):
            assert int(file.read_text()) == os.getpid()


def test_the_second_says_for_whom_it_waits_and_goes_on_when_the_first_is_killed(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        said = []

        def waiting(who: str) -> None:
            said.append(who)
            holder.kill()

        with exclusive(file, waiting):
            assert said == [f"process {holder.pid}"]
