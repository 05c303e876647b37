"""Sphinx's configuration of the specimen."""

project = "Specimen"
extensions = ["myst_parser"]
html_theme = "furo"
html_last_updated_fmt = None
html_copy_source = False
