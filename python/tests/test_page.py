"""The page of a scan: complete, self-contained, and readable without JavaScript."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from satyrn_engine._kinds import MEANINGS
from satyrn_engine._node import typescript
from satyrn_engine._page import page
from satyrn_engine._plots import _OUTCOMES, PARTS, marks
from satyrn_engine._summary import Summary
from satyrn_engine.reports import BrokenLine, SessionReport, Skipped
from tests.scanning import Recorder, report_of
from tests.sessions import chain, header, turn, user, write


def _report(path: Path, refuse: str | None) -> SessionReport:
    entries = [header(), *chain([user(), *turn("bash"), *turn("read"), *turn("bash")])]
    return report_of(write(path, entries), Recorder(refuse=refuse))


def _page(*found: SessionReport | Skipped) -> str:
    summary = Summary()
    for each in found:
        summary.add(each)
    return page(list(found), summary)


class _Outline(HTMLParser):
    """Keeps what a page consists of."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._table: list[list[str]] = []
        self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        for name in ("src", "href", "xlink:href", "action", "data", "poster", "srcset"):
            if values.get(name):
                self.addresses.append(str(values[name]))
        if tag == "table":
            self._table = self.tables[str(values["id"])] = []
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._in_cell = True
            self._table[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self._table[-1][-1] += data


def test_the_main_table_and_the_plots_are_there_without_any_script(tmp_path: Path) -> None:
    looping = _report(tmp_path / "a" / "looping.jsonl", "read")
    html = _page(looping, _report(tmp_path / "b" / "honest.jsonl", None))
    outline = _Outline(html)
    assert "script" not in outline.tags
    (head, row) = outline.tables["looping"]
    cells = dict(zip(head, row, strict=True))
    assert cells["Session"] == "a/looping.jsonl"
    assert (cells["Calls"], cells["Refused"], cells["First refused"]) == ("3", "1", "2")
    assert [row[0] for row in outline.tables["quiet"][1:]] == ["b/honest.jsonl"]
    assert [row[0] for row in outline.tables["models"][1:]] == ["test/model"]
    assert [row[0] for row in outline.tables["tools"][1:]] == ["read", "bash"]
    # Five plots of all sessions, and the timeline of the one that loops.
    assert outline.tags.count("svg") == outline.tags.count("figure") == 6
    assert html.count('class="timeline"') == 1


def test_it_loads_nothing_from_outside(tmp_path: Path) -> None:
    html = _page(_report(tmp_path / "s.jsonl", "read"))
    outline = _Outline(html)
    assert [address for address in outline.addresses if not address.startswith("#")] == []
    assert not re.findall(r"url\((?!#)|@import", html)
    assert "default-src 'none'" in html


def test_what_is_not_ours_is_shown_as_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)"
    report = _report(tmp_path / "s.jsonl", "read")
    report.source = evil
    report.tool_names = [evil, *report.tool_names]
    report.counts[0].model = evil
    report.broken, report.broken_lines = 1, [BrokenLine(3, evil)]
    outline = _Outline(_page(report, Skipped(evil, evil)))
    assert "script" not in outline.tags
    assert evil in outline.tables["looping"][1][0]


def test_text_and_lines_of_plots_take_the_colour_of_the_page(tmp_path: Path) -> None:
    html = _page(_report(tmp_path / "s.jsonl", "read"))
    svgs = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert svgs
    for svg in svgs:
        texts = re.findall(r"<text[^>]*fill=\"([^\"]*)\"", svg)
        assert set(texts) == {"currentColor"}
        assert "white" not in svg


def test_a_scan_without_a_loop_has_a_page(tmp_path: Path) -> None:
    html = _page(_report(tmp_path / "s.jsonl", None))
    outline = _Outline(html)
    assert "looping" not in outline.tables
    assert len(outline.tables["quiet"]) == 2
    assert "The guards would have refused nothing." in html
    assert _Outline(_page(Skipped("x", "y"))).tables == {}


def test_a_session_in_which_something_was_found_and_nothing_refused_has_a_timeline(
    tmp_path: Path,
) -> None:
    report = _report(tmp_path / "s.jsonl", None)
    report.detections = {"stagnation": 2}
    report.timeline, report.timeline_tools, report.tool_names = ".x.", [0, 1, 0], ["bash", "read"]
    report.timeline_found = {"stagnation": [2, 4]}
    outline = _Outline(_page(report))
    cells = dict(zip(*outline.tables["looping"], strict=True))
    assert (cells["Session"], cells["Found"].strip()) == ("s.jsonl", "stagnation 2")
    assert outline.tables["kinds"][1] == ["stagnation", "2", "1", MEANINGS["stagnation"]]
    assert outline.addresses == ["#timeline-1"]


def test_a_column_that_would_be_empty_is_left_out(tmp_path: Path) -> None:
    report = _report(tmp_path / "s.jsonl", "read")
    assert not {"Had fired"} & {*_Outline(_page(report)).tables["looping"][0]}
    report.fired = {"loop_broken": 3}
    report.cost = report.cost_after = 0
    head, row = _Outline(_page(report)).tables["looping"]
    assert not {"Cost", "Cost after"} & {*head}
    assert dict(zip(head, row, strict=True))["Had fired"].strip() == "loop_broken 3"


def test_every_finding_of_the_guards_has_a_meaning() -> None:
    messages = (typescript() / "police" / "messages.ts").read_text("utf-8")
    words = re.search(r"USER_WORDS = \{(.*?)\n\}", messages, re.DOTALL)
    assert words is not None
    kinds = set(re.findall(r"^ {2}(\w+):", words[1], re.MULTILINE))
    assert len(kinds) >= 12
    assert kinds | {"loop_broken"} == set(MEANINGS)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(".Rx?"), st.integers(0, 2)), min_size=1, max_size=700))
def test_a_timeline_is_drawn_of_all_calls_however_many_there_are(
    calls: list[tuple[str, int]],
) -> None:
    report = SessionReport("s")
    report.timeline = "".join(letter for letter, _ in calls)
    report.timeline_tools = [place for _, place in calls]
    report.tool_names = ["a", "b", "c"]
    drawn = list(marks(report))
    gap = len(calls) // PARTS
    for number, (letter, place) in enumerate(calls, start=1):
        kind = (report.tool_names[place], _OUTCOMES[letter])
        covering = [mark for mark in drawn if mark.first <= number <= mark.last]
        assert [mark for mark in covering if (mark.row, mark.kind) == kind]
    for mark in drawn:
        own = [
            number
            for number, (letter, place) in enumerate(calls, start=1)
            if mark.first <= number <= mark.last
            and (report.tool_names[place], _OUTCOMES[letter]) == (mark.row, mark.kind)
        ]
        assert own[0] == mark.first
        assert own[-1] == mark.last
        assert all(after - before <= gap for before, after in itertools.pairwise(own))
    if len(calls) < PARTS:
        assert len(drawn) == len(calls)
    assert len(drawn) <= 3 * 4 * (PARTS + 1)
