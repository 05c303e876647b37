"""Write the generated parts of the reference: each from the source that is the truth about it.

    docs/generate/main.py --node NODE --output FOLDER SOURCE ...

The pages in docs/reference/ include what is written here. Equal sources give equal text.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from docs.generate import command_page, police_page
from docs.generate.schema_page import schema_page
from tools.staging import copy_sources


class Sources:
    """The checkout, or a staged copy of what is needed of it, and Node.js to run it with."""

    def __init__(self, root: Path, node: str) -> None:
        """`root` is the project's folder, `node` the program."""
        self._root = root
        self._node = node

    def schema(self, name: str, level: int = 2) -> str:
        """Return the fields of `fixtures/NAME.schema.json` as tables."""
        text = (self._root / "fixtures" / f"{name}.schema.json").read_text("utf-8")
        return schema_page(json.loads(text), level)

    def police(self, part: Callable[[police_page.Tables], str]) -> str:
        """Return one of the tables of the police."""
        return part(json.loads(self._run("docs/generate/police_tables.mjs")))

    def help(self, program: str) -> str:
        """Return what a program of `replay/` says about itself."""
        return command_page.node_help(self._run(f"replay/{program}", "--help"))

    def _run(self, program: str, *arguments: str) -> str:
        flags = ["--disable-warning=ExperimentalWarning", "--experimental-strip-types"]
        command = [self._node, *flags, str(self._root / program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{program} failed:\n{done.stderr}")
        return done.stdout


PARTS: dict[str, Callable[[Sources], str]] = {
    "detection.md": lambda sources: sources.schema("detection", level=3),
    "guard-fixture.md": lambda sources: sources.schema("guard"),
    "loop-broken.md": lambda sources: sources.schema("loop_broken"),
    "police-commands.md": lambda sources: sources.police(police_page.commands),
    "police-events.md": lambda sources: sources.police(police_page.events),
    "police-messages.md": lambda sources: sources.police(police_page.messages),
    "police-settings.md": lambda sources: sources.police(police_page.settings),
    "replay.md": lambda sources: sources.help("replay_guards.mjs"),
    "satyrn-engine.md": lambda _: command_page.satyrn_engine(),
    "scenario.md": lambda sources: sources.schema("scenario"),
    "score.md": lambda sources: sources.help("score.mjs"),
}


def write_parts(root: Path, node: str, folder: Path) -> None:
    """Write every part into `folder`; a file that is right already stays untouched."""
    sources = Sources(root, node)
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        text, file = part(sources), folder / name
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, encoding="utf-8")


def main() -> int:
    """Stage the sources that a build action declares, and write all the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    # Node.js resolves links, which would lead out of the declared inputs.
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder).resolve()
        copy_sources(options.sources, stage)
        write_parts(stage, str(Path(options.node).absolute()), options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
