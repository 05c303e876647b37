"""Digests of folders: everything that counts changes them, and nothing else does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from satyrn_engine.testing import tree_digest, tree_listing


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    (made / "sub").mkdir(parents=True)
    (made / "sub" / "file").write_text("text")
    (made / "link").symlink_to("sub/file")
    return made


def test_the_listing_names_every_path(folder: Path) -> None:
    assert list(tree_listing(folder)) == ["link", "sub", "sub/file"]


def test_a_folder_that_does_not_exist_is_empty(folder: Path) -> None:
    assert tree_listing(folder / "none") == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "sub" / "file").write_text("other"),
        lambda folder: (folder / "sub" / "file").rename(folder / "sub" / "renamed"),
        lambda folder: (folder / "sub" / "file").chmod(0o600),
        lambda folder: (folder / "sub" / "new").mkdir(),
        lambda folder: (folder / "link").unlink(),
        lambda folder: ((folder / "link").unlink(), (folder / "link").symlink_to("sub")),
        lambda folder: ((folder / "link").unlink(), (folder / "link").write_text("sub/file")),
    ],
)
def test_every_change_changes_the_digest(folder: Path, change: Callable[[Path], object]) -> None:
    before = tree_digest(folder)
    change(folder)
    assert tree_digest(folder) != before


def test_times_and_readings_do_not_change_the_digest(folder: Path) -> None:
    before = tree_digest(folder)
    (folder / "sub" / "file").read_text()
    os.utime(folder / "sub" / "file", (1, 1))
    assert tree_digest(folder) == before


def test_a_link_to_somewhere_else_is_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "away").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "outside").write_text("one")
    before = tree_digest(folder)
    (tmp_path / "outside").write_text("two")
    assert tree_digest(folder) == before
