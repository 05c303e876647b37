"""Sphinx's configuration: Markdown pages, strict references, the Python API from its docstrings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "Satyrn Engine"
author = "The Satyrn Engine authors"
project_copyright = author
extensions = ["drawing", "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Included by pages, or replaced by one.
exclude_patterns = ["generated/*", "reference/typescript/index.md"]

myst_enable_extensions = ["colon_fence", "deflist"]
# The pages of the TypeScript API link to members of members.
myst_heading_anchors = 5

# Docstrings mark code by single backticks.
default_role = "code"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_class_signature = "separated"
napoleon_use_ivar = True
# The project's own names must resolve; those of Python and of libraries are not on this site.
nitpick_ignore_regex = [
    ("py:.*", r"(?!satyrn_engine)[\w.]*"),
    ("py:.*", r"satyrn_engine\.(testing\.)?_.*"),
]

html_theme = "furo"
html_title = "Satyrn Engine"
html_last_updated_fmt = None
html_show_sphinx = False
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
