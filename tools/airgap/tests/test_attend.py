"""What runs in the private root hears what ends it, and is waited for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

# Does of bubblewrap what matters here: tells of its child, waits for it and ends as it ends.
BWRAP = """\
#!{python} -I
import json, os, sys
descriptor = int(sys.argv[sys.argv.index("--info-fd") + 1])
child = os.fork()
if not child:
    command = sys.argv[sys.argv.index("--") + 1:]
    os.execv(command[0], command)
os.write(descriptor, json.dumps({{"child-pid": child}}).encode())
os.close(descriptor)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
sys.exit(status if status >= 0 else 128 - status)
"""

# A program that takes its time to end, and says how it is asked to.
SLOW = """
trap 'sleep 0.3; echo cleaned up after HUP; exit 3' HUP
trap 'sleep 0.3; echo cleaned up after INT; exit 4' INT
trap 'sleep 0.3; echo cleaned up after TERM; exit 5' TERM
echo started
while :; do sleep 0.05; done
"""

ATTEND = """
import os, sys
from tools.airgap.launcher import attend
inner = attend.hearing(attend.heard(), sys.argv[2:])
sys.exit(attend.attend([sys.argv[1], "--", *inner], os.environ))
"""


@pytest.fixture(name="bwrap")
def _bwrap(tmp_path: Path) -> Path:
    program = tmp_path / "bwrap"
    program.write_text(BWRAP.format(python=sys.executable))
    program.chmod(0o755)
    return program


def _start(bwrap: Path, script: str, *, ignored: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", ATTEND, str(bwrap), "/bin/sh", "-c", script]
    around = ["sh", "-c", f'trap "" {ignored}; exec "$@"', "sh"] if ignored else []
    return subprocess.Popen(
        [*around, *command],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]},
        start_new_session=True,
    )


@pytest.mark.parametrize("status", [0, 1, 36])
def test_the_exit_status_is_that_of_the_program(bwrap: Path, status: int) -> None:
    with _start(bwrap, f"exit {status}") as process:
        assert process.wait(60) == status


def test_a_program_that_a_signal_ended_is_told_as_a_shell_does(bwrap: Path) -> None:
    with _start(bwrap, "kill -KILL $$") as process:
        assert process.wait(60) == 128 + signal.SIGKILL


@pytest.mark.parametrize(("number", "status"), [(signal.SIGHUP, 3), (signal.SIGTERM, 5)])
def test_what_asks_the_launcher_to_end_reaches_the_program_and_it_is_waited_for(
    bwrap: Path, number: signal.Signals, status: int
) -> None:
    with _start(bwrap, SLOW) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(number)
        assert process.wait(60) == status
        assert process.stdout.read() == f"cleaned up after {number.name.removeprefix('SIG')}\n"


def test_after_ctrl_c_the_prompt_comes_when_the_program_has_ended(bwrap: Path) -> None:
    with _start(bwrap, SLOW) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        # As a terminal does it: everybody in the group hears it once.
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) == 4
        assert process.stdout.read() == "cleaned up after INT\n"


def test_what_is_ignored_around_the_launcher_is_ignored_in_the_root(bwrap: Path) -> None:
    # A shell leaves what it was told to ignore for ever.
    script = "trap 'exit 3' HUP; echo started; sleep 0.5; echo went on"
    with _start(bwrap, script, ignored="HUP") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        os.killpg(process.pid, signal.SIGHUP)
        assert process.wait(60) == 0
        assert process.stdout.read() == "went on\n"


def test_a_bubblewrap_that_fails_at_once_is_no_program_to_wait_for(bwrap: Path) -> None:
    bwrap.write_text("#!/bin/sh\nexit 1\n")
    with _start(bwrap, SLOW) as process:
        assert process.wait(60) == 1
