"""A mirror that carries the suite which the private root is made of."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from . import tools
from .settings import INSTALL_BAZELISK, SUITE
from .words import Problem

# Seconds until a mirror that does not answer counts as out of reach.
_TIMEOUT = 15


def choose(candidates: Sequence[str], probe: Callable[[str], str]) -> str:
    """The first of the mirrors that carries the suite.

    Args:
        candidates: their addresses.
        probe: returns an empty string for a mirror that does, or why not, as a sentence.

    Raises:
        Problem: when none does.
    """
    remedy = (
        f"set BAZEL_AIRGAP_MIRROR to the address of a mirror of Debian that carries {SUITE},"
        f" or {INSTALL_BAZELISK}."
    )
    if not candidates:
        raise Problem("The apt sources of this machine name no mirror of Debian.", remedy)
    reasons = []
    for candidate in candidates:
        reason = probe(candidate)
        if not reason:
            return candidate
        reasons.append(reason)
    raise Problem("\n".join(reasons), remedy)


def probe(address: str) -> str:
    """Ask a mirror for the suite's release file, the way apt does (its proxies, its timeouts)."""
    helper = "/usr/lib/apt/apt-helper"
    url = f"{address}/dists/{SUITE}/InRelease"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "InRelease")
        done = tools.ask(
            [
                helper,
                *("-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=1"),
                *("-o", f"Acquire::http::Timeout={_TIMEOUT}"),
                *("-o", f"Acquire::https::Timeout={_TIMEOUT}"),
                *("download-file", url, str(file)),
            ]
        )
        said = done.stdout + done.stderr
        if done.returncode == 0 and file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            return "" if "\nOrigin: Debian\n" in text else f"{address} is not a mirror of Debian."
    if "404" in said or "File not found" in said:
        return f"The mirror {address} does not carry Debian {SUITE}."
    errors = [line[3:] for line in said.splitlines() if line.startswith("E: ")]
    return f"The mirror {address} cannot be reached ({'; '.join(errors[:1]) or 'no answer'})."
