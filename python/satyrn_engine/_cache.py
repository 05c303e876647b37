"""Remembers the reports of sessions that have not changed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from satyrn_engine._node import Guards, typescript
from satyrn_engine._sources import Source
from satyrn_engine.errors import ConfigError
from satyrn_engine.reports import SessionReport

#: Changes whenever a report means something else than before.
FORMAT = 2


class Cache:
    """A folder of reports, one file a source.

    A report is used again if the source has the same size and time, and the guards, their
    configuration and this package are the same. Forks are never kept: what they report depends on
    other sessions.
    """

    def __init__(self, folder: Path, guards: Guards) -> None:
        """Use a folder, and make it if need be.

        Raises:
            ConfigError: if it cannot be made.
        """
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{folder}: cannot be used as a cache ({error.strerror})") from error
        self._guards = guards_digest(guards)

    def get(self, source: Source) -> list[SessionReport] | None:
        """Return the reports of a source, if they are known."""
        if not source.version:
            return None
        try:
            return msgspec.json.decode(self._file(source).read_bytes(), type=list[SessionReport])
        except (OSError, msgspec.DecodeError):
            return None

    def put(self, source: Source, reports: list[SessionReport]) -> None:
        """Keep the reports of a source. A full disk is no reason to end a scan."""
        if not source.version or any(report.parent is not None for report in reports):
            return
        file = self._file(source)
        partial = file.with_suffix(f".{os.getpid()}")
        try:
            partial.write_bytes(msgspec.json.encode(reports))
            partial.replace(file)
        except OSError:
            partial.unlink(missing_ok=True)

    def _file(self, source: Source) -> Path:
        text = "\0".join((str(FORMAT), self._guards, source.path, source.version))
        return self._folder / f"{hashlib.sha256(text.encode()).hexdigest()}.json"


def guards_digest(guards: Guards) -> str:
    """Return what changes whenever the guards, or their configuration, do."""
    digest = hashlib.sha256(msgspec.json.encode([guards.names, guards.police_config]))
    root = typescript()
    for folder in ("replay", *guards.names):
        for file in sorted((root / folder).rglob("*.ts")):
            if "test" not in file.parts:
                digest.update(file.read_bytes())
    return digest.hexdigest()
