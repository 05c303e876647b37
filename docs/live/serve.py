"""Show the site while it is being written, with `tools/bazel run //docs:serve`.

It is built from the checkout, generated pages included, and built anew whenever a source changes;
the browser reloads by itself. Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import socket
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from sphinx_autobuild.__main__ import main as autobuild

from docs.live import refresh

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
    """Serve until Ctrl-C."""
    # What it tells is to be seen at once, in a log as well.
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", required=True)
    parser.add_argument("--typedoc", required=True)
    parser.add_argument("--entry", action="append", default=[])
    parser.add_argument("--part", action="append", default=[])
    options = parser.parse_args()
    checkout = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if checkout is None:
        print("It serves a checkout: run it as tools/bazel run //docs:serve", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="satyrn-docs-") as scratch:
        folder = Path(scratch).resolve()
        settings = refresh.Settings(
            checkout=checkout,
            stage=str(folder / "stage"),
            node=str(Path(options.node).absolute()),
            typedoc=str(Path(options.typedoc).absolute()),
            entries=options.entry,
            parts=[str(Path(part).absolute()) for part in options.part],
        )
        try:
            _serve(settings, folder)
        except KeyboardInterrupt:
            print("Ended.")
    return 0


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
