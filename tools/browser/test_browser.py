"""The browser sees what it claims to see: on a page that has it, and not on one that has not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeAlias

import pytest

from tools.browser import Browser, BrowserNotFoundError, Colour, contrast, find_browser

HEAD = '<!doctype html><meta name="viewport" content="width=device-width"><title>t</title>'
WHITE, BLACK = Colour(255, 255, 255), Colour(0, 0, 0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as browser:
        yield browser


Write: TypeAlias = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(body: str) -> Path:
        path = tmp_path / "page.html"
        path.write_text(HEAD + body, encoding="utf-8")
        return path

    return write


def test_a_page_that_needs_nothing_asks_for_itself_alone(browser: Browser, write: Write) -> None:
    with browser.open(write("<p>Hello")) as page:
        assert page.requests == [page.address]
        assert page.complaints == []


def test_whatever_else_a_page_asks_for_is_seen(browser: Browser, write: Write) -> None:
    body = '<img src="http://pictures.example/a.png"><script src="missing.js"></script>'
    with browser.open(write(body)) as page:
        first, *others = page.requests
        assert first == page.address
        assert [address.rpartition("/")[2] for address in others] == ["a.png", "missing.js"]
        assert any("a.png" in complaint for complaint in page.complaints)


def test_errors_of_scripts_are_seen(browser: Browser, write: Write) -> None:
    path = write("<script>console.error('first'); throw new Error('second')</script>")
    with browser.open(path) as page:
        assert [text for text in ("first", "second") if text in str(page.complaints)] == [
            "first",
            "second",
        ]


def test_scripts_run_unless_they_are_turned_off(browser: Browser, write: Write) -> None:
    path = write("<p id=said>before</p><script>said.textContent = 'after'</script>")
    for scripts, text in ((True, "after"), (False, "before")):
        with browser.open(path, scripts=scripts) as page:
            assert page.evaluate("document.getElementById('said').textContent") == text


def test_what_is_wider_than_the_window_is_seen(browser: Browser, write: Write) -> None:
    with browser.open(write("<div style='width: 500px'>wide"), width=375) as page:
        assert page.overflow > 100
    with browser.open(write("<div style='width: 200px'>narrow"), width=375) as page:
        assert page.overflow == 0


def test_text_has_the_colour_that_a_person_sees(browser: Browser, write: Write) -> None:
    body = (
        "<style>:root { color-scheme: light dark }</style><p>plain"
        "<p style='background: #000'><span style='color: rgb(255 255 255 / 50%)'>half</span>"
        "<p hidden>hidden</p><svg><text y='9' fill='#f00'>drawn</text></svg>"
    )
    path = write(body)
    with browser.open(path) as light, browser.open(path, dark=True) as dark:
        seen = {each.text: each for each in light.texts}
        assert sorted(seen) == ["drawn", "half", "plain"]
        assert (seen["plain"].colour, seen["plain"].ground) == (BLACK, WHITE)
        assert [round(part / 2) for part in seen["half"].colour] == [64, 64, 64]
        assert seen["drawn"].colour == Colour(255, 0, 0)
        assert dark.texts[0].colour.luminance > dark.texts[0].ground.luminance


def test_a_table_is_read_row_by_row(browser: Browser, write: Write) -> None:
    with browser.open(write("<table><tr><th>a<th>b<tr><td>1<td> 2 </table>")) as page:
        assert page.table("table") == [["a", "b"], ["1", "2"]]


def test_a_site_on_this_machine_can_be_opened(
    browser: Browser, write: Write, tmp_path: Path
) -> None:
    write("<h1>served")

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with browser.open(f"http://127.0.0.1:{server.server_address[1]}/page.html") as page:
            assert page.evaluate("document.querySelector('h1').textContent") == "served"
    finally:
        server.shutdown()
        server.server_close()


def test_a_screenshot_is_a_picture_of_the_whole_page(
    browser: Browser, write: Write, tmp_path: Path
) -> None:
    picture = tmp_path / "page.png"
    with browser.open(write("<div style='height: 3000px'>tall"), width=375) as page:
        page.screenshot(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert int.from_bytes(picture.read_bytes()[20:24]) >= 3000


def test_contrast_is_that_of_the_definition() -> None:
    assert contrast(WHITE, BLACK) == contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast(WHITE, WHITE) == 1
    # The lightest grey that is readable on white, and the next one, which is not.
    assert contrast(WHITE, Colour(118, 118, 118)) > 4.5 > contrast(WHITE, Colour(119, 119, 119))


def test_the_browser_that_the_environment_names_is_taken(tmp_path: Path) -> None:
    named = _program(tmp_path / "named")
    (tmp_path / "bin").mkdir()
    on_path = _program(tmp_path / "bin" / "google-chrome")
    path = {"PATH": str(tmp_path / "bin")}
    assert find_browser({"SATYRN_BROWSER": str(named), **path}, ()) == named
    assert find_browser(path, (named,)) == on_path
    assert find_browser({"PATH": ""}, (tmp_path / "missing", named)) == named


def test_without_a_browser_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BrowserNotFoundError, match=r"apt install chromium.*or set SATYRN_BROWSER"):
        find_browser({"PATH": str(tmp_path)}, ())
    with pytest.raises(BrowserNotFoundError, match="SATYRN_BROWSER names gone, which is no prog"):
        find_browser({"SATYRN_BROWSER": "gone"})


def _program(path: Path) -> Path:
    path.touch(mode=0o755)
    return path
