"""The site as people see it: in a real browser, light and dark, on a desktop and on a phone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tools.browser import DESKTOP, PHONE, Browser, contrast

#: One page of each kind, and those with drawings, wide tables and long names.
PAGES = [
    "index.html",
    "tutorial/first-loop.html",
    "guides/install.html",
    "explanation/architecture.html",
    "explanation/police.html",
    "explanation/policy.html",
    "explanation/scoreboard.html",
    "reference/police.html",
    "reference/python.html",
    "reference/satyrn-engine.html",
    "reference/scenario-format.html",
    "reference/typescript/replay/pi_double.html",
]
DRAWN = ["explanation/architecture.html", "explanation/policy.html"]
#: What the guidelines of the web ask for of text.
READABLE = 4.5

# How much of the page stands out to the right, what scrolls by itself left out.
_CUT = """() => [...document.querySelectorAll(".drawing, .table-wrapper, pre")]
  .filter(each => each.scrollWidth > each.clientWidth)
  .filter(each => !["auto", "scroll"].includes(getComputedStyle(each).overflowX))
  .map(each => each.className || each.tagName)"""


class _Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The address of the site: as files, its search could not read the pages that it shows."""
    folder = Path(os.environ["DOCS_SITE"]).absolute()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for all the tests."""
    with Browser() as browser:
        yield browser


@pytest.mark.parametrize(("width", "dark"), [(DESKTOP, False), (PHONE, True)])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_and_readable_and_asks_for_nothing_from_elsewhere(
    browser: Browser, site: str, name: str, width: int, dark: bool
) -> None:
    with browser.open(f"{site}/{name}", width=width, dark=dark) as page:
        assert page.complaints == []
        assert [address for address in page.requests if not address.startswith(site)] == []
        assert page.overflow == 0
        assert page.evaluate(_CUT) == []
        texts = page.texts
        assert texts
        seen = {text.text: contrast(text.colour, text.ground) for text in texts}
        assert {text: found for text, found in seen.items() if found < READABLE} == {}


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_turns_dark_with_the_page(browser: Browser, site: str, name: str) -> None:
    fill = "getComputedStyle(document.querySelector('.drawing text')).fill"
    with browser.open(f"{site}/{name}") as page:
        light = page.evaluate(fill)
        page.evaluate("document.body.dataset.theme = 'dark'")
        assert page.evaluate(fill) != light
    with browser.open(f"{site}/{name}", dark=True) as page:
        assert page.evaluate(fill) != light


def test_the_search_finds_a_setting(browser: Browser, site: str) -> None:
    with browser.open(f"{site}/index.html") as page:
        page.driver.fill("input.sidebar-search", "REREAD_WINDOW")
        page.driver.press("input.sidebar-search", "Enter")
        found = page.driver.locator("#search-results a", has_text="satyrn-police").first
        found.wait_for()
        found.click()
        page.driver.wait_for_url("**/reference/police.html*")
        assert page.complaints == []


def test_the_search_says_so_when_nothing_is_found(browser: Browser, site: str) -> None:
    with browser.open(f"{site}/search.html") as page:
        page.driver.goto(f"{page.address}?q=zzzqqq")
        page.driver.get_by_text("did not match any documents").wait_for()
        assert page.driver.locator("#search-results li").count() == 0
