"""Where everything lies, and what the private root is made of."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .words import Problem

# The oldest suite of Debian whose Bazel knows modules (Debian 12 and 13 have 4.2.3).
SUITE = "forky"

# python3-venv brings the wheel of pip that the rules download with, and a test of the linters asks
# git which files there are. What tests need of a whole machine is here too, because nothing can be
# installed later: a browser with letters to write with, the server of the build cache, and a worker
# of remote execution.
PACKAGES = (
    "bazel-bootstrap",
    "buildbox",
    "ca-certificates",
    "chromium",
    "fonts-dejavu-core",
    "git",
    "nginx-light",
    "python3-venv",
)

# Bytes: the root takes 2.1 GB, its packages 0.6 GB more while it is made, Bazel's outputs the rest.
NEEDED = 4_000_000_000

# Raise it when the same packages are put together in another way.
_RECIPE = 1

# As `uname -m` names them, and as Debian does.
_ARCHITECTURES = {"aarch64": "arm64", "amd64": "amd64", "arm64": "arm64", "x86_64": "amd64"}

INSTALL_BAZELISK = "install bazelisk (npm install --global @bazel/bazelisk) and start again"


@dataclass(frozen=True)
class Settings:
    """What one call of the launcher works with.

    Attributes:
        workspace: the checkout that this launcher belongs to.
        cache: everything that the launcher keeps; BAZEL_AIRGAP_CACHE names another folder.
        architecture: Debian's name of the processor, amd64 or arm64.
        packages: what is installed in the private root; BAZEL_AIRGAP_PACKAGES adds to it.
        mirror: BAZEL_AIRGAP_MIRROR, the only mirror to use, or None for those of apt.
        forced: whether BAZEL_AIRGAP=1 asks for the root, whatever is on PATH.
    """

    workspace: Path
    cache: Path
    architecture: str
    packages: tuple[str, ...] = PACKAGES
    mirror: str | None = None
    forced: bool = False

    @property
    def reason(self) -> str:
        """Why the private root is used."""
        return "BAZEL_AIRGAP=1" if self.forced else "no bazelisk and no bazel on PATH"

    @property
    def root(self) -> Path:
        """The private root; it exists only when it is complete."""
        recipe = "\n".join((SUITE, self.architecture, str(_RECIPE), *self.packages))
        return self.cache / f"root-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"

    @property
    def partial(self) -> Path:
        """Where the root is made, before it gets its name."""
        return self.root.with_name(self.root.name + ".partial")

    @property
    def proven(self) -> Path:
        """In which circumstances a sandbox has been seen working in the root, a line each."""
        return self.root.with_name(self.root.name + ".proven")

    @property
    def lock(self) -> Path:
        """The file that the one who makes the root holds locked."""
        return self.cache / "lock"

    @property
    def log(self) -> Path:
        """All that the programs said that made the root."""
        return self.cache / "provision.log"

    @property
    def outputs(self) -> Path:
        """Bazel's output user root."""
        return self.cache / "out"


def forced(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for the private root, whatever is on PATH."""
    return environ.get("BAZEL_AIRGAP") == "1"


def read(workspace: Path, environ: Mapping[str, str], machine: str | None = None) -> Settings:
    """The settings that the environment asks for.

    Raises:
        Problem: on a processor that Debian's Bazel is not built for here.
    """
    machine = machine or platform.machine()
    architecture = _ARCHITECTURES.get(machine)
    if architecture is None:
        raise Problem(
            f"This machine is {machine}; the private root exists for x86-64 and arm64 only.",
            INSTALL_BAZELISK + ".",
        )
    home = Path(environ.get("HOME") or "~").expanduser()
    base = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
    cache = Path(environ.get("BAZEL_AIRGAP_CACHE") or base / "bazel-airgap")
    return Settings(
        workspace=workspace,
        cache=cache.absolute(),
        architecture=architecture,
        packages=PACKAGES + tuple(environ.get("BAZEL_AIRGAP_PACKAGES", "").split()),
        mirror=environ.get("BAZEL_AIRGAP_MIRROR") or None,
        forced=forced(environ),
    )
