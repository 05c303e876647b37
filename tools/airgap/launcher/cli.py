"""Join the parts: make the root when it is missing, enter it, and say every failure plainly."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from . import attend, children, doctor, enter, environment, provision, settings, tools, versions
from .words import Problem, Progress

# As Bazel's own "local environmental issue"; its 1 means that a build failed.
_EXIT_PROBLEM = 36
_EXIT_USAGE = 2

_DOCTOR_ALONE = """\
tools/bazel doctor says what the launcher would use, what is missing and how to get it.
What to do: call tools/bazel doctor alone."""


def main(arguments: Sequence[str]) -> int:
    """Run Bazel with the arguments, `doctor`, or `--enter COMMAND...` in the private root.

    Returns the exit status: Bazel's, the command's, the doctor's, or that of a failure.
    """
    progress = Progress()
    try:
        if list(arguments[:1]) == ["doctor"]:
            if arguments[1:]:
                print(_DOCTOR_ALONE, file=sys.stderr)
                return _EXIT_USAGE
            return doctor.main(_workspace(), os.environ)
        return _run(arguments, progress)
    except Problem as problem:
        said, status = str(problem), _EXIT_PROBLEM
    except (children.Interrupted, KeyboardInterrupt) as stopped:
        number = getattr(stopped, "number", signal.SIGINT)
        said = "stopped; nothing half-made is left in use.\nWhat to do: start again when you like."
        status = 128 + number
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "free some space" if full else "see to it that you may read and write that"
        said = f"{error}\nWhat to do: {remedy}, and start again; tools/bazel doctor says more."
        status = _EXIT_PROBLEM
    except Exception:  # noqa: BLE001 - whatever it is, the person is told what to do
        traceback.print_exc()
        said = (
            "this is a fault of the launcher itself.\nWhat to do: report the lines above to those"
            f" who keep this project; until then, {settings.INSTALL_BAZELISK}."
        )
        status = _EXIT_PROBLEM
    print(f"tools/bazel: {said}", file=sys.stderr)
    return status


def _workspace() -> Path:
    # tools/airgap/launcher/cli.py
    return Path(__file__).resolve().parents[3]


def _run(arguments: Sequence[str], progress: Progress) -> int:
    chosen = settings.read(_workspace(), os.environ)
    if not sys.platform.startswith("linux"):
        raise Problem(
            f"A private root is needed ({chosen.reason}), and it needs Linux.",
            f"{settings.INSTALL_BAZELISK}, without BAZEL_AIRGAP.",
        )
    want = versions.wanted(chosen.workspace)
    host = enter.Host.look(environment.certificates(os.environ))
    provision.ensure(chosen, host, progress)
    inner = list(arguments[1:])
    if list(arguments[:1]) != ["--enter"]:
        warning = versions.compare(versions.provided(chosen.root), want)
        if warning:
            progress.note(warning)
        inner = enter.bazel(chosen, arguments)
    bwrap = tools.find("bwrap")
    if bwrap is None:
        raise Problem(
            "bubblewrap, which enters the private root, is no longer installed.",
            "run `apt-get install bubblewrap` as root.",
        )
    inner = attend.hearing(attend.heard(), inner)
    command = enter.command(chosen, host, inner, bwrap=bwrap, cwd=Path.cwd(), root=chosen.root)
    sys.stdout.flush()
    sys.stderr.flush()
    return attend.attend(command, environment.inside(os.environ, chosen.cache))
