"""The private root as a program sees it: bubblewrap's arguments.

What was tried (bubblewrap 0.8, Linux 6, as root and as a user), and what broke without it:

- `/proc` and `/sys` must be the machine's own, whole and visible: the kernel lets Bazel's
  linux-sandbox mount its own in a new namespace only where they are ("mount /proc: Operation not
  permitted", "mount /sys: No such file or directory"). `/sys` may be read-only; `/proc` may not,
  as the sandbox writes its own /proc/self/uid_map.
- No PID namespace: the client looks for its server by number, across calls.
- No network namespace: npm and pip download from here. The sandbox makes its own for the tests.
- A chroot instead of bubblewrap forbids user namespaces, and with them the sandbox.
- Capabilities: none for a user. Root needs CAP_SETFCAP, without which the kernel (5.12 and later)
  refuses to map user 0 into the sandbox ("uid_map: Operation not permitted"). It also gets
  CAP_DAC_OVERRIDE, so that root can write in a checkout that belongs to somebody else; this one
  was not tried without.
- `/dev` is bubblewrap's own few devices. Its `/dev/shm` is memory that only this Bazel sees, so
  the small one that containers have does not limit the sandboxes that lie there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import tools
from .environment import BUNDLE
from .settings import INSTALL_BAZELISK, Settings
from .words import Problem

# Folders of `/` that are a system's: the private root brings its own, or it needs none.
_LINKED = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
_SYSTEM = frozenset(
    (*_LINKED, "boot", "dev", "etc", "init", "lost+found", "proc", "run", "sys", "usr", "var")
)
# The machine's own names, users and time, where the root has a file to put them on.
_SHARED_FILES = ("group", "hostname", "hosts", "localtime", "passwd", "resolv.conf")


# Everybody's folders for passing files.
TEMPORARY = "/tmp"
_LASTING = "/var/tmp"


@dataclass(frozen=True)
class Host:
    """What there is on the machine, as far as the view of the root depends on it.

    Attributes:
        folders: what lies in `/`: for each name, where a symbolic link points, or None for a
            real folder.
        uid: the user.
        bundle: the file of certificates that the machine trusts.
    """

    folders: tuple[tuple[str, str | None], ...]
    uid: int
    bundle: Path | None = None

    @staticmethod
    def look(bundle: Path | None) -> Host:
        """This machine."""
        folders = [
            (entry.name, str(Path(entry.path).readlink()) if entry.is_symlink() else None)
            for entry in sorted(os.scandir("/"), key=lambda each: each.name)
            if entry.is_dir() and entry.name not in _SYSTEM
        ]
        return Host(tuple(folders), os.getuid(), bundle)


def command(
    settings: Settings, host: Host, inner: Sequence[str], *, bwrap: str, cwd: Path, root: Path
) -> list[str]:
    """The command that runs `inner` in the private root.

    Raises:
        Problem: when a folder that must be seen lies where the root's own system is.
    """
    arguments = [bwrap]
    for name in ("etc", "usr"):
        arguments += ["--ro-bind", str(root / name), f"/{name}"]
    for name in _LINKED:
        if (root / "usr" / name).is_dir():
            arguments += ["--symlink", f"usr/{name}", f"/{name}"]
    arguments += ["--bind", "/proc", "/proc", "--ro-bind", "/sys", "/sys", "--dev", "/dev"]
    arguments += ["--dir", "/run", "--dir", "/var", "--dir", TEMPORARY]
    arguments += ["--bind-try", _LASTING, _LASTING]
    arguments += _own_folders(host, (settings.workspace, settings.cache, cwd))
    arguments += _shared_files(host, root)
    arguments += ["--cap-drop", "ALL"]
    if host.uid == 0:
        arguments += ["--cap-add", "CAP_SETFCAP", "--cap-add", "CAP_DAC_OVERRIDE"]
    return [*arguments, "--chdir", str(cwd), "--", *inner]


def _own_folders(host: Host, needed: Iterable[Path]) -> list[str]:
    arguments = []
    bound = [Path(_LASTING)]
    for name, link in host.folders:
        bound.append(Path("/", name))
        if link is None:
            arguments += ["--bind", f"/{name}", f"/{name}"]
        else:
            arguments += ["--symlink", link, f"/{name}"]
    # These may lie where nothing was bound yet, below /var for instance.
    for path in sorted(set(needed), key=lambda each: len(each.parts)):
        if _below(path, bound):
            continue
        if path.parts[1:2] and path.parts[1] in _SYSTEM - {"run", "var"}:
            raise Problem(
                f"{path} lies in a folder of the system, which the private root replaces.",
                "move it to a home folder, /srv or /opt.",
            )
        bound.append(path)
        arguments += ["--bind", str(path), str(path)]
    return arguments


def _shared_files(host: Host, root: Path) -> list[str]:
    arguments = []
    for name in _SHARED_FILES:
        # Through its links: resolv.conf often points into /run.
        real, own = Path("/etc", name).resolve(), root / "etc" / name
        if real.is_file() and own.is_file() and not own.is_symlink():
            arguments += ["--ro-bind", str(real), f"/etc/{name}"]
    if host.bundle is not None:
        arguments += ["--ro-bind", str(host.bundle.resolve()), BUNDLE]
    return arguments


def bazel(settings: Settings, arguments: Iterable[str]) -> list[str]:
    """The command of Bazel itself, inside."""
    return [
        "/usr/bin/bazel",
        f"--bazelrc={settings.workspace}/tools/airgap/airgap.bazelrc",
        f"--output_user_root={settings.outputs}",
        # A server keeps the root that it was started in: with another root, Bazel starts another.
        f"--host_jvm_args=-Dairgap.root={settings.root.name}",
        *arguments,
    ]


def prove(settings: Settings, host: Host, bwrap: str) -> None:
    """Run nothing in Bazel's sandbox, without network, as an action of a build runs.

    Raises:
        Problem: when the kernel does not allow it.
    """
    sandbox = ["/usr/share/bazel/linux-sandbox", "-N", "-w", TEMPORARY, "--", "/bin/true"]
    cwd, root = settings.cache, settings.root
    done = tools.ask(command(settings, host, sandbox, bwrap=bwrap, cwd=cwd, root=root))
    if done.returncode:
        raise refused(done.stderr.strip())


def try_namespaces() -> None:
    """Run nothing on the machine's own root, as bubblewrap would in the private one.

    Raises:
        Problem: when the kernel does not allow it.
    """
    bwrap = tools.find("bwrap") or "bwrap"
    done = tools.ask([bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--", "/bin/true"])
    if done.returncode:
        raise refused(done.stderr.strip())


def refused(said: str) -> Problem:
    """The problem that the kernel does not allow what bubblewrap or the sandbox needs."""
    return Problem(
        "This system lets no program make user namespaces or mounts, which Bazel's sandbox"
        f" consists of.\n  {said}",
        "on a machine: `sysctl kernel.unprivileged_userns_clone=1` (and"
        " `kernel.apparmor_restrict_unprivileged_userns=0` where that exists), as root; in a"
        " container: start it with `--privileged`, or with `--security-opt seccomp=unconfined"
        f" --security-opt systempaths=unconfined --cap-add SYS_ADMIN`; or {INSTALL_BAZELISK}.",
    )


def _below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path == folder or folder in path.parents for folder in folders)
