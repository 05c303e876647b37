"""Outputs of two output bases, compared."""

from __future__ import annotations

from pathlib import Path

from tools.nested.outputs import differences, digests


def _outputs(base: Path, text: str = "made\n") -> Path:
    bazel_out = base / "bazel-out"
    package = bazel_out / "k8-fastbuild/bin/package"
    package.mkdir(parents=True)
    (package / "file.txt").write_text(text)
    (package / "tool").write_text("#!/bin/sh\n")
    (package / "tool").chmod(0o755)
    (package / "beside").symlink_to("file.txt")
    (base / "source.txt").write_text("a source\n")
    (package / "copied").symlink_to(base / "source.txt")
    (package / "tool.runfiles_manifest").write_text(str(base))
    forest = package / "tool.runfiles/_main"
    forest.mkdir(parents=True)
    (forest / "MANIFEST").write_text(str(base))
    (forest / "here").symlink_to(base)
    logs = bazel_out / "k8-fastbuild/testlogs/package"
    logs.mkdir(parents=True)
    (logs / "test.log").write_text(str(base))
    return bazel_out


def test_equal_builds_in_different_folders_have_no_difference(tmp_path: Path) -> None:
    one, other = digests(_outputs(tmp_path / "a")), digests(_outputs(tmp_path / "b"))
    assert differences(one, other) == []
    assert {Path(path).name for path in one} == {"beside", "copied", "file.txt", "tool"}


def test_another_content_is_told(tmp_path: Path) -> None:
    one, other = digests(_outputs(tmp_path / "a")), digests(_outputs(tmp_path / "b", "else\n"))
    assert differences(one, other) == ["k8-fastbuild/bin/package/file.txt differs"]


def test_another_executable_bit_is_told(tmp_path: Path) -> None:
    one, two = _outputs(tmp_path / "a"), _outputs(tmp_path / "b")
    (two / "k8-fastbuild/bin/package/file.txt").chmod(0o755)
    found = differences(digests(one), digests(two))
    assert found == ["k8-fastbuild/bin/package/file.txt differs"]


def test_another_target_of_a_link_is_told(tmp_path: Path) -> None:
    one, two = _outputs(tmp_path / "a"), _outputs(tmp_path / "b")
    link = two / "k8-fastbuild/bin/package/beside"
    link.unlink()
    link.symlink_to("tool")
    assert differences(digests(one), digests(two)) == ["k8-fastbuild/bin/package/beside differs"]


def test_an_output_that_only_one_has_is_told(tmp_path: Path) -> None:
    one, two = _outputs(tmp_path / "a"), _outputs(tmp_path / "b")
    (one / "k8-fastbuild/bin/package/more").write_text("")
    (two / "k8-fastbuild/bin/package/other").write_text("")
    assert differences(digests(one), digests(two)) == [
        "k8-fastbuild/bin/package/more is only in the first",
        "k8-fastbuild/bin/package/other is only in the second",
    ]
