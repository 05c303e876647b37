"""Bring a staged copy of the site up to date with the checkout: pages and generated parts.

    refresh.py SETTINGS.json

Runs before each rebuild, in a process of its own, so that it sees the sources as they are now.
What hasn't changed keeps its time, so that Sphinx reads again only what it must.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.generate.main import write_parts
from tools.staging import link_node_modules
from tools.typedoc.run_typedoc import write_pages

#: What of docs/ is a source of the site.
PAGES = ("*.md", "*/*.md", "conf.py", "drawings/*", "extensions/*.py", "static/*")
#: Where the TypeScript API comes from.
TYPESCRIPT = ("engine", "police", "replay")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things lie; all paths are absolute.

    Attributes:
        checkout: the project's folder.
        stage: the copy that Sphinx reads.
        node: the Node.js program.
        typedoc: a node_modules tree with TypeDoc.
        entries: the modules of the TypeScript API, as paths in the checkout.
        parts: generated parts that were built before, and stay as they are.
    """

    checkout: str
    stage: str
    node: str
    typedoc: str
    entries: list[str]
    parts: list[str]


def refresh(settings: Settings) -> None:
    """Copy and generate what has changed, and remove what is gone."""
    checkout, stage = Path(settings.checkout), Path(settings.stage)
    pages = set(_pages(checkout / "docs"))
    for page in sorted(pages):
        _copy(checkout / "docs" / page, stage / page)
    for page in set(_pages(stage)) - pages:
        if not page.startswith(("generated/", "reference/typescript/")):
            (stage / page).unlink()
    write_parts(checkout, settings.node, stage / "generated")
    for part in settings.parts:
        _copy(Path(part), stage / "generated" / Path(part).name)
    _typescript(settings, stage / "reference" / "typescript")


def _pages(folder: Path) -> Iterator[str]:
    for pattern in PAGES:
        for file in folder.glob(pattern):
            if file.is_file():
                yield str(file.relative_to(folder))


def _copy(source: Path, target: Path) -> None:
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _typescript(settings: Settings, output: Path) -> None:
    """Run TypeDoc, which takes seconds, if a source has changed since it last ran."""
    checkout = Path(settings.checkout)
    files = [file for folder in TYPESCRIPT for file in sorted(checkout.glob(f"{folder}/**/*.ts"))]
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file}\0".encode() + file.read_bytes())
    seen = Path(settings.stage, ".typescript")
    if seen.exists() and seen.read_text("utf-8") == digest.hexdigest():
        return
    # Beside the stage, which whoever serves it removes even if this process is ended.
    with tempfile.TemporaryDirectory(dir=Path(settings.stage).parent) as folder:
        root = Path(folder).resolve()
        for name in ("tsconfig.json", *(str(file.relative_to(checkout)) for file in files)):
            _copy(checkout / name, root / name)
        link_node_modules([settings.typedoc], root)
        write_pages(settings.node, root, settings.entries, output)
    seen.write_text(digest.hexdigest(), encoding="utf-8")


def main() -> int:
    """Refresh by the settings in the file that is named."""
    [file] = sys.argv[1:]
    refresh(Settings(**json.loads(Path(file).read_text("utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
