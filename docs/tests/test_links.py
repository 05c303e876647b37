"""Every link leads somewhere: of a page as people read it in the checkout, and on the site."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from inspect import isclass, isfunction
from itertools import pairwise
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pytest
import satyrn_engine.sessions
import satyrn_engine.testing
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.tests.pages import ROOT, pages, parsed


class _Site(HTMLParser):
    """What a page of the site, or HTML within Markdown, loads, links to, and can be linked to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        for name in ("id", "name"):
            if anchor := values.get(name):
                self.anchors.add(anchor)
        if tag == "a" and (address := values.get("href")):
            self.links.append(address)
        elif tag == "link" and values.get("rel") in {"stylesheet", "icon", "preload"}:
            self.loads.append(values.get("href") or "")
        elif address := values.get("src"):
            self.loads.append(address)


def _links(tokens: list[Token]) -> Iterator[str]:
    """Yield the addresses of a page's links and images, those within directives left out."""
    for token in tokens:
        if token.type == "html_block":
            yield from _links_in_html(token.content)
        for child in token.children or []:
            address = child.attrGet("href") or child.attrGet("src")
            if isinstance(address, str):
                yield address
            if child.type == "html_inline":
                yield from _links_in_html(child.content)


def _links_in_html(html: str) -> list[str]:
    read = _Site(html)
    return read.links + read.loads


def _anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    found = set()
    tokens = parsed(page)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(
                child.content
                for child in inline.children or []
                if child.type in {"text", "code_inline"}
            )
            kept = re.sub(r"[^\w\- ]", "", text.lower())
            found.add(kept.replace(" ", "-"))
    return found


ALL = [(page, link) for page in pages() for link in _links(parsed(page))]
EXTERNAL = [(page, link) for page, link in ALL if urlsplit(link).scheme]
#: Pages that stand for themselves, and not for a page of the site, which Sphinx checks.
READMES = [page for page in pages() if not page.startswith("docs/")]


def test_links_are_found() -> None:
    assert len(ALL) > 50
    assert len(EXTERNAL) > 3


def test_links_of_html_are_read_as_well() -> None:
    text = (
        '[one](a.md) and <a href="b.md">two</a> ![three](c.png)\n\n<p><img src="d.png"></p>\n\n'
        '`<a href="no.md">` <!-- <a href="neither.md"> -->\n'
    )
    assert sorted(_links(MarkdownIt("commonmark").parse(text))) == [
        "a.md",
        "b.md",
        "c.png",
        "d.png",
    ]


@pytest.mark.parametrize(("page", "link"), EXTERNAL)
def test_a_link_to_elsewhere_is_well_formed(page: str, link: str) -> None:
    parts = urlsplit(link)
    assert parts.scheme == "https", page
    assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), page
    assert not re.search(r"[\s<>\"']|[.,;:]$", link), page


@pytest.mark.parametrize(
    ("page", "link"), [each for each in ALL if each[0] in READMES and each not in EXTERNAL]
)
def test_a_link_of_a_readme_leads_to_a_file_and_a_heading(page: str, link: str) -> None:
    path, _, anchor = unquote(link).partition("#")
    target = os.path.normpath(PurePosixPath(page).parent / path) if path else page
    assert (ROOT / target).exists(), f"{page}: {target}"
    if anchor:
        assert anchor in _anchors(target), f"{page}: {link}"


@pytest.fixture(scope="module")
def site() -> dict[str, _Site]:
    """Every page of the built site, by its path."""
    root = Path(os.environ["DOCS_SITE"])
    found = sorted(root.glob("**/*.html"))
    assert len(found) > 20
    return {str(page.relative_to(root)): _Site(page.read_text("utf-8")) for page in found}


def test_every_link_of_the_site_leads_to_a_page_and_a_place_in_it(site: dict[str, _Site]) -> None:
    root = Path(os.environ["DOCS_SITE"])
    broken = []
    for name, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            # The one that the theme leaves to its script.
            if parts.scheme or link == "#":
                continue
            path = unquote(parts.path)
            target = os.path.normpath(PurePosixPath(name).parent / path) if path else name
            other = site.get(target)
            lost = other is None and not (root / target).is_file()
            if other and parts.fragment:
                lost = unquote(parts.fragment) not in other.anchors
            if lost:
                broken.append(f"{name}: {link}")
    assert not broken


def test_the_python_reference_has_all_that_the_package_offers(site: dict[str, _Site]) -> None:
    anchors = site["reference/python.html"].anchors
    for module in (satyrn_engine, satyrn_engine.sessions, satyrn_engine.testing):
        members = {name: getattr(module, name) for name in module.__all__}
        names = {name for name, each in members.items() if isclass(each) or isfunction(each)}
        assert names
        documented = {anchor.rpartition(".")[2] for anchor in anchors if "satyrn_engine" in anchor}
        assert not names - documented, module.__name__


def test_a_page_of_the_site_loads_nothing_from_elsewhere(site: dict[str, _Site]) -> None:
    root = Path(os.environ["DOCS_SITE"])
    for name, page in site.items():
        assert page.loads
        for address in page.loads:
            parts = urlsplit(address)
            assert not parts.scheme, f"{name}: {address}"
            assert not parts.netloc, f"{name}: {address}"
            loaded = os.path.normpath(PurePosixPath(name).parent / unquote(parts.path))
            assert (root / loaded).is_file(), f"{name}: {address}"
