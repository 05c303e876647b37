"""The page of a scan as a person sees it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from satyrn_engine import scan_sessions
from satyrn_engine._page import TIMELINES, page
from satyrn_engine._summary import Summary
from satyrn_engine.reports import CallCount, ModelUse, SessionReport, Skipped
from tests.sessions import Entry, answer, chain, header, turn, user, write

from tools.browser import DESKTOP, PHONE, Browser, Colour, Page, contrast

EVIL = '<script>document.title = "broken"</script><b class="broken">'
LOOP = f"{EVIL.replace('/', '')}.jsonl"
LONG = "a-model-whose-name-is-longer-than-any-screen-is-wide-" + "and-longer-" * 9

#: What WCAG 2.2 asks for: of text (1.4.3), and of what is drawn (1.4.11).
READABLE, VISIBLE = 4.5, 3


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a scan by both guards."""
    folder = tmp_path_factory.mktemp("scanned")
    # The sixth `ls` is call 11.
    looping = [m for n in range(8) for m in (*turn(command="ls"), *turn(command=f"make {n}"))]
    looping += [*turn(EVIL), *turn("read", path="a"), answer(tokens=70)]
    thinking = [m for n in range(4) for m in turn("read", path=f"{n}")]
    for message in thinking:
        if message["role"] == "assistant":
            message["content"].insert(0, {"type": "thinking", "thinking": "So what is in there?"})
            message["model"] = LONG
    _write(folder / LOOP, looping)
    _write(folder / "honest.jsonl", [m for n in "abc" for m in turn(command=f"make {n}")])
    _write(folder / "thinking.jsonl", thinking)
    (folder / "broken.jsonl").write_text(f"{EVIL}\n")
    found = list(scan_sessions([folder], guards=("engine", "police"), jobs=1))
    return _save(folder / "page.html", found)


@pytest.mark.parametrize("scripts", [True, False])
def test_the_tables_have_the_right_numbers_also_without_javascript(
    browser: Browser, scanned: Path, scripts: bool
) -> None:
    with browser.open(scanned, scripts=scripts) as page:
        looping, thinking = _rows(page, "#looping")
        assert looping["Session"] == LOOP
        assert looping["Model"] == "test/model"
        assert (looping["Calls"], looping["Rejected"], looping["Refused"]) == ("18", "0", "3")
        assert (looping["First refused"], looping["Most in 20"]) == ("11", "8")
        # Seven answers came after the one with the eleventh call, and the last one.
        assert (looping["Tokens after"], looping["Cost after"]) == ("140", "$4.00")
        assert "loop_broken 3" in looping["Found"]
        assert (thinking["Session"], thinking["Refused"]) == ("thinking.jsonl", "0")
        assert thinking["Found"] == "stagnation 1"
        assert [row["Session"] for row in _rows(page, "#quiet")] == ["honest.jsonl"]
        models = {row["Model"]: row for row in _rows(page, "#models")}
        assert (models["test/model"]["Sessions"], models["test/model"]["Calls"]) == ("2", "21")
        assert models[f"test/{LONG}"]["Calls"] == "4"
        tools = {row["Tool"]: (row["Calls"], row["Refused"]) for row in _rows(page, "#tools")}
        assert tools == {"bash": ("19", "3"), "read": ("5", "0"), EVIL: ("1", "0")}
        kinds = {row["Found"]: row["Times"] for row in _rows(page, "#kinds")}
        assert (kinds["loop_broken"], kinds["stagnation"]) == ("3", "1")
        for table in ("#looping", "#models", "#tools", "#kinds"):
            assert page.driver.locator(table).is_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_plots_are_drawn_and_there_is_a_timeline_for_each_session_that_loops(
    browser: Browser, scanned: Path, scripts: bool
) -> None:
    with browser.open(scanned, scripts=scripts) as page:
        plots = page.driver.locator("figure").all()
        titles = [plot.locator("b").inner_text() for plot in plots]
        assert titles == [
            "Which models loop",
            "When in a session loops start",
            "Which tools",
            "What came after",
            "What it cost",
            LOOP,
            "thinking.jsonl",
        ]
        drawn = page.evaluate(_MARKS)
        assert [plot["name"] for plot in drawn] == titles
        assert all(plot["marks"] > 0 for plot in drawn)
        # One mark a call, and one for each finding.
        assert drawn[-1]["marks"] == 4 + 1
        assert drawn[-2]["colours"] >= 3
        # The bars and points say in words what they stand for.
        assert {"test/model", "1 of 2"} <= {*plots[0].locator("text").all_text_contents()}
        assert {"read", "stagnation"} <= {*plots[-1].locator("text").all_text_contents()}


