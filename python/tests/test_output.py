"""Where findings go: what is written, what is refused, and what is left alone."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from satyrn_engine import cli
from satyrn_engine._output import check_output, open_output
from satyrn_engine._sources import STDIN, find_sources
from satyrn_engine.errors import ConfigError, SourceError


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    with open_output(path) as file:
        file.write(b"all of it")
        assert not path.exists()
    assert [*tmp_path.iterdir()] == [path]
    with pytest.raises(ZeroDivisionError), open_output(path) as file:
        file.write(b"half" * (1 // 0))
    assert path.read_bytes() == b"all of it"
    assert [*tmp_path.iterdir()] == [path]


def test_what_a_link_leads_to_is_written_and_the_link_stays(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to(target)
    with open_output(link) as file:
        file.write(b"x")
    assert link.is_symlink()
    assert target.read_bytes() == b"x"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    check_output("--output", pipe)
    with open_output(pipe) as file:
        file.write(b"through")
    reader.join(30)
    assert read == [b"through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("path", [None, Path(STDIN)])
def test_a_hyphen_or_nothing_is_standard_output(
    path: Path | None, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    check_output("--output", path)
    with open_output(path) as file:
        file.write(b"seen")
    assert capfdbinary.readouterr().out == b"seen"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".", "is a folder; name a file in it"),
        ("gone/out.csv", "its folder does not exist"),
        ("labels.tsv", "is among what is read"),
        ("sessions/a.jsonl", "is among what is read"),
    ],
)
def test_what_cannot_be_written_or_would_be_lost_is_refused(
    path: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "sessions").mkdir()
    inputs = [tmp_path / "labels.tsv", tmp_path / "sessions"]
    for file in (tmp_path / "labels.tsv", tmp_path / "sessions" / "a.jsonl"):
        file.write_text("kept")
    with pytest.raises(ConfigError, match=said):
        check_output("--output", tmp_path / path, inputs)


def test_a_new_file_and_an_earlier_output_are_written(tmp_path: Path) -> None:
    (tmp_path / "loops.csv").write_text("earlier")
    for name in ("loops.csv", "new.jsonl"):
        check_output("--output", tmp_path / name, [tmp_path])


@pytest.mark.parametrize("command", ["scan", "fixture", "tune"])
def test_no_command_overwrites_what_it_reads(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = tmp_path / "session.jsonl"
    session.write_text("kept")
    (tmp_path / "labels.tsv").write_text("session\tlabel\nsession.jsonl\tloop\n")
    labels = ["--labels", str(tmp_path / "labels.tsv")] if command == "tune" else []
    assert cli.main([command, str(session), "--output", str(session), *labels]) == 2
    assert "would be lost" in " ".join(capsys.readouterr().err.split())
    assert session.read_text() == "kept"


def test_a_folder_that_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "closed").mkdir()
    listed = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = [*find_sources([str(tmp_path)], tmp_path)]
    assert [isinstance(each, SourceError) for each in found] == [False, True]
    assert str(found[1]) == f"{tmp_path}/closed: cannot be listed (Permission denied)"
