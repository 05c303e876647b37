"""Read: from what the user names to streams of bytes.

A source is one session file, wherever it lies: a local path, standard input, or any address that
`fsspec` knows; plain, or compressed with gzip or Zstandard (seen from its first bytes, so a wrong
suffix does no harm).
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from satyrn_engine.errors import SourceError

#: What stands for standard input; on the command line a hyphen does.
STDIN = "stdin://"
#: The names of session files in a folder.
SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst")

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Source:
    """One session file.

    Attributes:
        name: what the user sees: the path or address.
        path: where its bytes lie: `name`, but for standard input, which is kept in a file.
        version: changes when the file does: its size and time, or what a remote store gives for it.
    """

    name: str
    path: str
    version: str = ""

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading, decompressed, as long as the context lasts.

        Raises:
            SourceError: if it cannot be opened.
        """
        with ExitStack() as stack:
            try:
                raw = stack.enter_context(_open(self.path))
                head = raw.read(4)
                raw.seek(0)
                stream = raw
                if head.startswith(_GZIP):
                    stream = stack.enter_context(cast(BinaryIO, gzip.GzipFile(fileobj=raw)))
                elif head == _ZSTD:
                    stream = stack.enter_context(_zstd(raw))
            except Exception as error:
                raise SourceError(_cannot(self.name, error)) from error
            yield stream


def default_folder() -> Path:
    """Return where Pi keeps sessions: in `$PI_CODING_AGENT_DIR`, else in `~/.pi/agent`."""
    agent = os.environ.get("PI_CODING_AGENT_DIR")
    return (Path(agent).expanduser() if agent else Path.home() / ".pi" / "agent") / "sessions"


def find_sources(paths: list[str], spool: Path) -> Iterator[Source | SourceError]:
    """Find the session files that the paths name, each once, in the order of the paths.

    Args:
        paths: files, folders (searched through and through for `*.jsonl`, also compressed), globs,
            `-` for standard input, addresses such as `s3://bucket/sessions`.
        spool: a folder for what can be read only once.

    Yields:
        The sources; an error for a path that leads nowhere, after which the search goes on.
    """
    # One path leads to each file once, unless it is a pattern: nothing is kept of a million files.
    several = len(paths) > 1 or any(_GLOB.intersection(path) for path in paths)
    seen: set[str] = set()
    for path in paths:
        try:
            for source in _expand(path, spool):
                if source.path not in seen:
                    if several:
                        seen.add(source.path)
                    yield source
        except SourceError as error:
            yield error


def _expand(path: str, spool: Path) -> Iterator[Source]:
    if path in (STDIN, "-"):
        yield _keep("standard input", sys.stdin.buffer, spool)
    elif "://" in path:
        yield from _remote(path)
    else:
        yield from _local(path, spool)


def _keep(name: str, stream: BinaryIO, spool: Path) -> Source:
    """Keep what can be read only once, for a session with branches is read several times."""
    file = tempfile.NamedTemporaryFile(dir=spool, delete=False)  # noqa: SIM115
    with file:
        shutil.copyfileobj(stream, file)
    return Source(name, file.name)


def _local(path: str, spool: Path) -> Iterator[Source]:
    found = Path(path).expanduser()
    if found.is_dir():
        yield from _folder(found)
    elif found.is_file():
        yield _stat(found)
    elif found.exists():
        with found.open("rb") as stream:
            yield _keep(path, stream, spool)
    elif _GLOB.intersection(path):
        matches = sorted(Path(match) for match in _glob(str(found)))
        if not matches:
            raise SourceError(f"{path}: nothing matches; check the pattern")
        for match in matches:
            yield from _folder(match) if match.is_dir() else iter([_stat(match)])
    else:
        raise SourceError(f"{path}: does not exist; check the path")


def _glob(pattern: str) -> list[str]:
    # Not Path.glob, which takes no absolute pattern.
    return glob.glob(pattern, recursive=True)  # noqa: PTH207


def _folder(folder: Path) -> Iterator[Source]:
    """Walk a folder as it comes, so that the first file is read before the last one is found."""
    lost: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=lost.append):
        folders.sort()
        for name in sorted(files):
            if name.endswith(SUFFIXES):
                yield _stat(Path(parent, name))
    if lost:
        others = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
        raise SourceError(f"{lost[0].filename}: cannot be listed ({lost[0].strerror}){others}")


def _stat(path: Path) -> Source:
    try:
        status = path.stat()
    except OSError:
        return Source(str(path), str(path))
    return Source(str(path), str(path), f"{status.st_size}-{status.st_mtime_ns}")


def _remote(address: str) -> Iterator[Source]:
    import fsspec

    try:
        system, path = fsspec.core.url_to_fs(address)
        if _GLOB.intersection(path):
            found = system.glob(path, detail=True)
        elif system.isdir(path):
            found = None
        else:
            found = {path: system.info(path)}
    except Exception as error:
        raise SourceError(_cannot(address, error)) from error
    if found is None:
        yield from _remote_folder(address, system, path)
        return
    files = {name: about for name, about in found.items() if about.get("type") != "directory"}
    if not files:
        raise SourceError(_nothing(address))
    for name, about in sorted(files.items()):
        yield _remote_source(system, name, about)


def _remote_folder(address: str, system: Any, path: str) -> Iterator[Source]:  # noqa: ANN401
    """Walk a folder as it comes: of a million files, one folder's are in memory at a time."""
    empty = True
    problem: Exception | None = None
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        try:
            listed = sorted(system.ls(folder, detail=True), key=lambda about: str(about["name"]))
            # What was listed is otherwise kept until the end.
            system.invalidate_cache(folder)
        except Exception as error:  # noqa: BLE001 - each store has errors of its own
            problem = problem or error
            continue
        # Some stores list the folder itself, too.
        inside = [each for each in listed if each["name"].rstrip("/") != folder.rstrip("/")]
        for about in inside:
            if about["type"] != "directory" and about["name"].endswith(SUFFIXES):
                empty = False
                yield _remote_source(system, about["name"], about)
        waiting += [each["name"] for each in reversed(inside) if each["type"] == "directory"]
    if problem is not None:
        raise SourceError(_cannot(address, problem))
    if empty:
        raise SourceError(_nothing(address))


def _remote_source(system: Any, name: str, about: dict[str, object]) -> Source:  # noqa: ANN401
    known = (about.get(key) for key in ("ETag", "md5Hash", "mtime", "LastModified", "created"))
    version = next((str(value) for value in known if value), "")
    full = str(system.unstrip_protocol(name))
    return Source(full, full, f"{about.get('size')}-{version}" if version else "")


def _nothing(address: str) -> str:
    return f"{address}: no session file there; check the address"


def _open(path: str) -> BinaryIO:
    if "://" not in path:
        return cast(BinaryIO, io.BufferedReader(io.FileIO(path), buffer_size=1 << 17))
    import fsspec

    return cast(BinaryIO, fsspec.open(path, "rb").open())


def _zstd(raw: BinaryIO) -> BinaryIO:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast(BinaryIO, zstd.ZstdFile(raw))


def _cannot(name: str, error: Exception) -> str:
    if isinstance(error, ImportError):
        return f"{name}: needs a package that is not installed; {error}"
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return f"{name}: cannot be read ({reason}); check the path and its permissions"
