"""Run TypeDoc on staged copies of the sources, and write Markdown.

    run_typedoc.py --node NODE --modules TREE --output FOLDER --entry FILE ... SOURCE ...

The pages hold what is exported: no addresses of sources, no dates, nothing of this machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tools.staging import copy_sources, link_node_modules

OPTIONS: dict[str, Any] = {
    "plugin": ["typedoc-plugin-markdown"],
    "name": "TypeScript",
    "readme": "none",
    "disableSources": True,
    "hidePageHeader": True,
    "hideBreadcrumbs": True,
    "excludePrivate": True,
    "excludeInternal": True,
    # The types of Pi itself are not among the inputs: they stay names. The type tests check them.
    "skipErrorChecking": True,
    "outputFileStrategy": "modules",
    "entryFileName": "index",
    "useCodeBlocks": True,
    "parametersFormat": "table",
    "interfacePropertiesFormat": "table",
    "classPropertiesFormat": "table",
    "propertyMembersFormat": "table",
    "typeDeclarationFormat": "table",
    "logLevel": "Warn",
    "treatWarningsAsErrors": True,
}


def write_pages(node: str, root: Path, entries: list[str], output: Path) -> None:
    """Write the pages of the modules `entries`, paths below `root`, into `output`.

    Raises:
        SystemExit: TypeDoc failed, or warned of something.
    """
    options = {**OPTIONS, "entryPoints": sorted(entries), "out": str(output)}
    file = root / "typedoc.json"
    file.write_text(json.dumps(options), encoding="utf-8")
    program = str(root / "node_modules" / "typedoc" / "bin" / "typedoc")
    done = subprocess.run([node, program], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"TypeDoc failed:\n{done.stdout}{done.stderr}")


def main() -> int:
    """Stage the sources and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--node", required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--output", required=True, type=Path)
    parser.add_argument("--entry", action="append", default=[])
    parser.add_argument("sources", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder).resolve()
        copy_sources(options.sources, stage)
        link_node_modules([options.modules], stage)
        node = str(Path(options.node).absolute())
        write_pages(node, stage, options.entry, options.output.absolute())
    return 0


if __name__ == "__main__":
    sys.exit(main())
