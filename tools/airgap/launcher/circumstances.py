"""What the kernel lets this process do, as far as a sandbox depends on it.

A sandbox that was seen working may fail later: in another container, for another user, after a
setting of the system was changed. So what was seen is remembered together with these.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

# Of /proc/self/status: who the process is, and what it may or may not do.
_FIELDS = ("Uid", "CapBnd", "CapEff", "NoNewPrivs", "Seccomp")
_SETTINGS = (
    "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/osrelease",
    "kernel/unprivileged_userns_clone",
    "user/max_user_namespaces",
)


def now(proc: Path = Path("/proc")) -> str:
    """One line that stays the same as long as the circumstances do."""
    fields = dict(
        line.split(":", 1) for line in _read(proc / "self/status").splitlines() if ":" in line
    )
    said = [f"{name} {fields.get(name, '').strip()}" for name in _FIELDS]
    said += [f"{name} {_read(proc / 'sys' / name).strip()}" for name in _SETTINGS]
    try:
        # A container's user namespace has a number of its own.
        said.append(str((proc / "self/ns/user").readlink()))
    except OSError:
        said.append("no user namespaces")
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def remembered(file: Path, circumstances: str) -> bool:
    """Whether the file holds them."""
    return circumstances in _read(file).splitlines()


def remember(file: Path, circumstances: str) -> None:
    """Add them to the file."""
    with file.open("a", encoding="ascii") as lines:
        lines.write(f"{circumstances}\n")


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
