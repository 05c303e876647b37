"""Show the site while it is being written, with `tools/bazel run //docs:serve`.

It is built from the checkout, generated pages included, and built anew whenever a source changes;
the browser reloads by itself. Ctrl-C ends it, and so does `kill`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import signal
import socket
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from sphinx_autobuild.__main__ import main as autobuild

from docs.live import refresh
from tools.ending import end_by_signals

#: Where people look first; another one is found where it is taken.
USUAL_PORT = 8000
#: The folders whose files the site is made of.
WATCHED = ("docs", "engine", "fixtures", "police", "python/satyrn_engine", "replay")
#: What editors and Python leave beside the sources.
PASSING = r"(__pycache__|/\.[^/]+$|~$|\.swp$|\.tmp$)"


def free_port(usual: int = USUAL_PORT) -> int:
    """Return the usual port if it is free, else another one that is."""
    for wanted in (usual, 0):
        with socket.socket() as probe:
            # A port that just served somebody else is free, though the system still remembers.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            found: int = probe.getsockname()[1]
            return found
    raise SystemExit("there is no free port on loopback; end a program that serves there")


def main() -> int:
    """Serve until Ctrl-C, `kill`, or the end of the terminal."""
    # What it tells is to be seen at once, in a log as well.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    options = _options()
    checkout = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if checkout is None:
        print("It serves a checkout: run it as tools/bazel run //docs:serve", file=sys.stderr)
        return 2
    _end_by_signals()
    with (
        contextlib.suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory(prefix="satyrn-docs-") as scratch,
    ):
        folder = Path(scratch).resolve()
        _serve(_settings(options, checkout, folder), folder)
    print("Ended.")
    return 0


def _end_by_signals() -> None:
    """End in order when asked to, also by a terminal that is closed."""
    end_by_signals()
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        # The server within takes TERM for itself and stops at leisure; of HUP it knows nothing.
        signal.signal(signal.SIGHUP, lambda _number, _frame: signal.raise_signal(signal.SIGTERM))


def _options() -> argparse.Namespace:
    """Return what the target gives; a user gives nothing, so the help shows none of it."""
    parser = argparse.ArgumentParser(
        prog="tools/bazel run //docs:serve",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--node", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--typedoc", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--entry", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--part", action="append", default=[], help=argparse.SUPPRESS)
    return parser.parse_args()


def _settings(options: argparse.Namespace, checkout: str, folder: Path) -> refresh.Settings:
    return refresh.Settings(
        checkout=checkout,
        stage=str(folder / "stage"),
        node=str(Path(options.node).absolute()),
        typedoc=str(Path(options.typedoc).absolute()),
        entries=options.entry,
        parts=[str(Path(part).absolute()) for part in options.part],
    )


def _serve(settings: refresh.Settings, folder: Path) -> None:
    """Run sphinx-autobuild, whose builds are processes of their own."""
    checkout = Path(settings.checkout)
    # They take the project from the checkout, and everything else from where this program has it.
    path = [str(checkout), str(checkout / "python"), *filter(None, sys.path)]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONUNBUFFERED"] = "1"
    Path(settings.stage).mkdir()
    file = folder / "settings.json"
    file.write_text(json.dumps(asdict(settings)), encoding="utf-8")
    before = [sys.executable, str(checkout / "docs" / "live" / "refresh.py"), str(file)]
    watched = [f"--watch={checkout / name}" for name in WATCHED]
    options = [*watched, f"--ignore={settings.stage}", f"--re-ignore={PASSING}"]
    port = free_port()
    options += [f"--pre-build={shlex.join(before)}", "--host=127.0.0.1", f"--port={port}"]
    print(
        f"The site will be at http://127.0.0.1:{port} once it is built; Ctrl-C ends it.", flush=True
    )
    sphinx = ["-q", "-n", "-d", str(folder / "doctrees"), settings.stage, str(folder / "html")]
    autobuild([*options, *sphinx])


if __name__ == "__main__":
    sys.exit(main())
