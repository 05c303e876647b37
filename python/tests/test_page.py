"""The page of a scan: complete, self-contained, and readable without JavaScript."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from satyrn_engine._page import page
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
    assert (cells["Calls"], cells["Refused"], cells["First"]) == ("3", "1", "2")
    assert [row[0] for row in outline.tables["quiet"][1:]] == ["b/honest.jsonl"]
    assert [row[0] for row in outline.tables["models"][1:]] == ["test/model"]
    # Four plots of all sessions, and the timeline of the one that loops.
    assert outline.tags.count("svg") == outline.tags.count("figure") == 5
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
    assert _Outline(_page(Skipped("x", "y"))).tables == {"models": [["Model", *_HEADS]]}


_HEADS = (
    "Sessions",
    "Looping",
    "Calls",
    "Rejected",
    "Refused",
    "Tokens",
    "Tokens after",
    "Cost",
    "Cost after",
)
