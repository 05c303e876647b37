"""Debian's mirrors, from the machine's own apt sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Names that only Debian's own archive gives its suites. Third parties name theirs otherwise
# (bookworm-pgdg, nodistro), or call their component something else than main.
_SUITES = frozenset(
    [
        *("buster", "bullseye", "bookworm", "trixie", "forky", "duke", "sid"),
        *("oldoldstable", "oldstable", "stable", "testing", "unstable"),
    ]
)
_VARIANTS = ("-updates", "-proposed-updates", "-backports")
_SCHEMES = ("http://", "https://", "file:")


@dataclass(frozen=True)
class Source:
    """One entry of apt's sources, for one address and one suite."""

    uri: str
    suite: str
    components: tuple[str, ...]


def mirrors(apt: Path = Path("/etc/apt")) -> list[str]:
    """The addresses that carry Debian itself, in the order in which apt reads them.

    Third-party repositories and the security archive, which holds only some packages, are left
    out. An address `mirror+file:LIST` stands for the addresses in the list.
    """
    found: dict[str, None] = {}
    for source in entries(apt):
        if _base(source.suite) in _SUITES and "main" in source.components:
            for uri in _expand(source.uri):
                if uri.startswith(_SCHEMES):
                    found.setdefault(uri.rstrip("/"))
    return list(found)


def entries(apt: Path) -> Iterator[Source]:
    """Every enabled binary entry, of both formats."""
    parts = apt / "sources.list.d"
    for file in (apt / "sources.list", *sorted(parts.glob("*.list"))):
        yield from _one_line(_text(file))
    for file in sorted(parts.glob("*.sources")):
        yield from _deb822(_text(file))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        # Missing, or for root only: apt's other files may do.
        return ""


def _one_line(text: str) -> Iterator[Source]:
    for raw in text.splitlines():
        line = re.sub(r"\[[^]]*\]", " ", raw.partition("#")[0], count=1)
        fields = line.split()
        if fields[:1] == ["deb"] and fields[2:]:
            yield Source(fields[1], fields[2], tuple(fields[3:]))


def _deb822(text: str) -> Iterator[Source]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for stanza in re.split(r"\n\s*\n", "\n".join(lines)):
        fields: dict[str, list[str]] = {}
        values: list[str] = []
        for line in stanza.splitlines():
            if line[:1].isspace():
                values.extend(line.split())
            elif ":" in line:
                name, _, value = line.partition(":")
                values = fields.setdefault(name.strip().lower(), [])
                values.extend(value.split())
        if "deb" not in fields.get("types", []) or fields.get("enabled", ["yes"]) == ["no"]:
            continue
        for uri in fields.get("uris", []):
            for suite in fields.get("suites", []):
                yield Source(uri, suite, tuple(fields.get("components", [])))


def _base(suite: str) -> str:
    for variant in _VARIANTS:
        if suite.endswith(variant):
            return suite[: -len(variant)]
    return suite


def _expand(uri: str) -> list[str]:
    prefix = "mirror+file:"
    if not uri.startswith(prefix):
        return [uri]
    listed = _text(Path("/" + uri[len(prefix) :].lstrip("/")))
    return [line.split()[0] for line in listed.splitlines() if line.strip() and line[0] != "#"]
