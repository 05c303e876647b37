"""The build cache's server: nginx as a plain store of files (WebDAV), in the foreground.

Bazel's protocol is two folders: it puts and gets `/ac/DIGEST` (what an action made) and
`/cas/DIGEST` (the contents). nginx writes an upload beside its place and renames it, so a reader
never sees half of one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tools.cache.trim import PARTS

# One process serves a team: a request is a file read or written.
_CONFIGURATION = """\
{user}daemon off;
master_process off;
pid "{run}/nginx.pid";
error_log stderr error;
events {{
  worker_connections 1024;
}}
http {{
  access_log off;
  server_tokens off;
  default_type application/octet-stream;
  keepalive_requests 100000;
  client_max_body_size 0;
  client_body_temp_path "{run}/incoming";
  proxy_temp_path "{run}/unused";
  fastcgi_temp_path "{run}/unused";
  uwsgi_temp_path "{run}/unused";
  scgi_temp_path "{run}/unused";
  server {{
    listen {address};
    root "{data}";
    location ~ "^/(ac|cas)/[0-9a-f]{{64}}$" {{
      dav_methods PUT;
      dav_access user:rw group:r all:r;
    }}
    location / {{
      return 404;
    }}
  }}
}}
"""

_MISSING = """\
nginx, which serves the build cache, is not on this machine.
What to do: install it (Debian: apt-get install nginx-light; macOS: brew install nginx) and start \
again. Without bazelisk, tools/bazel brings it along."""

# Seconds until a server that doesn't answer has failed; it takes a fraction of one.
_START = 20.0
_STOP = 10.0
# What means every address of the machine, and is none that a client could use.
_ALL = ("0.0.0.0", "::")  # noqa: S104 - it is compared, and opens nothing


class CannotServe(Exception):
    """The server did not start; the message says why and what to do."""


def program() -> str:
    """The path of nginx.

    Raises:
        CannotServe: when there is none.
    """
    # Debian keeps it where only root's PATH leads.
    found = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if found is None:
        raise CannotServe(_MISSING)
    return found


def configuration(folder: Path, host: str, port: int) -> str:
    """The server's configuration for a cache in `folder`."""
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    run = folder / "server"
    # Started by root, nginx would give its folders to a user who can't enter root's.
    user = "user root root;\n" if os.geteuid() == 0 else ""
    return _CONFIGURATION.format(user=user, run=run, data=folder / "data", address=address)


def free_port(host: str) -> int:
    """A port that nobody listens on just now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
    return port


class CacheServer:
    """A running server, to be used with `with`; it ends with the block.

    Attributes:
        folder: what it keeps; `data/` in it is the cache.
        address: what Bazel's `--remote_cache` is given.
    """

    def __init__(self, folder: Path, host: str = "127.0.0.1", port: int = 0) -> None:
        self.folder = folder.absolute()
        self._host = host
        self._port = port
        self._process: subprocess.Popen[bytes] | None = None
        self._lock: IO[bytes] | None = None

    @property
    def address(self) -> str:
        """Such as http://127.0.0.1:8080; by this machine's name if it listens on all addresses."""
        host = socket.gethostname() if self._host in _ALL else self._host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self._port}"

    @property
    def data(self) -> Path:
        """The folder of what is cached: `ac/` and `cas/`."""
        return self.folder / "data"

    def __enter__(self) -> Self:
        """Start it and wait until it answers.

        Raises:
            CannotServe: when it doesn't, with what it said.
        """
        nginx = program()
        if any(c in str(self.folder) for c in '"\\$\n'):
            raise CannotServe(f"nginx can't keep a cache in {self.folder}.\n{_OTHER_FOLDER}")
        try:
            self._prepare()
            self._listen(nginx)
        except BaseException:
            self._stop()
            raise
        return self

    def _prepare(self) -> None:
        """Make the folders, which nobody else must use for another thing or at the same time."""
        try:
            if not self._ours():
                raise CannotServe(
                    f"{self.folder} holds other things than a build cache.\n{_OTHER_FOLDER}"
                )
            for part in (*(f"data/{part}" for part in PARTS), "server"):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "server/lock").open("ab")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotServe(
                f"{self.folder} is being served already.\n"
                "What to do: use that server, or give another folder with --dir."
            ) from None
        except OSError as error:
            raise CannotServe(
                f"{self.folder} can't be written ({error.strerror}).\n{_OTHER_FOLDER}"
            ) from None

    def _ours(self) -> bool:
        with contextlib.suppress(FileNotFoundError):
            there = {each.name for each in self.folder.iterdir()}
            made = all((self.folder / "data" / part).is_dir() for part in PARTS)
            return not there or (made and there <= {"data", "server"})
        return True

    def _listen(self, nginx: str) -> None:
        chosen = self._port
        # Between finding a free port and listening on it somebody else may have taken it.
        for attempts_left in (2, 1, 0):
            try:
                self._port = chosen or free_port(self._host)
            except OSError as error:
                raise CannotServe(
                    f"nobody can listen on {self._host} here ({error.strerror}).\n"
                    "What to do: choose another --host."
                ) from None
            said = self._start(nginx)
            if said is None:
                return
            if chosen or "in use" not in said or not attempts_left:
                raise CannotServe(
                    f"nginx does not serve {self.address}:\n{said.rstrip()}\n"
                    "What to do: choose another --port (0 finds a free one) or --host."
                )
        raise AssertionError

    def _start(self, nginx: str) -> str | None:
        """Start the process; return what it said if it ended instead of listening."""
        run = self.folder / "server"
        (run / "nginx.conf").write_text(configuration(self.folder, self._host, self._port))
        said = run / "messages"
        # Written when it listens; an answer alone might be somebody else's.
        listens = run / "nginx.pid"
        listens.unlink(missing_ok=True)
        with said.open("wb") as messages:
            self._process = subprocess.Popen(
                [nginx, "-e", "stderr", "-p", str(run), "-c", str(run / "nginx.conf")],
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
            )
        limit = time.monotonic() + _START
        while time.monotonic() < limit:
            if self._process.poll() is not None:
                return said.read_text(errors="replace")
            if listens.exists() and self._answers():
                return None
            time.sleep(0.05)
        self._stop()
        return f"no answer within {_START:.0f} s"

    def _answers(self) -> bool:
        try:
            socket.create_connection((self._host, self._port), timeout=1).close()
        except OSError:
            return False
        return True

    def wait(self, seconds: float) -> int | None:
        """Wait; return the exit code if the server ended by itself meanwhile."""
        assert self._process is not None
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def messages(self) -> str:
        """What the server complained about."""
        return (self.folder / "server/messages").read_text(errors="replace")

    def _stop(self) -> None:
        if self._process is not None:
            self._end(self._process)
            self._process = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @staticmethod
    def _end(process: subprocess.Popen[bytes]) -> None:
        process.terminate()
        try:
            process.wait(_STOP)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()


_OTHER_FOLDER = "What to do: give another folder with --dir."