def test_a_session_in_the_table_leads_to_its_timeline(browser: Browser, scanned: Path) -> None:
    with browser.open(scanned) as page:
        for row, name in enumerate((LOOP, "thinking.jsonl")):
            page.driver.locator("#looping a").nth(row).click()
            target = page.driver.locator(":target")
            assert target.locator("b").inner_text() == name
            assert (
                page.evaluate("document.querySelector(':target').getBoundingClientRect().top") < 800
            )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_it_asks_for_nothing_and_complains_of_nothing(
    browser: Browser, scanned: Path, width: int, dark: bool
) -> None:
    with browser.open(scanned, width=width, dark=dark) as page:
        page.driver.wait_for_load_state("networkidle")
        assert page.requests == [page.address]
        assert page.complaints == []
        loads = "[src], [srcset], [poster], [data], link, [href]:not([href^='#'])"
        assert page.driver.locator(loads).count() == 0


def test_what_is_not_ours_is_text(browser: Browser, scanned: Path) -> None:
    with browser.open(scanned) as page:
        assert page.driver.title() == "Loops in Pi sessions"
        assert page.driver.locator("script, .broken").count() == 0
        seen = page.driver.locator("body").inner_text()
        assert LOOP in seen
        assert EVIL in seen
        # A tool's name in its timeline is cut where there is no room, and is text there too.
        labels = page.driver.locator(".timeline text").all_text_contents()
        assert any(label.startswith("<script>") for label in labels)


@pytest.mark.parametrize("width", [DESKTOP, 800, PHONE, 320])
def test_nothing_lies_beside_the_screen(browser: Browser, scanned: Path, width: int) -> None:
    with browser.open(scanned, width=width) as page:
        page.driver.locator("details").evaluate_all("all => all.forEach(d => { d.open = true })")
        assert page.overflow == 0
        assert page.evaluate(_OUTSIDE) == []
        # Tables have a scroll bar of their own as a last resort, which none of these needs.
        wide = "all => all.filter(w => w.scrollWidth > w.clientWidth).length"
        assert page.driver.locator(".wide").evaluate_all(wide) == 0


def test_no_text_of_a_plot_lies_on_another(browser: Browser, scanned: Path) -> None:
    with browser.open(scanned, width=PHONE) as page:
        assert page.evaluate(_OVERLAPS) == []


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_it_is_readable_in_the_light_and_in_the_dark(
    browser: Browser, scanned: Path, width: int
) -> None:
    grounds = []
    for dark in (False, True):
        with browser.open(scanned, width=width, dark=dark) as page:
            page.driver.locator("details").evaluate_all(
                "all => all.forEach(d => { d.open = true })"
            )
            texts = page.texts
            unreadable = [t for t in texts if contrast(t.colour, t.ground) < READABLE]
            assert len(texts) > 100
            assert unreadable == []
            ground = texts[0].ground
            grounds.append(ground)
            marks = {tuple(colour) for colour in page.evaluate(_MARK_COLOURS)}
            assert len(marks) >= 3
            assert [mark for mark in marks if contrast(Colour(*mark), ground) < VISIBLE] == []
    light, dark_ground = grounds
    assert light.luminance > 0.9
    assert dark_ground.luminance < 0.05


