"""Sphinx's configuration: Markdown pages, strict references."""

project = "Satyrn Engine"
author = "The Satyrn Engine authors"
project_copyright = author
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Satyrn Engine"
html_last_updated_fmt = None
html_show_sphinx = False
html_copy_source = False
