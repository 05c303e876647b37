"""Finds the Chromium of this machine, and says what to install when there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

BROWSER_VARIABLE = "SATYRN_BROWSER"
"""Names the browser's executable; a relative path starts at the current directory."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""What it is called on `PATH`."""

PLACES = (
    Path("/usr/bin/chromium"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
"""Where it lies when `PATH` does not say: Debian's package, and the applications of macOS."""

_REMEDY = (
    "install Chromium (Debian: `apt install chromium`; macOS: `brew install --cask chromium`) "
    f"or Chrome, or set {BROWSER_VARIABLE} to the path of its executable"
)


class BrowserNotFoundError(Exception):
    """There is no browser; the text says what to do."""


def find_browser(environ: Mapping[str, str] | None = None, places: Iterable[Path] = PLACES) -> Path:
    """Find a Chromium: what the environment names, else one on `PATH`, else one of `places`.

    Raises:
        BrowserNotFoundError: There is none; the text says what to do.
    """
    variables = os.environ if environ is None else environ
    if named := variables.get(BROWSER_VARIABLE):
        path = Path(named).absolute()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise BrowserNotFoundError(
                f"{BROWSER_VARIABLE} names {named}, which is no program here: {_REMEDY}"
            )
        return path
    for name in NAMES:
        if found := shutil.which(name, path=variables.get("PATH", os.defpath)):
            return Path(found).absolute()
    for place in places:
        if os.access(place, os.X_OK):
            return place
    raise BrowserNotFoundError(f"this test needs a browser, and there is none: {_REMEDY}")
