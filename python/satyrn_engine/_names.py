"""Render: short names for sessions that lie in one place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import PurePath


def shortener(sources: Iterable[str]) -> Callable[[str], str]:
    """Return what takes the folder that all sources share from a source's name."""
    folders = {str(PurePath(source).parent) for source in sources if os.sep in source}
    try:
        common = os.path.commonpath(folders) if folders else ""
    except ValueError:
        common = ""
    prefix = common.rstrip(os.sep) + os.sep

    def short(source: str) -> str:
        return source.removeprefix(prefix) if common else source

    return short
