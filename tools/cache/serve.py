"""Serve a build cache from this machine until Ctrl-C: `tools/bazel run //tools/cache:serve`."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.cache.server import CacheServer, CannotServe
from tools.cache.trim import GIGABYTE, trim
from tools.ending import end_by_signals

# Seconds between two looks at the size.
_LOOK = 60.0
# The same every time, because addresses are written into user.bazelrc. IANA gives it to nobody.
_PORT = 8427
# A cache of one's own is written as well as read.
_USE = ("--config=remote-cache", "--remote_upload_local_results")


def default_folder(environ: Mapping[str, str]) -> Path:
    """Where the cache lies unless `--dir` says otherwise: in the user's folder of caches."""
    base = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME") or "~").expanduser() / ".cache"
    return Path(base, "satyrn-build-cache")


def _folder(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("it is empty; name a folder")
    # A shell leaves the tilde of --dir=~/cache as it is.
    return Path(text).expanduser()


def _gigabytes(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no number of gigabytes above 0")
    return number


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        prog="tools/bazel run //tools/cache:serve --", description=__doc__
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address (default: %(default)s)")
    parser.add_argument(
        "--port", type=int, default=_PORT, help="0 takes a free one (default: %(default)s)"
    )
    parser.add_argument(
        "--dir", type=_folder, help="where the cache lies (default: the user's folder of caches)"
    )
    parser.add_argument(
        "--limit",
        type=_gigabytes,
        default=10.0,
        help="gigabytes to keep at most (default: %(default)s)",
    )
    return parser.parse_args(arguments)


def main() -> int:
    """Serve; return 0 after Ctrl-C, and 1 when the server doesn't start or ends by itself."""
    options = parse(sys.argv[1:])
    # A relative folder is its user's, not one of the runfiles.
    here = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    folder = here / options.dir if options.dir else default_folder(os.environ)
    end_by_signals()
    try:
        with CacheServer(folder, options.host, options.port) as server:
            limit = int(options.limit * GIGABYTE)
            trim(server.data, limit)
            _tell(server, options.limit)
            while server.wait(_LOOK) is None:
                trim(server.data, limit)
            print(f"nginx ended by itself:\n{server.messages()}", file=sys.stderr)
            return 1
    except CannotServe as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("The build cache has ended; what it holds stays for the next time.")
        return 0


def _tell(server: CacheServer, limit: float) -> None:
    print(f"The build cache is at {server.address}; it keeps at most {limit:g} GB in")
    print(f"{server.folder} (delete that folder to clear it). To use it:")
    print()
    print(f"  tools/bazel test //... {' '.join(_USE)} --remote_cache={server.address}")
    print()
    print("or, for every command of this checkout, these lines in user.bazelrc:")
    print()
    for option in _USE:
        print(f"  common {option}")
    print(f"  common --remote_cache={server.address}")
    print()
    print("Ctrl-C ends it.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
