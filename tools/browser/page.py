"""A page in a headless Chromium that reaches nothing but what is on this machine.

    with open_page(Path("report.html"), width=375, dark=True) as page:
        assert page.requests == [page.address]
        assert page.overflow == 0

Playwright drives the browser by the DevTools protocol; `Page.driver` is its own page, for whatever
is not offered here.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from playwright.sync_api import Browser as Chromium
from playwright.sync_api import Page as Driver
from playwright.sync_api import sync_playwright

from tools.browser.contrast import Colour
from tools.browser.program import find_browser

DESKTOP = 1280
PHONE = 375
"""Widths in CSS pixels: a small laptop's screen, and the narrowest phone that is still common."""

_HEIGHT = 800
_SECONDS = 30

# Playwright adds those that every automated browser needs: no first run, no sync, no updates.
_FLAGS = (
    # The tests' own sandbox allows no other one inside it, and /dev/shm may be tiny there.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    # Whatever the browser wants to look up besides this machine does not exist.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

# Every piece of text that is shown, with its colour over the background it stands on.
_TEXTS = """
() => {
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const canvas = document.createElement("div");
  canvas.style.cssText = "background-color: Canvas; position: fixed; width: 0; height: 0";
  document.documentElement.append(canvas);
  const ground = getComputedStyle(canvas).backgroundColor;
  canvas.remove();
  const over = (colours) => {
    probe.clearRect(0, 0, 1, 1);
    for (const colour of colours) { probe.fillStyle = colour; probe.fillRect(0, 0, 1, 1); }
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (text === "" || !element.checkVisibility({ visibilityProperty: true })) continue;
    const behind = [];
    for (let at = element; at !== null; at = at.parentElement) {
      behind.unshift(getComputedStyle(at).backgroundColor);
    }
    behind.unshift(ground);
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    found.push([text, over([...behind, colour]), over(behind)]);
  }
  return found;
}
"""


@dataclass(frozen=True)
class ShownText:
    """A piece of text that a page shows.

    Attributes:
        text: What it says.
        colour: Its colour.
        ground: The colour behind it.
    """

    text: str
    colour: Colour
    ground: Colour


@dataclass(frozen=True)
class Page:
    """A page that was opened.

    Attributes:
        address: Of the page itself.
        driver: Playwright's page.
        requests: The addresses of everything that it asked for, itself included.
        complaints: What went wrong on it: errors on the console, exceptions, failed requests.
    """

    address: str
    driver: Driver
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def evaluate(self, script: str, argument: object = None) -> Any:  # noqa: ANN401 - as it says
        """Return what a JavaScript expression or function comes to on the page, as JSON."""
        return self.driver.evaluate(script, argument)

    @property
    def overflow(self) -> int:
        """By how many CSS pixels the page is wider than the window: what scrolls sideways."""
        root = "document.documentElement"
        return int(self.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))

    @property
    def texts(self) -> list[ShownText]:
        """All text that is shown, that of plots too."""
        return [
            ShownText(text, Colour(*colour), Colour(*ground))
            for text, colour, ground in self.evaluate(_TEXTS)
        ]

    def table(self, selector: str) -> list[list[str]]:
        """Return the cells of a table, row by row, the head first."""
        script = "table => [...table.rows].map(r => [...r.cells].map(c => c.textContent.trim()))"
        rows: list[list[str]] = self.driver.locator(selector).evaluate(script)
        return rows

    def screenshot(self, path: Path) -> None:
        """Save the whole page as a PNG."""
        self.driver.screenshot(path=path, full_page=True)


class Browser:
    """A running Chromium, which opens as many pages as you like; use it as a context manager."""

    def __init__(self, program: Path | None = None) -> None:
        """Take `program`, or what `find_browser` finds.

        Raises:
            BrowserNotFoundError: There is none.
        """
        self._program = program or find_browser()
        self._open = ExitStack()
        self._chromium: Chromium | None = None

    def __enter__(self) -> Self:
        """Start it."""
        with ExitStack() as stack:
            scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="browser-"))
            playwright = stack.enter_context(sync_playwright())
            self._chromium = playwright.chromium.launch(
                executable_path=self._program,
                args=_FLAGS,
                env=_environment(os.environ, scratch),
                timeout=_SECONDS * 1000,
            )
            stack.callback(self._chromium.close)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """End it, with all its pages."""
        self._open.close()

    @contextmanager
    def open(
        self,
        path: Path | str,
        *,
        width: int = DESKTOP,
        dark: bool = False,
        scripts: bool = True,
    ) -> Iterator[Page]:
        """Open a page that shares nothing with any other, and wait until it has loaded.

        Args:
            path: A file, or an address on this machine.
            width: Of the window, in CSS pixels; below 600 it is that of a phone.
            dark: Whether the reader prefers dark colours.
            scripts: Whether the page may run JavaScript; `Page.evaluate` works nevertheless.
        """
        assert self._chromium is not None, "use Browser as a context manager"
        address = path if isinstance(path, str) else path.absolute().as_uri()
        context = self._chromium.new_context(
            viewport={"width": width, "height": _HEIGHT},
            is_mobile=width < 600,
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )
        try:
            context.set_default_timeout(_SECONDS * 1000)
            page = Page(address, context.new_page())
            _listen(page)
            page.driver.goto(address, wait_until="load")
            yield page
        finally:
            context.close()


@contextmanager
def open_page(
    path: Path | str, *, width: int = DESKTOP, dark: bool = False, scripts: bool = True
) -> Iterator[Page]:
    """Open one page in a browser of its own; parameters and errors as for `Browser`."""
    with Browser() as browser, browser.open(path, width=width, dark=dark, scripts=scripts) as page:
        yield page


def _listen(page: Page) -> None:
    driver, complaints = page.driver, page.complaints
    driver.on("request", lambda request: page.requests.append(request.url))
    driver.on(
        "requestfailed", lambda request: complaints.append(f"{request.url}: {request.failure}")
    )
    driver.on("pageerror", lambda error: complaints.append(str(error)))
    driver.on(
        "console",
        lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None,
    )


def _environment(surroundings: Mapping[str, str], scratch: str) -> dict[str, str | float | bool]:
    """Return an environment with which the browser neither reads nor leaves what is the user's."""
    kept = {name: surroundings[name] for name in ("PATH",) if name in surroundings}
    return {"PATH": os.defpath, **kept, "HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8"}
