"""Ctrl-C while the command still loads."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.command import COMMAND, environment

# Stands for a library that takes its time.
SLOW = """
import sys, time
print("loading", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("ignored", [False, True], ids=["heard", "ignored"])
def test_it_ends_without_a_traceback_unless_whoever_started_it_ignores_ctrl_c(
    tmp_path: Path, *, ignored: bool
) -> None:
    (tmp_path / "cyclopts.py").write_text(SLOW.replace("60", "1" if ignored else "60"))
    env = environment()
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), env["PYTHONPATH"]])
    with subprocess.Popen(
        ["sh", "-c", 'trap "" INT; exec "$@"', "sh", *COMMAND] if ignored else COMMAND,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"loading\n"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    # The module that stands for the library has none of its names.
    assert (process.returncode == 130) is not ignored
    assert (said == b"") is not ignored
