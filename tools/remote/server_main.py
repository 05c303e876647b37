"""BuildGrid's own command, `bgd`, as a program of this build."""

import importlib

if __name__ == "__main__":
    # Its types are nobody's business here.
    importlib.import_module("buildgrid.server.app.cli").cli(prog_name="bgd")
