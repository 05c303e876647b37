"""The directive `drawing`: an SVG file of docs/drawings/ as a part of the page.

As an image of its own it couldn't take the page's colours when the reader switches to dark.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata


class Drawing(SphinxDirective):
    """Shows `drawings/NAME.svg`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the drawing in a frame that scrolls where the page is narrower."""
        file = Path(self.env.srcdir, "drawings", f"{self.arguments[0]}.svg")
        self.env.note_dependency(str(file))
        try:
            svg = file.read_text(encoding="utf-8")
        except OSError as error:
            raise self.error(f"there is no drawing {file.name} in drawings/") from error
        # One can scroll with the keyboard only in what has the focus.
        frame = f'<figure class="drawing" tabindex="0">\n{svg}</figure>\n'
        return [nodes.raw("", frame, format="html")]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directive."""
    app.add_directive("drawing", Drawing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
