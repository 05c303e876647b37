"""What `git diff --check` finds, over whole files instead of a change."""

from __future__ import annotations

import re

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_CONFLICT = re.compile(rb"(<{7}|={7}|>{7}|\|{7})(\s|$)")
_SPACE_BEFORE_TAB = re.compile(rb"^\t* +\t")


def problems(name: str, content: bytes) -> list[str]:
    """Return `NAME:LINE: problem` for each whitespace error; a binary file has none."""
    if b"\0" in content:
        return []
    found = []
    lines = _LINE.findall(content)
    for number, line in enumerate(lines, 1):
        text = line.removesuffix(b"\n")
        if text != text.rstrip(b" \t\r\v\f"):
            found.append(f"{name}:{number}: trailing whitespace")
        if _SPACE_BEFORE_TAB.match(line):
            found.append(f"{name}:{number}: space before tab in indent")
        if _CONFLICT.match(line):
            found.append(f"{name}:{number}: leftover conflict marker")
    if content.endswith(b"\n\n") or content == b"\n":
        found.append(f"{name}:{len(lines)}: new blank line at EOF")
    if content and not content.endswith(b"\n"):
        found.append(f"{name}:{len(lines)}: no newline at the end of the file")
    return found
