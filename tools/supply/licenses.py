"""List the licences of all that is shipped: `bazel run //tools:licenses`.

Prints a table in Markdown, or writes it with `--output`. Exit code 1 if something has no licence,
or one that `licenses.toml` does not allow; the sentences say which.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.supply import expressions, shipped

_LICENSE_FILE = "LICENSE"


@dataclass(frozen=True)
class Rules:
    """What `licenses.toml` says; see there.

    Attributes:
        allowed: SPDX identifiers.
        names: Older names of licences.
        read: Licences by distribution, where metadata leaves them open.
        unlocked: Licences by distribution, where the lock has none.
        needs: What such a distribution asks for itself.
    """

    allowed: Collection[str]
    names: Mapping[str, str]
    read: Mapping[str, str]
    unlocked: Mapping[str, str]
    needs: Mapping[str, list[str]]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        name: Of a package or distribution.
        version: Its version, or why there is none.
        licence: An SPDX expression, or "" if it is not known.
        why: What ships it.
    """

    name: str
    version: str
    licence: str
    why: str


def read_rules(text: str) -> Rules:
    """Read `licenses.toml`."""
    table = tomllib.loads(text)
    return Rules(table["allowed"], table["names"], table["read"], table["unlocked"], table["needs"])


def package_row(manifest: Mapping[str, Any], files: Iterable[str]) -> tuple[Row, list[str]]:
    """Return the line of a Pi package, and a sentence for each thing that is wrong with it."""
    name = str(manifest["name"])
    faults = [
        f"{name} (npm): it must ship no dependency, and has {', '.join(manifest[key])}"
        for key in ("dependencies", "optionalDependencies", "bundledDependencies")
        if manifest.get(key)
    ]
    listed = sorted(files)
    if _LICENSE_FILE not in listed:
        faults.append(f"{name} (npm): it ships no file {_LICENSE_FILE}")
    why = f"npm package without dependencies: {len(listed)} files of this project"
    row = Row(f"{name} (npm)", str(manifest["version"]), str(manifest.get("license", "")), why)
    return row, faults


def distribution_row(found: shipped.Distribution, rules: Rules) -> Row:
    """Return the line of a Python distribution; its licence is "" where it cannot be told."""
    if found.version is None:
        licence, version = rules.unlocked.get(found.name), "not in the lock"
    else:
        said = expressions.plain(found.licence, rules.names)
        licence, version = said or rules.read.get(found.name), found.version
    why = f"the wheel's extra `{found.extra}`" if found.extra else "the wheel"
    return Row(found.name, version, licence or "", why)


def faults_of(rows: Sequence[Row], allowed: Collection[str]) -> list[str]:
    """A sentence for each line without a licence, or with one that is not allowed."""
    sentences = []
    for row in rows:
        plain = expressions.plain(row.licence, {}) if row.licence else None
        if plain is None:
            sentences.append(
                f"{row.name}: its licence is not known; "
                "read it, and write it into tools/supply/licenses.toml"
            )
        elif not expressions.admits(allowed, plain):
            sentences.append(
                f"{row.name}: {plain} is not allowed; "
                "do without it, or allow it in tools/supply/licenses.toml"
            )
    return sentences


def table(rows: Sequence[Row]) -> str:
    """Return the table, in Markdown."""
    lines = ["| Package | Version | Licence | Shipped with |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.name} | {row.version} | {row.licence} | {row.why} |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the table, and return the exit code."""
    options = _parser().parse_args()
    rules = read_rules(options.rules.read_text(encoding="utf-8"))
    project = options.project.read_text(encoding="utf-8")
    own = tomllib.loads(project)["project"]
    rows, faults = _packages(options.package)
    rows.append(Row(f"{own['name']} (PyPI)", own["version"], own["license"], "the wheel itself"))

    def needs(name: str) -> list[str] | None:
        return shipped.installed_needs(name) or rules.needs.get(name)

    found = shipped.shipped(project, shipped.installed, needs)
    rows += [distribution_row(each, rules) for each in found]
    faults += faults_of(rows, rules.allowed)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    if options.output:
        options.output.write_text(table(rows), encoding="utf-8")
    else:
        print(table(rows), end="")
    return 0


def _packages(folders: Iterable[Path]) -> tuple[list[Row], list[str]]:
    rows, faults = [], []
    for folder in folders:
        manifest = json.loads((folder / "package.json").read_text(encoding="utf-8"))
        files = [str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()]
        row, wrong = package_row(manifest, files)
        rows.append(row)
        faults += wrong
    return rows, faults


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="List the licences of all that is shipped.")
    parser.add_argument("--project", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--rules", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--package", type=Path, action="append", required=True, help=argparse.SUPPRESS
    )
    parser.add_argument("--output", type=Path, help="write the table to this file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
