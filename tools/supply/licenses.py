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
from pathlib import Path, PurePosixPath
from typing import Any

from tools.supply import expressions, rules, shipped

_LICENSE_FILE = "LICENSE"
# What brings other packages along; npm reads both spellings of the last one.
_DEPENDENCIES = (
    *("dependencies", "optionalDependencies"),
    *("bundleDependencies", "bundledDependencies"),
)


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


def package_row(manifest: Mapping[str, Any], files: Iterable[str]) -> tuple[Row, list[str]]:
    """Return the line of a Pi package, and a sentence for each thing that is wrong with it."""
    name = str(manifest["name"])
    listed = sorted(files)
    faults = [
        f"{name} (npm): it must ship no dependency, and has {brought}"
        for brought in _brought(manifest, listed)
    ]
    if _LICENSE_FILE not in listed:
        faults.append(f"{name} (npm): it ships no file {_LICENSE_FILE}")
    why = f"npm package without dependencies: {len(listed)} files of this project"
    row = Row(f"{name} (npm)", str(manifest["version"]), str(manifest.get("license", "")), why)
    return row, faults


def distribution_row(found: shipped.Distribution, said: rules.Rules) -> Row:
    """Return the line of a Python distribution; its licence is "" where it cannot be told."""
    version = found.version
    if version is None:
        reading = said.unlocked.get(found.name)
        version = "not in the lock" + (f"; read in {reading.version}" if reading else "")
    why = f"the wheel's extra `{found.extra}`" if found.extra else "the wheel"
    return Row(found.name, version, rules.licence_of(found, said), why)


def faults_of(rows: Sequence[Row], allowed: Collection[str]) -> list[str]:
    """A sentence for each line without a licence, or with one that is not allowed."""
    sentences = []
    for row in rows:
        plain = expressions.plain(row.licence, {}) if row.licence else None
        if plain is None:
            sentences.append(
                f"{row.name}: its licence is not known; read it, and write it into {rules.FILE}"
            )
        elif not expressions.admits(allowed, plain):
            sentences.append(
                f"{row.name}: {plain} is not allowed; do without it, or allow it in {rules.FILE}"
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
    try:
        said = rules.read_rules(options.rules.read_text(encoding="utf-8"))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    project = options.project.read_text(encoding="utf-8")
    own = tomllib.loads(project)["project"]
    rows, faults = _packages(options.package)
    rows.append(Row(f"{own['name']} (PyPI)", own["version"], own["license"], "the wheel itself"))
    found = shipped.shipped(project, shipped.installed, lambda name: _needs(name, said))
    rows += [distribution_row(each, said) for each in found]
    faults += faults_of(rows, said.allowed) + rules.faults(found, said)
    if faults:
        print("\n".join(faults), file=sys.stderr)
        return 1
    if options.output:
        options.output.write_text(table(rows), encoding="utf-8")
    else:
        print(table(rows), end="")
    return 0


def _needs(name: str, said: rules.Rules) -> Sequence[str] | None:
    installed = shipped.installed_needs(name)
    if installed is None and name in said.unlocked:
        return said.unlocked[name].needs
    return installed


def _brought(manifest: Mapping[str, Any], files: Sequence[str]) -> list[str]:
    """What a Pi package brings along that is of other packages."""
    brought = []
    for key in _DEPENDENCIES:
        value = manifest.get(key)
        if value:
            # `true` bundles all that the package depends on.
            brought.append(f"{key}: true" if value is True else f"{key}: {', '.join(value)}")
    others = [file for file in files if "node_modules" in PurePosixPath(file).parts]
    if others:
        brought.append(f"{len(others)} files in node_modules, such as {others[0]}")
    return brought


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
