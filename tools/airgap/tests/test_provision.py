"""Making the root with programs that only pretend."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.airgap.launcher import circumstances, enter, mirror, provision, sources, tools
from tools.airgap.launcher.settings import Settings
from tools.airgap.launcher.words import Problem, Progress

ROOT_USER = 0
USER = 1000

# What the pretended programs do; all of them write down how they were called.
PROGRAMS = {
    "apt-config": "",
    "apt-get": "",
    "bwrap": "",
    "mmdebstrap": """
for last; do before=$here; here=$last; done
target=$before
if [ "$target" = - ]; then
  mkdir -p "$FAKES/tree/usr/bin" && cd "$FAKES/tree" && tar c .
else
  mkdir -p "$target/usr/bin"
fi
echo "I: extracting archives..." >&2
""",
    "newuidmap": "",
    "unshare": 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"',
}


class Machine:
    """A machine with a folder of pretended programs and a cache."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fakes = folder / "fakes"
        self.fakes.mkdir()
        self.settings = Settings(folder / "ws", folder / "cache", "amd64")
        self.out = io.StringIO()
        for name, script in PROGRAMS.items():
            self.program(name, script)
        for name in ("cat", "mkdir", "rm", "sh", "tar"):
            found = shutil.which(name)
            assert found is not None
            (self.fakes / name).symlink_to(found)
        keyring = folder / "keyring.gpg"
        keyring.write_text("")
        monkeypatch.setattr(tools, "_PATH", str(self.fakes))
        monkeypatch.setattr(tools, "KEYRING", keyring)
        monkeypatch.setattr(tools, "release", lambda: "debian")
        monkeypatch.setattr(sources, "mirrors", lambda: ["http://m.example/debian"])
        monkeypatch.setattr(mirror, "probe", lambda _: "")

    def program(self, name: str, script: str) -> None:
        """Pretend a program."""
        text = f'#!/bin/sh\nFAKES={self.fakes}\necho "{name} $*" >>$FAKES/calls\n{script}\n'
        (self.fakes / name).write_text(text)
        (self.fakes / name).chmod(0o755)

    def ensure(self, uid: int = ROOT_USER) -> None:
        """Provision as a user."""
        provision.ensure(self.settings, enter.Host((), uid), Progress(self.out))

    def calls(self) -> list[str]:
        """The first words of what was run."""
        file = self.fakes / "calls"
        return [line.split()[0] for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture(name="machine")
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@pytest.mark.parametrize("uid", [ROOT_USER, USER])
def test_a_root_is_made_beside_its_place_and_renamed(machine: Machine, uid: int) -> None:
    machine.ensure(uid)
    assert (machine.settings.root / "usr/bin").is_dir()
    assert sorted(p.name for p in machine.settings.cache.iterdir()) == sorted(
        ["lock", "provision.log", machine.settings.root.name, machine.settings.proven.name]
    )
    said = machine.out.getvalue()
    assert "extracting archives" in said
    assert "ready after" in said


def test_in_other_circumstances_the_sandbox_is_tried_again_and_only_then(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.ensure()
    (machine.fakes / "calls").unlink()
    monkeypatch.setattr(circumstances, "now", lambda: "in a container")
    machine.program("bwrap", "echo 'no namespaces here' >&2; exit 1")
    with pytest.raises(Problem, match="no namespaces here"):
        machine.ensure()
    machine.program("bwrap", "")
    machine.ensure()
    (machine.fakes / "calls").unlink()
    machine.ensure()
    assert machine.calls() == []


def test_nothing_is_said_or_run_when_nothing_is_to_be_done(machine: Machine) -> None:
    machine.ensure()
    machine.out.truncate(0)
    (machine.fakes / "calls").unlink()
    machine.ensure()
    assert machine.calls() == []
    assert machine.out.getvalue().strip("\0") == ""


def test_root_has_its_mounts_in_a_namespace_that_ends_with_it(machine: Machine) -> None:
    machine.ensure()
    assert machine.calls().index("unshare") + 1 == machine.calls().index("mmdebstrap")


def test_what_failed_leaves_no_root_and_its_words_are_told(machine: Machine) -> None:
    machine.program("mmdebstrap", 'mkdir -p "$HOME"; echo "E: no space left"; exit 25')
    with pytest.raises(Problem, match="E: no space left") as caught:
        machine.ensure()
    assert "provision.log" in caught.value.remedy
    assert not machine.settings.root.exists()


def test_the_next_start_removes_what_an_interrupted_one_left(machine: Machine) -> None:
    (machine.settings.partial / "usr").mkdir(parents=True)
    machine.settings.partial.with_suffix(".partial.tar").write_text("half")
    machine.ensure()
    assert "removing what an interrupted start left behind" in machine.out.getvalue()
    assert [p.name for p in machine.settings.cache.glob("*.partial*")] == []
    assert machine.settings.root.is_dir()


def test_a_full_disk_is_said_before_anything_is_downloaded(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2_999_999_999))
    with pytest.raises(Problem, match=r"3\.0 GB free|has 3\.0 GB"):
        machine.ensure()
    assert machine.calls() == []


def test_a_kernel_without_user_namespaces_is_said_before_anything_is_downloaded(
    machine: Machine,
) -> None:
    machine.program("bwrap", 'echo "bwrap: No permissions to create new namespace" >&2; exit 1')
    with pytest.raises(Problem, match="No permissions") as caught:
        machine.ensure()
    assert "userns" in caught.value.remedy
    assert "mmdebstrap" not in machine.calls()


def test_root_installs_what_is_missing(machine: Machine) -> None:
    (machine.fakes / "mmdebstrap").unlink()
    install = """
case "$*" in *install*mmdebstrap*)
  cp "$FAKES/later" "$FAKES/mmdebstrap" || cat "$FAKES/later" >"$FAKES/mmdebstrap"
esac"""
    machine.program("later", PROGRAMS["mmdebstrap"])
    machine.program("apt-get", install)
    (machine.fakes / "cp").symlink_to(shutil.which("cp") or "/bin/cp")
    machine.ensure()
    assert machine.calls().count("apt-get") == 2
    assert machine.settings.root.is_dir()


def test_a_root_that_was_kept_gets_what_enters_it_on_a_new_machine(machine: Machine) -> None:
    machine.ensure()
    (machine.fakes / "calls").unlink()
    (machine.fakes / "bwrap").unlink()
    machine.program("apt-get", 'case "$*" in *install*bubblewrap*) cp "$0" "$FAKES/bwrap"; esac')
    (machine.fakes / "cp").symlink_to(shutil.which("cp") or "/bin/cp")
    machine.ensure()
    assert (machine.fakes / "bwrap").exists()
    assert "mmdebstrap" not in machine.calls()


def test_a_user_with_a_kept_root_is_told_what_enters_it(machine: Machine) -> None:
    machine.ensure()
    (machine.fakes / "bwrap").unlink()
    with pytest.raises(Problem, match="needs bubblewrap, which only") as caught:
        machine.ensure(USER)
    assert "apt-get install --no-install-recommends bubblewrap`" in caught.value.remedy


def test_an_installation_that_fails_names_the_command(machine: Machine) -> None:
    (machine.fakes / "mmdebstrap").unlink()
    machine.program("apt-get", "exit 100")
    with pytest.raises(Problem, match="could not be installed") as caught:
        machine.ensure()
    assert "apt-get install --no-install-recommends mmdebstrap" in caught.value.remedy


def test_a_user_is_told_what_the_administrator_must_run(machine: Machine) -> None:
    (machine.fakes / "newuidmap").unlink()
    (machine.fakes / "bwrap").unlink()
    with pytest.raises(Problem, match="only an administrator") as caught:
        machine.ensure(USER)
    assert "apt-get install --no-install-recommends bubblewrap uidmap" in caught.value.remedy
    assert machine.calls() == []


@pytest.mark.parametrize(("name", "told"), [("fedora", "is fedora, not"), ("", "is unknown, not")])
def test_another_system_is_told_to_take_bazelisk(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str, told: str
) -> None:
    monkeypatch.setattr(tools, "release", lambda: name)
    with pytest.raises(Problem, match=told) as caught:
        machine.ensure()
    assert "bazelisk" in caught.value.remedy


def test_a_system_without_apt_is_told_to_take_bazelisk(machine: Machine) -> None:
    (machine.fakes / "apt-get").unlink()
    with pytest.raises(Problem, match="not Debian") as caught:
        machine.ensure()
    assert "bazelisk" in caught.value.remedy
