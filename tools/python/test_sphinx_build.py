"""Building pages strictly, from staged copies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONFIGURATION = "project = 'Pages'\nextensions = ['myst_parser']\n"


def _build(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    pages = folder / "pages"
    pages.mkdir()
    (pages / "conf.py").write_text(CONFIGURATION)
    (pages / "index.md").write_text(page)
    sources = [f"--source=pages/{name}" for name in ("conf.py", "index.md")]
    return subprocess.run(
        [sys.executable, "-m", "tools.python.sphinx_build"]
        + [*sources, "--package=pages", "--output=html"],
        cwd=folder,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_pages_in_order_are_built_without_a_word(tmp_path: Path) -> None:
    done = _build(tmp_path, "# A title\n\nWords.\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "A title" in (tmp_path / "html/index.html").read_text()


def test_a_warning_is_an_error_and_names_the_file_of_the_checkout(tmp_path: Path) -> None:
    done = _build(tmp_path, "# A title\n\n[nowhere](gone.md)\n")
    assert done.returncode != 0
    assert "\npages/index.md:3: WARNING" in f"\n{done.stderr}"
