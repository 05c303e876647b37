"""Making the private root: beside its place, and renamed when it is complete."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from . import children, circumstances, enter, mirror, sources, tools
from .locking import exclusive
from .narration import Narration
from .settings import INSTALL_BAZELISK, NEEDED, SUITE, Settings
from .words import Problem, Progress, size

# Nobody reads manuals in there; copyright files stay. The whole is written out once, at the end.
_DPKG_OPTIONS = (
    "force-unsafe-io",
    # Only the files: update-alternatives fails where a folder of manuals is missing.
    "path-exclude=/usr/share/man/*.gz",
    "path-exclude=/usr/share/locale/*/LC_MESSAGES/*",
    "path-exclude=/usr/share/doc/*/*",
    "path-include=/usr/share/doc/*/copyright",
)


def ensure(settings: Settings, host: enter.Host, progress: Progress) -> None:
    """See to it that the private root is there and works; silent when it is.

    Raises:
        Problem: when it cannot be made, or no sandbox works in it.
        children.Interrupted: when a signal asks to stop; nothing half-made is used afterwards.
    """
    made = settings.root.is_dir()
    known = made and circumstances.remembered(settings.proven, circumstances.now())
    # A root may be kept where the machine around it is new.
    if known and tools.find("bwrap") is not None:
        return
    if not made:
        tools.require_debian(settings.mirror, settings.reason)
    try:
        settings.cache.mkdir(parents=True, exist_ok=True)
        lock = exclusive(
            settings.lock,
            lambda holder: progress.note(
                f"waiting for {holder}, which is preparing {settings.root}"
            ),
        )
    except OSError as error:
        raise _unwritable(settings, error) from None
    with children.interruptible(), lock as held:
        _Maker(settings, host, progress, held).ensure()


def _unwritable(settings: Settings, error: OSError) -> Problem:
    return Problem(
        f"The cache {settings.cache} cannot be written ({error.strerror}).",
        "set BAZEL_AIRGAP_CACHE to a folder that you can write.",
    )


class _Maker:
    """One run of the provisioning, while the lock is held."""

    def __init__(self, settings: Settings, host: enter.Host, progress: Progress, held: int) -> None:
        self._settings = settings
        self._host = host
        self._progress = progress
        self._held = held

    def ensure(self) -> None:
        settings = self._settings
        if not settings.root.is_dir():
            settings.log.write_bytes(b"")
            self._remove_leftovers()
            self._check_disk()
            self._progress.note(
                f"preparing Bazel from Debian {SUITE} in {settings.cache},"
                " once (a minute or two, 2 GB)"
            )
            self._install(tools.missing(self._host.uid))
            # It is known before a minute is spent.
            enter.try_namespaces()
            self._make()
        elif tools.find("bwrap") is None:
            settings.log.write_bytes(b"")
            self._install(["bubblewrap"])
        if not circumstances.remembered(settings.proven, circumstances.now()):
            self._prove()
            if self._progress.elapsed():
                self._progress.note(f"ready after {self._progress.elapsed():.0f} s")

    def _remove_leftovers(self) -> None:
        leftovers = sorted(self._settings.cache.glob("root-*.partial*"))
        if leftovers:
            self._progress.note("removing what an interrupted start left behind")
        for leftover in leftovers:
            # Never into what may be mounted in there.
            if self._run(["rm", "-rf", "--one-file-system", "--", str(leftover)]):
                raise self._failed(
                    f"{leftover}, which an interrupted start left behind, cannot be removed.",
                    "unmount what `mount` shows in it and delete it",
                )

    def _check_disk(self) -> None:
        free = shutil.disk_usage(self._settings.cache).free
        if free < NEEDED:
            raise Problem(
                f"{self._settings.cache} has {size(free)} free;"
                f" the private root and Bazel's outputs need {size(NEEDED)}.",
                "free some space, or set BAZEL_AIRGAP_CACHE to a folder on another disk.",
            )

    def _install(self, packages: list[str]) -> None:
        if not packages:
            return
        install = f"apt-get install --no-install-recommends {' '.join(packages)}"
        if self._host.uid != 0:
            raise Problem(
                f"The private root needs {' and '.join(packages)}, which only an"
                " administrator can install. Everything works without them where bazelisk does.",
                f"ask the administrator to run `{install}`, or {INSTALL_BAZELISK}.",
            )
        self._progress.stage("reading the package lists")
        # A third party's list may fail; whether Debian's came is seen when installing.
        self._run(["apt-get", "update", "--quiet"])
        self._progress.stage(f"installing {' and '.join(packages)}")
        # An installation that was cut short before would stop this one.
        self._run(["dpkg", "--configure", "--pending"])
        status = self._run([*install.split(), "--yes", "--quiet"])
        if status or set(packages) & set(tools.missing(self._host.uid)):
            raise self._failed(
                f"Debian's {' and '.join(packages)} could not be installed.",
                f"run `{install}` to see why",
            )

    def _make(self) -> None:
        settings, partial = self._settings, self._settings.partial
        self._progress.stage("looking for a mirror of Debian")
        listed = [settings.mirror] if settings.mirror else sources.mirrors()
        address = mirror.choose(listed, mirror.probe)
        self._progress.stage(f"making the root from {address}")
        command = [
            "mmdebstrap",
            # Its default keeps to itself what apt says until something fails.
            "--verbose",
            "--variant=apt",
            "--components=main",
            f"--architectures={settings.architecture}",
            # The suite's release file may be older than its own limit on a mirror.
            '--aptopt=Acquire::Check-Valid-Until "false"',
            *self._proxies(),
            *(f"--dpkgopt={option}" for option in _DPKG_OPTIONS),
            f"--keyring={tools.KEYRING}",
            f"--include={','.join(settings.packages)}",
            SUITE,
        ]
        if self._host.uid == 0:
            # In its own mount namespace: what it mounts goes with it, however it ends.
            private = ["unshare", "--mount", "--propagation", "private", "--"]
            status = self._run([*private, *command, str(partial), address], told=True)
        else:
            status = self._make_as_user([*command, "-", address], partial)
        if status:
            raise self._failed("mmdebstrap could not make the private root.", "see what it said")
        # Nothing is installed in it later.
        for rest in ("etc/apt/sources.list.d", "var/cache/apt", "var/lib/apt/lists"):
            shutil.rmtree(partial / rest, ignore_errors=True)
        os.sync()
        partial.rename(settings.root)

    def _make_as_user(self, command: list[str], partial: Path) -> int:
        # By way of an archive, so that every file belongs to the user and can be deleted again.
        partial.mkdir()
        archive = partial.with_name(partial.name + ".tar")
        with archive.open("wb") as out:
            status = self._run(command, told=True, stdout=out)
        if not status:
            self._progress.stage("unpacking it")
            status = self._run(
                [
                    *("tar", "--extract", f"--file={archive}", f"--directory={partial}"),
                    *("--no-same-owner", "--exclude=./dev/*"),
                ]
            )
        archive.unlink()
        return status

    def _prove(self) -> None:
        self._progress.stage("trying a sandbox in it")
        enter.prove(self._settings, self._host, tools.find("bwrap") or "bwrap")
        circumstances.remember(self._settings.proven, circumstances.now())

    def _proxies(self) -> list[str]:
        # mmdebstrap reads none of the machine's configuration of apt.
        options = []
        for scheme in ("http", "https"):
            name = f"Acquire::{scheme}::Proxy"
            shown = tools.ask(["apt-config", "shell", "PROXY", name]).stdout.strip()
            if shown.startswith("PROXY='"):
                options.append(f'--aptopt={name} "{shown[len("PROXY=") :].strip(chr(39))}"')
        return options

    def _run(self, command: list[str], *, told: bool = False, stdout: object = None) -> int:
        program = tools.find(command[0])
        if program is None:
            return 127
        return children.run(
            [program, *command[1:]],
            self._settings.log,
            held=self._held,
            heard=Narration(self._progress).hear if told else _ignore,
            idle=self._progress.tick,
            environ=tools.environ(),
            stdout=stdout,  # type: ignore[arg-type]
        )

    def _failed(self, what: str, remedy: str) -> Problem:
        log = self._settings.log
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        errors = [line for line in lines if line.startswith(("E: ", "E:", "dpkg: error"))]
        told = "\n".join(f"  {line}" for line in (errors or lines)[-5:])
        return Problem(
            f"{what}\n{told}", f"{remedy} (everything it said is in {log}), and start again."
        )


def _ignore(_line: str) -> None:
    pass
