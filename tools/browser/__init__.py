"""Opens pages in a real Chromium, for tests that look at what a person would see."""

from tools.browser.contrast import Colour, contrast
from tools.browser.page import DESKTOP, PHONE, Browser, Page, ShownText, open_page
from tools.browser.program import BROWSER_VARIABLE, BrowserNotFoundError, find_browser

__all__ = [
    "BROWSER_VARIABLE",
    "DESKTOP",
    "PHONE",
    "Browser",
    "BrowserNotFoundError",
    "Colour",
    "Page",
    "ShownText",
    "contrast",
    "find_browser",
    "open_page",
]
