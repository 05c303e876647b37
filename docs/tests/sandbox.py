"""A place in which the commands of the documentation can be run: a checkout, a home, a Pi.

`tools/bazel` in it doesn't build: it runs what a target runs, from the test's own inputs.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from pathlib import Path

from satyrn_engine.testing import PiHome, find_pi
from tests.sessions import chain, header, repeated, turn, user, write

from docs.tests.pages import ROOT

#: What of the checkout the commands work on.
SOURCES = ("engine", "fixtures", "police", "replay", "README.md")

#: What `tools/bazel run TARGET` runs; `{NAME}` is an environment variable of the test.
#: labels_test compares it with the BUILD files.
TARGETS = {
    "//engine:demo": "python -m satyrn_engine.demo",
    "//engine:package": "python {TOOLS}/npm/release.py {ENGINE_TARBALL}",
    "//police:package": "python {TOOLS}/npm/release.py {POLICE_TARBALL}",
    "//replay": "node --experimental-strip-types replay/replay_guards.mjs",
    "//replay:score": "node --experimental-strip-types replay/score.mjs",
}

_BAZEL = """\
#!/usr/bin/env python
import os, shlex, sys
targets = {targets!r}
_, command, target, *rest = sys.argv
if command != "run" or target not in targets:
    sys.exit("the sandbox of the documentation can't " + " ".join(sys.argv[1:]))
arguments = rest[1:] if rest[:1] == ["--"] else rest
os.environ["BUILD_WORKSPACE_DIRECTORY"] = os.getcwd()
program = shlex.split(targets[target])
os.execvp(program[0], program + arguments)
"""


class Sandbox:
    """Commands run in `folder`, which looks like a checkout and holds what the examples name."""

    def __init__(self, scratch: Path) -> None:
        """Furnish a folder below `scratch`."""
        self._home = PiHome(find_pi(), scratch)
        self.folder = scratch / "checkout"
        self.folder.mkdir()
        self._bin = scratch / "programs"
        self._bin.mkdir()
        self._checkout()
        self._programs()
        self._examples()

    def close(self) -> None:
        """Remove Pi's home."""
        self._home.close()

    def environment(self) -> dict[str, str]:
        """Return the environment of the commands."""
        pi = self._home.environment()
        # As the examples have it: Pi's agent directory is where it is by default.
        del pi["PI_CODING_AGENT_DIR"]
        return {
            **pi,
            "PATH": os.pathsep.join([str(self._bin), pi["PATH"]]),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "COLUMNS": "120",
            "SATYRN_NODE": str(self._home.program.node),
            "SATYRN_PI": str(Path(os.environ["SATYRN_PI"]).absolute()),
            "SATYRN_ENGINE_DIR": str(self.folder / "engine"),
        }

    def command(self, text: str) -> str:
        """Return a command of a page as it is run here."""
        return text.replace("/path/to/checkout", str(self.folder)).replace(
            "/path/to/", f"{self.folder}/dist/"
        )

    def _checkout(self) -> None:
        for name in SOURCES:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, self.folder / name)
            else:
                shutil.copy(ROOT / name, self.folder / name)
        (self.folder / "dist").mkdir()
        for name in ("ENGINE_TARBALL", "POLICE_TARBALL"):
            tarball, package, version = os.environ[name].split()
            shutil.copy(tarball, self.folder / "dist" / f"{package}-{version}.tgz")

    def _programs(self) -> None:
        (self._bin / "python").symlink_to(sys.executable)
        pi = shlex.join(self._home.program.command)
        self._script("pi", f'#!/bin/sh\nexec {pi} "$@"\n')
        self._script("satyrn-engine", '#!/bin/sh\nexec python -m satyrn_engine "$@"\n')
        (self.folder / "tools").mkdir()
        values = {"TOOLS": str(ROOT / "tools")}
        for name in ("ENGINE_TARBALL", "POLICE_TARBALL"):
            tarball, *rest = os.environ[name].split()
            values[name] = shlex.join([str(Path(tarball).absolute()), *rest])
        targets = {target: command.format(**values) for target, command in TARGETS.items()}
        self._script("bazel", _BAZEL.format(targets=targets), self.folder / "tools")

    def _script(self, name: str, text: str, folder: Path | None = None) -> None:
        file = (folder or self._bin) / name
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)

    def _examples(self) -> None:
        looping = [header(), *chain([user(), *repeated(7)])]
        entry = {"tool": "bash", "repeats": 5, "blockedSoFar": 1}
        told = {
            "type": "custom",
            "id": "t1",
            "parentId": "e14",
            "timestamp": "2026-01-02T05:00:00Z",
        }
        sessions = self._home.home / ".pi" / "agent" / "sessions" / "--project--"
        fired = {**told, "customType": "loop_broken", "data": entry}
        write(sessions / "looping.jsonl", [*looping, fired])
        write(sessions / "fine.jsonl", [header(id="s2"), *chain(turn(), prefix="f")])
        write(self.folder / "recorded" / "looping.jsonl", looping)
        stuck = [*turn("read"), *turn("ls"), *repeated(8)]
        labelled = self.folder / "labelled"
        write(labelled / "looping.jsonl", [header(id="s3"), *chain([user(), *stuck])])
        honest = [*turn("read"), *turn("ls")]
        write(labelled / "honest.jsonl", [header(id="s4"), *chain([user(), *honest])])
        table = "session\tlabel\nlooping.jsonl\tloop\nhonest.jsonl\tlegitimate\n"
        (self.folder / "labels.tsv").write_text(table, encoding="utf-8")
        (self.folder / "contract.yaml").write_text("id: one\ntask: Do it.\n", encoding="utf-8")
        settings = json.dumps({"TOOL_LOOP_EXEMPT": "wait"})
        (self.folder / "my-loop-police.json").write_text(settings, encoding="utf-8")
        (self.folder / "my-package").symlink_to(self.folder / "engine")
        (self.folder / "my-scenarios").mkdir()
        scenario = "same-call-across-prompts.json"
        shutil.copy(self.folder / "fixtures" / "scenarios" / scenario, self.folder / "my-scenarios")
        fixture = self.folder / "fixtures" / "guards" / "runaway-excerpt.json"
        shutil.copy(fixture, self.folder / "my-fixture.json")
