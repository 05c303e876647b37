"""Tune: which recorded sessions are loops, from a table that a person wrote."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from satyrn_engine.errors import ConfigError
from satyrn_engine.reports import SessionReport

LABELS = ("loop", "legitimate")


@dataclass(frozen=True, slots=True)
class Label:
    """What is said of one session.

    Attributes:
        place: the file and line where it is said.
        session: the session's id, its file's name, or the end of its path.
        label: `loop` or `legitimate`.
    """

    place: str
    session: str
    label: str


def read_labels(file: Path) -> list[Label]:
    """Read a table with the columns `session` and `label`, separated by tabs or commas.

    Raises:
        ConfigError: if the file cannot be read, or a line of it is wrong.
    """
    try:
        text = file.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 text; save it as UTF-8") from error
    head = text.split("\n", 1)[0]
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if "\t" in head else ",")
    columns = [name.strip() for name in next(rows, [])]
    for name in ("session", "label"):
        if name not in columns:
            raise ConfigError(f"{file}:1: has no column {name!r}; begin with: session<tab>label")
    session, label = columns.index("session"), columns.index("label")
    found = []
    try:
        numbered = [(rows.line_num, row) for row in rows]
    except csv.Error as error:
        raise ConfigError(f"{file}:{rows.line_num}: {error}; is a quote left open?") from error
    for number, row in numbered:
        place = f"{file}:{number}"
        if not any(cell.strip() for cell in row):
            continue
        if len(row) <= max(session, label) or not row[session].strip():
            raise ConfigError(f"{place}: gives no session or no label; complete or remove the line")
        found.append(_checked(Label(place, row[session].strip(), row[label].strip())))
    if not found:
        raise ConfigError(f"{file}: labels no session; add a line for each")
    return found


def labels_of(given: Mapping[str, str]) -> list[Label]:
    """Return labels that a program gives.

    Raises:
        ConfigError: if one is no label.
    """
    return [_checked(Label(f"labels[{key!r}]", key, label)) for key, label in given.items()]


def _checked(label: Label) -> Label:
    if label.label not in LABELS:
        raise ConfigError(f"{label.place}: {label.label!r} is no label; write loop or legitimate")
    return label


def assign(
    labels: Iterable[Label], reports: Iterable[SessionReport]
) -> tuple[dict[tuple[str, str], str], list[Label]]:
    """Find the sessions that are meant.

    Returns:
        The label of each session by source and id, and the labels that no session has.

    Raises:
        ConfigError: if a label means several sessions, or a session has two.
    """
    known: dict[str, list[tuple[str, str]]] = {}
    for report in reports:
        for name in _names(report):
            known.setdefault(name, []).append((report.source, report.session))
    found: dict[tuple[str, str], Label] = {}
    lost = []
    for label in labels:
        meant = known.get(label.session.replace("\\", "/").removeprefix("./"), [])
        if len(meant) > 1:
            several = ", ".join(source for source, _ in meant[:3])
            raise ConfigError(
                f"{label.place}: {label.session} is {len(meant)} sessions ({several}); "
                "write more of the path, or the id"
            )
        if not meant:
            lost.append(label)
            continue
        before = found.setdefault(meant[0], label)
        if before.label != label.label:
            raise ConfigError(
                f"{label.place}: {label.session} is {label.label} here and {before.label} in "
                f"{before.place}; correct one"
            )
    return {session: label.label for session, label in found.items()}, lost


def _names(report: SessionReport) -> set[str]:
    """Return all names by which a session may be called: its id, and every end of its path."""
    parts = report.source.replace("\\", "/").split("/")
    names = {"/".join(parts[place:]) for place in range(len(parts))}
    return (names | {report.session}) - {""}
