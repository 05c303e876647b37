"""Branches and forks: each call is shown where a guard would meet it, and counted once."""

from __future__ import annotations

import random
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from satyrn_engine._pool import families
from satyrn_engine._scan import Fork, Task, scan_source
from satyrn_engine._sources import Source
from satyrn_engine._steps import GuardsRestarted
from satyrn_engine.reports import SessionReport
from tests.scanning import Recorder, report_of, scan
from tests.sessions import Entry, answer, call, chain, header, result, turn, user, write

#: A line of three turns, and a branch from its first answer's result on.
LINE = chain([user(), *turn("bash"), *turn("read"), *turn("edit")])
BRANCH = chain([user(), *turn("find"), *turn("grep")], parent="e2", prefix="b")


def test_a_branch_is_replayed_from_its_root_and_what_it_shares_is_counted_once(
    tmp_path: Path,
) -> None:
    recorder = Recorder()
    report = report_of(write(tmp_path / "s.jsonl", [header(), *LINE, *BRANCH]), recorder)
    assert [recorder.calls(0), recorder.calls(1)] == [
        ["bash", "read", "edit"],
        ["bash", "find", "grep"],
    ]
    assert (report.branches, report.calls, report.turns, report.prompts) == (2, 5, 5, 2)
    assert report.tokens == 50


def test_an_entry_that_holds_nothing_is_no_branch(tmp_path: Path) -> None:
    odd: list[Entry] = [
        {"type": "label", "id": "l1", "parentId": None, "targetId": "e0"},
        {"type": "message"},
    ]
    for place in range(1, len(LINE)):
        entries = [header(), *LINE[:place], *odd, *LINE[place:]]
        report = report_of(write(tmp_path / "s.jsonl", entries))
        assert (report.branches, report.calls, report.unclear) == (1, 3, 0), place


def test_a_session_in_one_line_is_told_while_it_is_read(tmp_path: Path) -> None:
    recorder = Recorder()
    report_of(write(tmp_path / "s.jsonl", [header(), *LINE]), recorder)
    assert recorder.dropped == 0
    report_of(write(tmp_path / "s.jsonl", [header(), *LINE, *BRANCH]), recorder)
    assert recorder.dropped == 1


def test_a_refusal_in_what_branches_share_is_counted_once(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", [header(), *LINE, *BRANCH])
    shared = report_of(path, Recorder(refuse="bash"))
    assert (shared.refusals, shared.first_refusal) == (1, 1)
    # Both branches go on after it: five answers, less the one that was refused.
    assert shared.tokens_after == 40
    own = report_of(path, Recorder(refuse="grep"))
    assert (own.refusals, own.first_refusal, own.tokens_after) == (1, 3, 0)


def test_an_entry_that_stands_twice_is_counted_once(tmp_path: Path) -> None:
    report = report_of(write(tmp_path / "s.jsonl", [header(), *LINE, *LINE[2:], *BRANCH, *LINE]))
    assert (report.calls, report.branches) == (5, 2)


def test_equal_ids_at_other_times_are_other_entries(tmp_path: Path) -> None:
    again = chain(turn("write"), parent="e6", prefix="e", minute=5)
    report = report_of(write(tmp_path / "s.jsonl", [header(), *LINE, *again]))
    assert report.calls == 4


def test_an_entry_whose_parent_is_missing_follows_the_one_before(tmp_path: Path) -> None:
    recorder = Recorder()
    entries = [header(), *LINE[:3], *LINE[4:]]
    report = report_of(write(tmp_path / "s.jsonl", entries), recorder)
    assert recorder.calls(0) == ["bash", "edit"]
    assert report.branches == 1


def test_a_second_root_is_a_branch_of_its_own(tmp_path: Path) -> None:
    recorder = Recorder()
    entries = [header(), *LINE, *chain(turn("find"), prefix="r")]
    report = report_of(write(tmp_path / "s.jsonl", entries), recorder)
    assert [recorder.calls(0), recorder.calls(1)] == [["bash", "read", "edit"], ["find"]]
    assert report.branches == 2


def test_a_leaf_that_holds_nothing_is_no_branch(tmp_path: Path) -> None:
    label = {"type": "label", "id": "l", "parentId": "e0", "targetId": "e1", "timestamp": "x"}
    report = report_of(write(tmp_path / "s.jsonl", [header(), *LINE, label]))
    assert (report.branches, report.calls) == (1, 3)


@st.composite
def trees(draw: st.DrawFn) -> list[Entry]:
    """Draw entries in which every answer stands with its result, under any earlier result."""
    entries: list[Entry] = []
    ends: list[str | None] = [None]
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.sampled_from(ends))
        pair = chain(turn(f"tool{number}"), parent=parent, prefix=f"n{number}_")
        entries += pair
        ends.append(str(pair[-1]["id"]))
    return entries


