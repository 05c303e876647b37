"""The settings, texts, events and commands of the police as tables, in Markdown."""

from __future__ import annotations

import re
from typing import Any

from docs.generate.schema_page import CLASS

Tables = dict[str, Any]


def settings(tables: Tables) -> str:
    """Return the table of all settings but the texts."""
    rows = ["| key | default | values | meaning |", "| --- | --- | --- | --- |"]
    profiles = " or ".join(f"`{name}`" for name in tables["profiles"])
    rows.append(f"| `PROFILE` | `{tables['profiles'][0]}` | {profiles} | the set of rules |")
    for each in tables["numbers"]:
        rows.append(f"| `{each['key']}` | {each['default']} | {each['range']} | {each['about']} |")
    for each in tables["texts"]:
        default = f"`{each['default']}`" if each["default"] else "empty"
        rows.append(f"| `{each['key']}` | {default} | a text | {each['about']} |")
    return _page(rows)


def messages(tables: Tables) -> str:
    """Return the table of the texts that the model reads, with their placeholders."""
    rows = ["| key | placeholders | default |", "| --- | --- | --- |"]
    for key, text in tables["messages"].items():
        found = dict.fromkeys(re.findall(r"\{\w+\}", text))
        placeholders = " ".join(f"`{token}`" for token in found) or "none"
        rows.append(f"| `{key}` | {placeholders} | {_cell(text) or 'empty'} |")
    return _page(rows)


def events(tables: Tables) -> str:
    """Return the table of the events with what the user reads at each."""
    rows = ["| event | what the user is shown |", "| --- | --- |"]
    rows += [f"| `{name}` | {_cell(words)} |" for name, words in tables["events"].items()]
    return _page(rows)


def commands(tables: Tables) -> str:
    """Return the table of what follows `/loop-police`."""
    rows = ["| command | what it does |", "| --- | --- |"]
    rows.append("| `/loop-police` | show what was counted, and every setting |")
    for each in tables["commands"]:
        rows.append(f"| `/loop-police {each['label']}` | {_cell(each['description'])} |")
    return _page(rows)


def _page(rows: list[str]) -> str:
    return "\n".join([*CLASS, *rows]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
