"""What the kernel lets a process do: one line that changes when that does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.airgap.launcher import circumstances

STATUS = (
    "Name:\tpython3\nUid:\t0\t0\t0\t0\nCapEff:\t1ff\nCapBnd:\t1ff\nNoNewPrivs:\t0\nSeccomp:\t0\n"
)


@pytest.fixture(name="proc")
def _proc(tmp_path: Path) -> Path:
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/status").write_text(STATUS)
    (tmp_path / "self/ns/user").symlink_to("user:[4026531837]")
    (tmp_path / "sys/kernel").mkdir(parents=True)
    (tmp_path / "sys/kernel/osrelease").write_text("6.1\n")
    return tmp_path


def test_they_stay_the_same_while_nothing_that_matters_changes(proc: Path) -> None:
    before = circumstances.now(proc)
    (proc / "self/status").write_text(STATUS.replace("python3", "python3.14"))
    assert circumstances.now(proc) == before
    assert circumstances.now() == circumstances.now()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *(
            ("Uid:\t0", "Uid:\t1000"),
            ("CapEff:\t1ff", "CapEff:\t0"),
            ("CapBnd:\t1ff", "CapBnd:\t0"),
        ),
        *(("NoNewPrivs:\t0", "NoNewPrivs:\t1"), ("Seccomp:\t0", "Seccomp:\t2")),
    ],
)
def test_they_change_with_what_the_process_may_do(proc: Path, old: str, new: str) -> None:
    before = circumstances.now(proc)
    (proc / "self/status").write_text(STATUS.replace(old, new))
    assert circumstances.now(proc) != before


def test_they_change_with_the_kernel_its_settings_and_the_container(proc: Path) -> None:
    seen = [circumstances.now(proc)]
    (proc / "sys/kernel/osrelease").write_text("6.2\n")
    seen.append(circumstances.now(proc))
    (proc / "sys/kernel/unprivileged_userns_clone").write_text("0\n")
    seen.append(circumstances.now(proc))
    (proc / "self/ns/user").unlink()
    seen.append(circumstances.now(proc))
    (proc / "self/ns/user").symlink_to("user:[4026532000]")
    seen.append(circumstances.now(proc))
    assert len(set(seen)) == len(seen)


def test_several_are_remembered_and_a_file_from_before_holds_none(tmp_path: Path) -> None:
    file = tmp_path / "proven"
    assert not circumstances.remembered(file, "a")
    file.touch()
    assert not circumstances.remembered(file, "a")
    circumstances.remember(file, "a")
    circumstances.remember(file, "b")
    assert circumstances.remembered(file, "a")
    assert circumstances.remembered(file, "b")
    assert not circumstances.remembered(file, "c")
