"""Replacing a lock: only by one in order, in one step, and the person is told what changed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.supply import renovation
from tools.supply.renovation import Stopped, changes, replace

LOCK = "requirements_lock.txt"


def lock(**versions: str) -> str:
    return "".join(
        f"{name}=={version} --hash=sha256:{'0a' * 32}\n" for name, version in versions.items()
    )


def test_what_rose_what_came_and_what_went_is_told() -> None:
    before = lock(rose="1.0", same="2", went="3")
    after = lock(came="4", rose="1.1", same="2")
    assert changes(LOCK, before, after) == [
        "  came (none) -> 4",
        "  rose 1.0 -> 1.1",
        "  went 3 -> (none)",
    ]


def test_several_versions_of_one_package_are_one_line() -> None:
    before = '{"lockfileVersion": 3, "packages": {"node_modules/a": {"version": "1"}}}'
    after = (
        '{"lockfileVersion": 3, "packages": {"node_modules/a": {"version": "1"},'
        ' "node_modules/@b/c/node_modules/a": {"version": "2"},'
        ' "node_modules/@b/c": {"version": "5"}}}'
    )
    assert changes("package-lock.json", before, after) == ["  @b/c (none) -> 5", "  a 1 -> 1, 2"]


def test_what_is_named_must_be_there(tmp_path: Path) -> None:
    (tmp_path / LOCK).write_text(lock(a="1", b="2"))
    assert renovation.pinned(tmp_path / LOCK) == {"a", "b"}
    assert renovation.pinned(tmp_path / "none_lock.txt") == set()
    renovation.require(["a"], ["a", "b"])
    with pytest.raises(Stopped, match=r"(?s)has c, d\..*What to do: "):
        renovation.require(["d", "a", "c"], ["a", "b"])


def test_a_new_lock_takes_the_place_of_the_old_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / LOCK
    file.write_text(lock(a="1"))
    assert replace(file, LOCK, lock(a="2"))
    assert file.read_text() == lock(a="2")
    assert list(tmp_path.iterdir()) == [file]
    assert capsys.readouterr().out == f"{LOCK}:\n  a 1 -> 2\n"


def test_the_same_lock_changes_nothing_not_even_its_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / LOCK
    file.write_text(lock(a="1"))
    before = file.stat()
    assert not replace(file, LOCK, lock(a="1"))
    assert file.stat() == before
    assert capsys.readouterr().out == f"{LOCK}: nothing changed\n"


def test_the_first_lock_is_written_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replace(tmp_path / LOCK, LOCK, lock(a="1"))
    assert capsys.readouterr().out == f"{LOCK}:\n  it is new\n"


def test_other_digests_of_the_same_versions_are_told_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / LOCK
    file.write_text(lock(a="1"))
    assert replace(file, LOCK, lock(a="1").replace("0a", "0b"))
    assert capsys.readouterr().out == f"{LOCK}:\n  the same versions, other details\n"


@pytest.mark.parametrize(
    "text", ["a==1\n", lock(a="1") + "# https://host.example\n", "", "--index-url x\n"]
)
def test_a_lock_that_is_not_in_order_leaves_the_old_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / LOCK
    file.write_text(lock(a="1"))
    with pytest.raises(Stopped, match=r"\nWhat to do: [^\n]+\Z"):
        replace(file, LOCK, text)
    assert file.read_text() == lock(a="1")
    assert list(tmp_path.iterdir()) == [file]


def test_a_program_that_fails_stops_the_renovation_with_its_words(tmp_path: Path) -> None:
    code = "import sys; print('no such version', file=sys.stderr); sys.exit(3)"
    with pytest.raises(Stopped, match=r"exit code 3:\nno such version\nWhat to do: [^\n]+\Z"):
        renovation.run([sys.executable, "-c", code], tmp_path, {})


def test_a_program_that_succeeds_is_not_heard(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    renovation.run([sys.executable, "-c", "print('resolved')"], tmp_path, {})
    assert capfd.readouterr() == ("", "")


def test_outside_of_bazel_run_the_person_is_told_how_to_start_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("BUILD_WORKSPACE_DIRECTORY", raising=False)
    with pytest.raises(Stopped, match="What to do: start it there with `tools/bazel run //x:y`"):
        renovation.checkout("//x:y")
    monkeypatch.setenv("BUILD_WORKSPACE_DIRECTORY", str(tmp_path))
    assert renovation.checkout("//x:y") == tmp_path
