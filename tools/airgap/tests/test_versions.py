"""Whether the Bazel at hand will do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.airgap.launcher import versions
from tools.airgap.launcher.words import Problem


def test_the_wanted_version_is_taken_without_a_word() -> None:
    assert versions.compare((7, 7, 1), (7, 7, 1)) is None


@pytest.mark.parametrize("have", [(7, 7, 2), (7, 10, 0)])
def test_a_newer_one_of_the_same_major_version_warns_and_goes_on(have: versions.Version) -> None:
    warning = versions.compare(have, (7, 7, 1))
    assert warning is not None
    assert versions.show(have) in warning
    assert "7.7.1" in warning


@pytest.mark.parametrize("have", [(7, 7, 0), (7, 6, 9), (8, 0, 0), (6, 9, 9)])
def test_an_older_one_or_another_major_version_stops_and_says_what_to_do(
    have: versions.Version,
) -> None:
    with pytest.raises(Problem, match=r"asks for 7\.7\.1") as caught:
        versions.compare(have, (7, 7, 1))
    assert "bazelisk" in caught.value.remedy


@pytest.mark.parametrize("text", ["", "latest", "7.x", "7.7", "7.7.1rc1", "7.7.1 8.0.0"])
def test_a_version_file_that_names_no_version_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / ".bazelversion").write_text(text)
    with pytest.raises(Problem, match=r"\.bazelversion says"):
        versions.wanted(tmp_path)


def test_a_version_file_may_end_in_a_newline(tmp_path: Path) -> None:
    (tmp_path / ".bazelversion").write_text("7.7.1\n")
    assert versions.wanted(tmp_path) == (7, 7, 1)


def test_a_missing_version_file_or_label_is_named(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="bazelversion cannot be read"):
        versions.wanted(tmp_path)
    with pytest.raises(Problem, match="no usable Bazel"):
        versions.provided(tmp_path)
