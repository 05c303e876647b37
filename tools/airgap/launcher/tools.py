"""The programs of the machine that make and enter the private root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from .settings import INSTALL_BAZELISK
from .words import Problem

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# A caller's PATH, and that of cron or `env -i`, may lack the folders of the system.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def find(name: str) -> str | None:
    """Where a program of the system is."""
    return shutil.which(name, path=_PATH)


def environ() -> dict[str, str]:
    """The environment for the programs of the system: nothing of the caller's but proxies."""
    proxies = {k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")}
    return {
        **proxies,
        "DEBIAN_FRONTEND": "noninteractive",
        "HOME": os.environ.get("HOME", "/"),
        "LC_ALL": "C.UTF-8",
        "PATH": _PATH,
    }


def ask(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a program of the system that answers at once, and return what it said."""
    program = find(command[0])
    if program is None:
        return subprocess.CompletedProcess(command, 127, "", f"{command[0]} is not installed")
    return subprocess.run(
        [program, *command[1:]],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env=environ(),
        check=False,
    )


def missing(uid: int) -> list[str]:
    """The packages that are not installed and that making the root needs."""
    needed = {"bwrap": "bubblewrap", "mmdebstrap": "mmdebstrap"}
    if uid != 0:
        # mmdebstrap without root maps a range of user numbers.
        needed["newuidmap"] = "uidmap"
    packages = [package for program, package in needed.items() if find(program) is None]
    if not KEYRING.is_file():
        packages.append("debian-archive-keyring")
    return packages


def release(file: Path = Path("/etc/os-release")) -> str:
    """The distribution's own short name, such as `debian`; empty when it has none."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    fields = dict(line.split("=", 1) for line in lines if "=" in line)
    return fields.get("ID", "").strip("\"'")


def require_debian(mirror: str | None, reason: str) -> None:
    """Raise a problem where no private root can be made.

    Args:
        mirror: the only mirror to use, or None for those of apt.
        reason: why there has to be a root.

    Raises:
        Problem: on another system than Debian.
    """
    name = release()
    if find("apt-get") is None:
        raise Problem(
            f"A private root is needed ({reason}), and can't be made, because this is not Debian"
            f" ({name or 'another system'}).",
            f"{INSTALL_BAZELISK}, without BAZEL_AIRGAP.",
        )
    if name != "debian" and mirror is None:
        raise Problem(
            f"A private root is needed ({reason}), and this is {name or 'unknown'}, not"
            " Debian: its apt sources name no mirror of Debian.",
            f"{INSTALL_BAZELISK}, without BAZEL_AIRGAP; or set BAZEL_AIRGAP_MIRROR to the"
            " address of a mirror of Debian.",
        )
