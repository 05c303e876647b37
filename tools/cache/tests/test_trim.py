"""What is deleted to keep a cache below its limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from tools.cache.trim import trim


def _file(data: Path, name: str, size: int, used: int) -> None:
    path = data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (used, used))


def _left(data: Path) -> set[str]:
    return {str(path.relative_to(data)) for path in data.rglob("*") if path.is_file()}


def test_below_the_limit_nothing_is_deleted(tmp_path: Path) -> None:
    _file(tmp_path, "cas/a", 10, used=1)
    assert trim(tmp_path, 10) == 0
    assert _left(tmp_path) == {"cas/a"}


def test_above_the_limit_what_was_not_used_for_longest_goes(tmp_path: Path) -> None:
    _file(tmp_path, "cas/a", 4, used=3)
    _file(tmp_path, "ac/b", 4, used=1)
    _file(tmp_path, "cas/c", 4, used=2)
    assert trim(tmp_path, 9) == 4
    assert _left(tmp_path) == {"cas/a", "cas/c"}


def test_a_late_reading_counts_as_use_of_an_early_upload(tmp_path: Path) -> None:
    _file(tmp_path, "cas/read", 4, used=1)
    os.utime(tmp_path / "cas/read", (9, 1))
    _file(tmp_path, "cas/idle", 4, used=2)
    trim(tmp_path, 4)
    assert _left(tmp_path) == {"cas/read"}


def test_what_is_no_cache_is_left_alone(tmp_path: Path) -> None:
    _file(tmp_path, "thesis.tex", 9, used=1)
    _file(tmp_path, "photos/a.jpg", 9, used=1)
    _file(tmp_path, "cas/a", 9, used=2)
    assert trim(tmp_path, 0) == 9
    assert _left(tmp_path) == {"thesis.tex", "photos/a.jpg"}


def test_a_folder_that_is_not_there_has_nothing_to_delete(tmp_path: Path) -> None:
    assert trim(tmp_path / "none", 0) == 0


def test_a_machine_of_github_calls_it_on_its_disk_cache(tmp_path: Path) -> None:
    _file(tmp_path, "cas/ab/old", 4_000, used=1)
    _file(tmp_path, "cas/cd/new", 4_000, used=2)
    done = subprocess.run(
        [sys.executable, "-m", "tools.cache.trim", str(tmp_path), "0.000005"],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(tmp_path) in done.stdout
    assert _left(tmp_path) == {"cas/cd/new"}


# A busy machine's files take their time.
@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 99)), max_size=9), st.integers(0, 60))
def test_it_deletes_as_a_naive_loop_would(files: list[tuple[int, int]], limit: int) -> None:
    # The times are made different: the order of equal ones is nobody's promise.
    sizes = {f"cas/{i}": size for i, (size, _) in enumerate(files)}
    used = {f"cas/{i}": when * 10 + i for i, (_, when) in enumerate(files)}
    left = sorted(sizes, key=lambda name: used[name])
    while left and sum(sizes[name] for name in left) > limit:
        left.pop(0)
    with TemporaryDirectory() as folder:
        for name, size in sizes.items():
            _file(Path(folder), name, size, used[name])
        trim(Path(folder), limit)
        assert _left(Path(folder)) == set(left)