def test_a_page_of_a_thousand_sessions_is_small_and_opens_soon(
    browser: Browser, tmp_path: Path
) -> None:
    html = _save(tmp_path / "page.html", [_long_report(number) for number in range(1000)])
    # The browser gives up after half a minute.
    with browser.open(html, width=PHONE) as page:
        assert len(_rows(page, "#looping")) == 700
        assert page.driver.locator(".timeline").count() == TIMELINES
        assert page.overflow == 0
    assert html.stat().st_size < 4_000_000


#: Of each plot: its title, how many marks have a size and a colour, and how many colours. A
#: timeline has a line of many parts for each colour.
_MARKS = """
() => [...document.querySelectorAll("figure")].map((figure) => {
  const colours = new Set();
  let marks = 0;
  for (const mark of figure.querySelectorAll(".role-mark path")) {
    const { fill, stroke } = getComputedStyle(mark);
    const colour = fill === "none" ? stroke : fill;
    const { width, height } = mark.getBoundingClientRect();
    if (width * height < 1 && !(fill === "none" && width > 0.5)) continue;
    if (!colour.startsWith("rgb(")) continue;
    colours.add(colour);
    marks += mark.getAttribute("d").split("M").length - 1;
  }
  return { name: figure.querySelector("b").textContent, marks, colours: colours.size };
})
"""

#: The colours of the marks, but for the ground of bars, which is there to be seen through.
_MARK_COLOURS = """
() => [...document.querySelectorAll(".role-mark path")]
  .filter((mark) => !mark.hasAttribute("fill-opacity"))
  .map((mark) => getComputedStyle(mark))
  .map(({ fill, stroke }) => (fill === "none" ? stroke : fill).match(/\\d+/g).map(Number))
"""

#: Texts that lie, in part, beyond the left or right edge of the window.
_OUTSIDE = """
() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const { left, right, width } of range.getClientRects()) {
      const outside = left < -0.5 || right > document.documentElement.clientWidth + 0.5;
      if (width > 0 && outside) found.push(walker.currentNode.textContent.trim());
    }
  }
  return found.filter((text) => text !== "");
}
"""


#: Pairs of texts of one plot that lie on each other.
_OVERLAPS = """
() => [...document.querySelectorAll("figure")].flatMap((figure) => {
  const meet = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  const texts = [...figure.querySelectorAll("text")];
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  return boxes.flatMap(([name, a], place) =>
    boxes.slice(place + 1).filter(([, b]) => meet(a, b)).map(([other]) => [name, other]));
})
"""


def _rows(page: Page, table: str) -> list[dict[str, str]]:
    head, *rows = page.table(table)
    return [dict(zip(head, row, strict=True)) for row in rows]


def _write(path: Path, messages: list[Entry]) -> Path:
    return write(path, [header(), *chain([user(), *messages])])


def _save(path: Path, found: list[SessionReport | Skipped]) -> Path:
    summary = Summary()
    for each in found:
        summary.add(each)
    path.write_text(page(found, summary), encoding="utf-8")
    return path


def _long_report(number: int) -> SessionReport:
    """Return a session of 2,000 calls, in which seven of ten loop."""
    model = f"provider/model-{number % 12}"
    report = SessionReport(f"sessions/2026/{number:04}-{'x' * 30}.jsonl", calls=2000)
    report.counts = [CallCount(model, "bash", calls=2000)]
    report.models = [ModelUse(model, turns=2000, tokens=10**6, cost=1.0, tokens_after=10**5)]
    if number % 10 < 7:
        report.refusals, report.first_refusal = 400, 6 + number
        report.detections = {"loop_broken": 400, "tool_loop": 10, "stagnation": 3}
        report.tool_names = ["bash", "edit", "read", "write"]
        report.timeline_tools = [call % 4 for call in range(2000)]
        report.timeline = "..R.x" * 400
        report.timeline_found = {"loop_broken": list(range(3, 2001, 5)), "stagnation": [4, 8]}
    return report
