"""Reading: files of every version and kind, whole, cut and broken."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from satyrn_engine import _records
from satyrn_engine._records import Broken, Line, read_lines
from satyrn_engine._sources import Source, find_sources
from satyrn_engine.errors import SourceError
from satyrn_engine.reports import SessionReport, Skipped
from tests.scanning import Recorder, report_of, scan
from tests.sessions import (
    Entry,
    answer,
    as_stream,
    as_v1,
    call,
    chain,
    header,
    lines,
    repeated,
    result,
    turn,
    user,
    write,
)

MESSAGES = [user(), *turn("bash", command="ls"), *turn("read", path="a"), answer(stop="stop")]

WRITTEN: dict[str, list[Entry]] = {
    "version 3": [header(), *chain(MESSAGES)],
    "version 2": [header(2), *chain(MESSAGES)],
    "version 1": [header(None), *as_v1(MESSAGES)],
    "a stream": [header(), *as_stream(MESSAGES)],
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_every_version_tells_the_same_session(tmp_path: Path, kind: str) -> None:
    recorder = Recorder()
    report = report_of(write(tmp_path / "s.jsonl", WRITTEN[kind]), recorder)
    assert recorder.calls(0) == ["bash", "read"]
    assert (report.prompts, report.turns, report.calls, report.branches) == (1, 3, 2, 1)
    assert (report.tokens, report.cost) == (30, 1.5)
    assert report.version == {"version 2": 2, "version 1": 1}.get(kind, 3)


def test_a_file_may_hold_several_sessions(tmp_path: Path) -> None:
    entries = [header(id="a"), *chain(MESSAGES), header(id="b"), *as_v1(MESSAGES)]
    found = scan(write(tmp_path / "s.jsonl", entries))
    assert [(each.session, each.calls) for each in found if isinstance(each, SessionReport)] == [
        ("a", 2),
        ("b", 2),
    ]


def test_a_session_without_its_header_is_counted(tmp_path: Path) -> None:
    report = report_of(write(tmp_path / "s.jsonl", chain(MESSAGES)))
    assert (report.session, report.version, report.calls) == ("", 0, 2)


def _zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return bytes(zstd.compress(data))


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("zst", _zstd)])
def test_compressed_files_are_read(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / f"s.jsonl.{suffix}"
    path.write_bytes(pack(lines(WRITTEN["version 3"])))
    assert report_of(path).calls == 2


def test_a_branched_session_is_read_again_from_a_compressed_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    entries = [header(), *chain(MESSAGES), *chain(turn("find"), parent="e0", prefix="b")]
    path.write_bytes(gzip.compress(lines(entries)))
    assert report_of(path).calls == 3


def test_what_stands_before_the_cut_of_a_compressed_file_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl.gz"
    many = [header(), *chain(repeated(400, command="x" * 50))]
    whole = gzip.compress(lines(many), compresslevel=0)
    path.write_bytes(whole[: len(whole) * 3 // 4])
    report, skipped = scan(path)
    assert isinstance(report, SessionReport)
    assert isinstance(skipped, Skipped)
    assert 200 < report.calls < 400
    assert skipped.reason.startswith("cannot be read to its end")


def test_a_broken_line_is_counted_and_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, *rest = WRITTEN["version 3"]
    path.write_bytes(lines([first]) + b'{"type": "message", "id"\n\n' + lines(rest))
    report = report_of(path)
    assert (report.calls, report.broken) == (2, 1)
    assert report.broken_lines[0].line == 2
    assert report.broken_lines[0].reason.startswith("not JSON: ")


def test_an_unknown_entry_is_no_broken_line(tmp_path: Path) -> None:
    odd = {"type": "from_the_future", "message": "text", "usage": [], "provider": 7}
    report = report_of(write(tmp_path / "s.jsonl", [*WRITTEN["version 3"], odd]))
    assert (report.calls, report.broken) == (2, 0)


def test_a_known_entry_of_the_wrong_shape_is_a_broken_line(tmp_path: Path) -> None:
    odd = {"type": "message", "id": "x", "message": "text"}
    report = report_of(write(tmp_path / "s.jsonl", [*WRITTEN["version 3"], odd]))
    assert (report.calls, report.broken) == (2, 1)


def test_lines_end_at_line_feeds_alone(tmp_path: Path) -> None:
    odd = turn("bash", command="a\u2028b\x85c")
    text = json.dumps(chain(odd)[0], ensure_ascii=False)
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines([header()]) + text.encode() + b"\r\n")
    assert report_of(path).calls == 1


def test_a_line_that_is_too_long_is_skipped_without_being_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_records, "MAX_LINE", 100)
    monkeypatch.setattr(_records, "CHUNK", 16)
    data = lines([header()]) + b'"' + b"x" * 1000 + b'"\n' + b'{"type":"session"}\n'
    first, second, third = read_lines(io.BytesIO(data))
    assert isinstance(first, Line)
    assert isinstance(second, Broken)
    assert (second.line, second.reason) == (2, "longer than 0 MiB")
    assert isinstance(third, Line)
    assert data[third.offset :].startswith(third.data)


@given(st.lists(st.binary(max_size=40), max_size=12), st.integers(1, 50))
def test_lines_are_cut_the_same_however_they_are_read(parts: list[bytes], chunk: int) -> None:
    data = b"\n".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_records, "CHUNK", chunk)
        numbers = [each.number if isinstance(each, Line) else each.line for each in _read(data)]
    naive = [n for n, part in enumerate(data.split(b"\n"), 1) if part and not part.isspace()]
    assert numbers == naive


def _read(data: bytes) -> list[Line | Broken]:
    return list(read_lines(io.BytesIO(data)))


ODD = st.one_of(
    st.binary(max_size=30).map(lambda data: data.replace(b"\n", b"") + b"\n"),
    st.sampled_from(
        [
            b'{"type":"label","id":"l1","parentId":null,"targetId":"e0"}',
            b'{"type":"custom","customType":"x","data":[[[]]]}',
            b'{"type":"message"}',
            b'{"type":"message","id":7}',
            b'{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall"',
            b'{"type":"toString","id":"__proto__","parentId":"__proto__"}',
            b"[" * 3000,
            b"\xff\xfe",
            b"null",
        ]
    ).map(lambda line: line + b"\n"),
)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_what_is_broken_never_changes_the_counts_of_what_is_intact(
    tmp_path: Path, data: st.DataObject
) -> None:
    kind = data.draw(st.sampled_from(sorted(WRITTEN)))
    intact = [lines([entry]) for entry in WRITTEN[kind]]
    mixed = [intact[0]]
    for line in intact[1:]:
        # Odd entries without an id and of a known type do not count either.
        mixed += [*data.draw(st.lists(ODD, max_size=2)), line]
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(mixed))
    report = report_of(path)
    assert (report.calls, report.prompts, report.turns) == (2, 1, 3)
    assert (report.tokens, report.rejected, report.unclear) == (30, 0, 0)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_cut_file_counts_what_stands_before_the_cut(tmp_path: Path, data: st.DataObject) -> None:
    whole = lines(WRITTEN[data.draw(st.sampled_from(sorted(WRITTEN)))])
    end = data.draw(st.integers(0, len(whole)))
    path = tmp_path / "s.jsonl"
    path.write_bytes(whole[:end])
    found = [each for each in scan(path) if isinstance(each, SessionReport)]
    path.write_bytes(whole[: whole[:end].rfind(b"\n") + 1])
    expected = [each for each in scan(path) if isinstance(each, SessionReport)]
    if expected:
        assert [(r.calls, r.turns, r.tokens) for r in found] in (
            [(r.calls, r.turns, r.tokens) for r in expected],
            # The cut may fall right before the line feed.
            [(r.calls, r.turns, r.tokens) for r in scan(_with_line_feed(path, whole[:end]))],  # type: ignore[union-attr]
        )


def _with_line_feed(path: Path, data: bytes) -> Path:
    path.write_bytes(data + b"\n")
    return path


@pytest.mark.parametrize(
    ("text", "more", "outcome"),
    [
        ("done", {}, "reached"),
        ("Command exited with code 1", {"is_error": True}, "reached"),
        ("The call was refused by a guard", {"is_error": True, "details": {}}, "reached"),
        ('Validation failed for tool "bash":\n  - command', {"is_error": True}, "rejected"),
        ('Invalid arguments for tool "bash": x', {"is_error": True}, "rejected"),
        ("Tool bash not found", {"is_error": True}, "rejected"),
        (
            'Tool call "bash" was not executed: the response hit the output token limit, so',
            {"is_error": True},
            "rejected",
        ),
        ("Operation aborted", {"is_error": True}, "unclear"),
        # A tool that ran may say anything.
        ("Tool bash not found", {"is_error": True, "durationMs": 12}, "reached"),
        ("Operation aborted", {"is_error": True, "durationMs": 0}, "reached"),
        ("Tool bash not found", {}, "reached"),
        ("Tool bash not found in that list", {"is_error": True}, "reached"),
    ],
)
def test_what_became_of_a_call_is_told_from_its_result(
    tmp_path: Path, text: str, more: dict[str, object], outcome: str
) -> None:
    entries = [header(), *chain([answer(call()), result("c1", text, **more)])]  # type: ignore[arg-type]
    report = report_of(write(tmp_path / "s.jsonl", entries))
    counts = {"rejected": report.rejected, "unclear": report.unclear}
    assert report.calls == 1
    assert counts == {name: int(name == outcome) for name in counts}


def test_a_call_in_an_answer_that_failed_has_no_clear_outcome(tmp_path: Path) -> None:
    entries = [header(), *chain([answer(call(), stop="error"), user()])]
    report = report_of(write(tmp_path / "s.jsonl", entries))
    assert (report.calls, report.unclear) == (1, 1)


def test_results_are_paired_within_their_own_answer(tmp_path: Path) -> None:
    bad = result("c1", "Tool bash not found", is_error=True)
    entries = chain([answer(call()), bad, answer(call()), result("c1")])
    report = report_of(write(tmp_path / "s.jsonl", [header(), *entries]))
    assert (report.calls, report.rejected, report.unclear) == (2, 1, 0)


def test_guards_that_fired_while_the_session_ran_are_counted(tmp_path: Path) -> None:
    entry = {"type": "custom", "customType": "loop_broken", "data": {}}
    in_file = {**entry, "id": "x", "parentId": "e5"}
    in_stream = {"type": "entry_appended", "entry": in_file}
    other = {**entry, "customType": "another", "id": "y", "parentId": "x"}
    police = {"type": "custom_message", "customType": "loop-police", "content": "Stop."}
    for entries in (
        [header(), *chain(MESSAGES), in_file, other, {**police, "id": "z", "parentId": "y"}],
        [header(), *as_stream(MESSAGES), in_stream, police],
    ):
        report = report_of(write(tmp_path / "s.jsonl", entries))
        assert report.fired == {"loop_broken": 1, "loop-police": 1}


def test_folders_globs_and_files_are_found_each_once(tmp_path: Path) -> None:
    for name in ("a/1.jsonl", "a/b/2.jsonl.gz", "a/notes.txt", "c.jsonl"):
        write(tmp_path / name, [header()])
    paths = [f"{tmp_path}/a", f"{tmp_path}/a/*.jsonl", f"{tmp_path}/c.jsonl", f"{tmp_path}/**/c*"]
    found = list(find_sources(paths, tmp_path))
    assert [Path(each.path).name for each in found if isinstance(each, Source)] == [
        "1.jsonl",
        "2.jsonl.gz",
        "c.jsonl",
    ]


def test_a_path_that_leads_nowhere_is_named_and_the_search_goes_on(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [header()])
    missing, empty, found = find_sources(
        [f"{tmp_path}/missing", f"{tmp_path}/*.nothing", str(tmp_path)], tmp_path
    )
    assert isinstance(missing, SourceError)
    assert str(missing) == f"{tmp_path}/missing: does not exist; check the path"
    assert isinstance(empty, SourceError)
    assert isinstance(found, Source)


def test_remote_addresses_are_read_through_fsspec(tmp_path: Path) -> None:
    import fsspec

    system = fsspec.filesystem("memory")
    system.pipe("/bucket/x/1.jsonl", lines(WRITTEN["version 3"]))
    system.pipe("/bucket/x/readme.txt", b"no")
    try:
        (source,) = find_sources(["memory://bucket/x"], tmp_path)
        assert isinstance(source, Source)
        with source.open() as stream:
            assert sum(isinstance(line, Line) for line in read_lines(stream)) == 7
        (none,) = find_sources(["memory://bucket/y"], tmp_path)
        assert isinstance(none, SourceError)
    finally:
        system.rm("/bucket", recursive=True)


def test_a_remote_folder_is_walked_as_it_comes_and_what_cannot_be_listed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fsspec.implementations.memory import MemoryFileSystem

    system = MemoryFileSystem()
    for name in ("a/2.jsonl", "a/1.jsonl.gz", "a/deep/3.jsonl", "b/4.jsonl", "c/5.jsonl"):
        system.pipe(f"/walked/{name}", b"")
    listed: list[str] = []
    list_folder = MemoryFileSystem.ls

    def ls(self: MemoryFileSystem, path: str, **options: object) -> object:
        listed.append(path)
        if path == "/walked/b":
            raise PermissionError(13, "Permission denied")
        return list_folder(self, path, **options)

    monkeypatch.setattr(MemoryFileSystem, "ls", ls)
    try:
        found = find_sources(["memory://walked"], tmp_path)
        first = next(found)
        assert isinstance(first, Source)
        assert "/walked/c" not in listed
        *rest, problem = found
    finally:
        monkeypatch.undo()
        system.rm("/walked", recursive=True)
    names = [each.name for each in (first, *rest) if isinstance(each, Source)]
    assert names == [
        f"memory:///walked/{name}"
        for name in ("a/1.jsonl.gz", "a/2.jsonl", "a/deep/3.jsonl", "c/5.jsonl")
    ]
    assert isinstance(problem, SourceError)
    assert str(problem).startswith("memory://walked: cannot be read (Permission denied)")


def test_a_file_that_two_paths_lead_to_is_found_once(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [header()])
    paths = [str(tmp_path / "*.jsonl"), str(tmp_path)]
    (found,) = find_sources(paths, tmp_path)
    assert isinstance(found, Source)


def test_a_file_that_holds_no_session_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    for data, reason in (
        (b"", "holds no session; it is empty, or another kind of file"),
        (b"\x00\x01\n", "holds no session; line 1 is not JSON"),
    ):
        path.write_bytes(data)
        (found,) = scan(path)
        assert isinstance(found, Skipped)
        assert found.reason.startswith(reason)