@given(trees(), st.randoms(use_true_random=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_forks_and_merges_never_change_what_is_counted(
    tmp_path: Path, entries: list[Entry], rng: random.Random
) -> None:
    recorder = Recorder()
    calls = len(entries) // 2
    # A merge: some entries a second time, anywhere behind the first.
    merged = list(entries)
    for entry in rng.sample(entries, rng.randrange(len(entries) + 1)):
        merged.insert(rng.randrange(merged.index(entry) + 1, len(merged) + 1), entry)
    path = write(tmp_path / "s.jsonl", [header(), *merged])
    report = report_of(path, recorder)
    assert (report.calls, report.turns, report.tokens) == (calls, calls, calls * 10)
    assert (report.rejected, report.unclear) == (0, 0)
    # Every way from a root to a leaf is shown, in the order of the naive model.
    parents = {str(entry["id"]): entry["parentId"] for entry in entries}
    leaves = [name for name in parents if name not in parents.values()]
    ways = []
    for leaf in leaves:
        way: list[str] = []
        node: str | None = leaf
        while node is not None:
            way.insert(0, node)
            node = parents[node]
        ways.append([f"tool{name[1:].split('_')[0]}" for name in way if name.endswith("_0")])
    shown = [recorder.calls(number) for number in range(len(recorder.branches))]
    assert sorted(shown) == sorted(ways)


def _fork(path: Path, entries: list[Entry], parent: Path, minute: int) -> Path:
    started = f"2026-01-02T05:{minute:02}:00.000Z"
    head = header(id=path.stem, timestamp=started, parentSession=str(parent))
    return write(path, [head, *entries])


def _own(tool: str, minute: int, parent: str = "e6") -> list[Entry]:
    entries = chain([user(), *turn(tool)], parent=parent, prefix=f"{tool}_")
    for entry in entries:
        entry["timestamp"] = f"2026-01-02T05:{minute:02}:30.000Z"
    return entries


def _source(path: Path) -> Source:
    return Source(str(path), str(path))


def _scan_family(task: Task) -> list[int]:
    from satyrn_engine._scan import scan_task

    recorder = Recorder()
    found = scan_task(task, lambda: recorder, lambda: None, 0)  # type: ignore[arg-type,return-value]
    return [each.calls for each in found if isinstance(each, SessionReport)]


def test_a_fork_waits_for_its_parent_and_counts_its_own_calls_alone(tmp_path: Path) -> None:
    parent = write(tmp_path / "parent.jsonl", [header(), *LINE])
    first = _fork(tmp_path / "f1.jsonl", [*LINE, *_own("find", 1)], parent, 1)
    second = _fork(tmp_path / "f2.jsonl", [*LINE, *_own("find", 1), *_own("grep", 2)], first, 2)
    forks = []
    for path in (second, first):
        (fork,) = scan_source(_source(path), Recorder(), set(), forks_wait=True)
        assert isinstance(fork, Fork)
        forks.append(fork)
    (task,) = families(forks, lambda path: path == str(parent))
    assert [source.path for source in task.sources] == [str(first), str(second)]
    assert [source.path for source in task.ancestors] == [str(parent)]
    assert _scan_family(task) == [1, 1]


def test_forks_of_a_session_that_is_gone_count_what_they_share_once(tmp_path: Path) -> None:
    gone = tmp_path / "gone.jsonl"
    forks = []
    for number, tool in enumerate(("find", "grep"), 1):
        path = tmp_path / f"f{number}.jsonl"
        _fork(path, [*LINE, *_own(tool, number)], gone, number)
        forks.append(Fork(_source(path), str(gone), f"2026-01-02T05:0{number}:00.000Z"))
    (task,) = families(forks, lambda _path: False)
    assert task.ancestors == ()
    assert _scan_family(task) == [4, 1]


def test_a_parent_is_found_where_its_folder_was_moved_to() -> None:
    fork = Fork(Source("x", "/copy/--b--/2.jsonl"), "/home/u/sessions/--a--/1.jsonl", "t")
    (task,) = families([fork], lambda path: path == "/copy/--a--/1.jsonl")
    assert [source.path for source in task.ancestors] == ["/copy/--a--/1.jsonl"]


def test_the_guards_of_a_fork_have_not_seen_what_it_copied(tmp_path: Path) -> None:
    path = _fork(tmp_path / "f.jsonl", [*LINE, *_own("find", 1)], tmp_path / "gone", 1)
    recorder = Recorder()
    report_of(path, recorder)
    kinds = [type(step) for step in recorder.branches[0]]
    assert kinds.count(GuardsRestarted) == 1
    assert recorder.calls(0) == ["bash", "read", "edit", "find"]
    before = recorder.branches[0][: kinds.index(GuardsRestarted)]
    assert len(before) == 4


def test_parallel_calls_are_shown_together(tmp_path: Path) -> None:
    both = answer(call("bash", "c1"), call("read", "c2"))
    entries = chain([both, result("c2"), result("c1"), *turn("edit")])
    recorder = Recorder()
    report = report_of(write(tmp_path / "s.jsonl", [header(), *entries]), recorder)
    assert (report.turns, report.calls, report.unclear) == (2, 3, 0)
    assert recorder.calls(0) == ["bash", "read", "edit"]


def test_one_file_may_hold_a_branched_session_between_others(tmp_path: Path) -> None:
    found = scan(
        write(
            tmp_path / "s.jsonl",
            [
                header(id="a"),
                *chain(turn(), prefix="a"),
                header(id="b"),
                *LINE,
                *BRANCH,
                header(id="c"),
                *chain(turn(), prefix="c"),
            ],
        )
    )
    assert [each.calls for each in found if isinstance(each, SessionReport)] == [1, 5, 1]


def test_a_fork_at_an_address_that_was_moved_finds_its_parent() -> None:
    fork = Fork(Source("x", "s3://copy/--a--/2.jsonl"), "/was/--a--/1.jsonl", "")
    (task,) = families([fork], lambda path: path == "s3://copy/--a--/1.jsonl")
    assert [source.path for source in task.ancestors] == ["s3://copy/--a--/1.jsonl"]
