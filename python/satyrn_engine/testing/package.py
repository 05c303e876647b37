"""A Pi package as its manifest describes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from satyrn_engine.testing.errors import PackageError


@dataclass(frozen=True)
class Package:
    """A package in a folder.

    Attributes:
        folder: Where its `package.json` lies, absolute.
        name: Its npm name.
        version: Its version.
        extensions: The files that `pi.extensions` lists, which all exist.
    """

    folder: Path
    name: str
    version: str
    extensions: tuple[Path, ...]


def read_package(folder: Path) -> Package:
    """Read and check the manifest in `folder`.

    Pi itself ignores a malformed `pi.extensions` without a word, so this does not.

    Raises:
        PackageError: There is no manifest, it is malformed, or an entry is no file.
    """
    manifest_file = folder.absolute() / "package.json"
    try:
        manifest = json.loads(manifest_file.read_bytes())
    except (OSError, ValueError) as error:
        raise PackageError(f"{manifest_file} cannot be read as JSON: {error}") from error
    if not isinstance(manifest, dict):
        raise PackageError(f"{manifest_file} must hold a JSON object")
    return Package(
        folder=manifest_file.parent,
        name=_text(manifest, "name", manifest_file),
        version=_text(manifest, "version", manifest_file),
        extensions=_extensions(manifest, manifest_file),
    )


def _text(manifest: dict[str, Any], field: str, place: Path) -> str:
    value = manifest.get(field)
    if not isinstance(value, str) or not value:
        raise PackageError(f"{place}: {field} must be a non-empty string")
    return value


def _extensions(manifest: dict[str, Any], place: Path) -> tuple[Path, ...]:
    section = manifest.get("pi")
    entries = section.get("extensions") if isinstance(section, dict) else None
    if not isinstance(entries, list) or not entries:
        raise PackageError(f"{place}: pi.extensions must be a list with at least one path")
    files: list[Path] = []
    for entry in entries:
        if not isinstance(entry, str):
            raise PackageError(f"{place}: pi.extensions lists {entry!r}, which is no path")
        if not (place.parent / entry).is_file():
            raise PackageError(f"{place}: pi.extensions lists {entry}, which is no file here")
        files.append(place.parent / entry)
    return tuple(files)
