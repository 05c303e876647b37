"""sphinx-build for a build action: sources and generated pages staged as one folder."""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from sphinx.cmd.build import main as sphinx_build


class _Named(io.TextIOBase):
    """Names files as they are named in the checkout, not where they were staged."""

    def __init__(self, stream: TextIO, stage: Path) -> None:
        """Write to `stream` what names files in the folder `stage`."""
        self._stream = stream
        self._stage = f"{stage}/"

    def write(self, text: str) -> int:
        """Write a warning whole, as Sphinx does."""
        self._stream.write(text.replace(self._stage, ""))
        return len(text)


def main() -> int:
    """Build the HTML into `--output`; any warning is an error."""
    parser = argparse.ArgumentParser(description=__doc__, fromfile_prefix_chars="@")
    parser.add_argument("--source", action="append", nargs="+", default=[])
    parser.add_argument("--package", required=True, help="the folder whose files are the pages")
    parser.add_argument("--output", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        pages = Path(scratch, "checkout", options.package)
        for source in (s for group in options.source for s in group):
            # A generated page lies below bazel-out/.../bin and belongs to the same folder.
            inside = f"/{source}".rpartition(f"/{options.package}/")[2]
            target = pages / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            if Path(source).is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copyfile(source, target)
        # Pickled doctrees are not reproducible, so they stay out of the output.
        doctrees = str(Path(scratch, "doctrees"))
        flags = ["-q", "-W", "--keep-going", "-n", "-E", "-b", "html", "-d", doctrees]
        with contextlib.redirect_stderr(_Named(sys.stderr, Path(scratch, "checkout"))):
            return int(sphinx_build([*flags, str(pages), options.output]))


if __name__ == "__main__":
    sys.exit(main())
