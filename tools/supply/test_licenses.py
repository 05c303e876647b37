"""The table of licences, and what keeps it from being written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.supply.licenses import (
    Row,
    Rules,
    distribution_row,
    faults_of,
    package_row,
    read_rules,
    table,
)
from tools.supply.shipped import Distribution

RULES = Rules(
    allowed=["MIT", "ISC"],
    names={"MIT License": "MIT"},
    read={"vague": "ISC"},
    unlocked={"elsewhere": "MIT"},
    needs={},
)
FILES = ["LICENSE", "package.json", "it.ts"]
MANIFEST: dict[str, Any] = {"name": "it", "version": "1.0", "license": "MIT"}


@pytest.mark.parametrize(
    ("found", "row"),
    [
        (Distribution("a", "1", "mit", ""), Row("a", "1", "MIT", "the wheel")),
        (Distribution("a", "1", "MIT License", ""), Row("a", "1", "MIT", "the wheel")),
        (Distribution("vague", "1", "BSD", ""), Row("vague", "1", "ISC", "the wheel")),
        (Distribution("a", "1", "BSD", ""), Row("a", "1", "", "the wheel")),
        (Distribution("a", "1", "", "x"), Row("a", "1", "", "the wheel's extra `x`")),
        (
            Distribution("elsewhere", None, "", ""),
            Row("elsewhere", "not in the lock", "MIT", "the wheel"),
        ),
        (Distribution("a", None, "", ""), Row("a", "not in the lock", "", "the wheel")),
    ],
)
def test_a_distribution_has_the_licence_of_its_metadata_or_the_one_that_was_read(
    found: Distribution, row: Row
) -> None:
    assert distribution_row(found, RULES) == row


@pytest.mark.parametrize(
    ("licence", "fault"),
    [
        ("MIT", None),
        ("MIT OR GPL-3.0-only", None),
        ("GPL-3.0-only", "a: GPL-3.0-only is not allowed"),
        ("MIT AND GPL-3.0-only", "a: MIT AND GPL-3.0-only is not allowed"),
        ("", "a: its licence is not known"),
        ("SEE LICENSE IN FILE", "a: its licence is not known"),
    ],
)
def test_no_licence_or_one_that_is_not_allowed_is_a_fault(licence: str, fault: str | None) -> None:
    told = faults_of([Row("a", "1", licence, "")], RULES.allowed)
    if fault is None:
        assert told == []
    else:
        [sentence] = told
        assert sentence.startswith(fault)
        assert "tools/supply/licenses.toml" in sentence


def test_a_package_without_dependencies_and_with_its_licence_is_in_order() -> None:
    row, faults = package_row({**MANIFEST, "peerDependencies": {"pi": "*"}}, FILES)
    assert faults == []
    assert row == Row(
        "it (npm)", "1.0", "MIT", "npm package without dependencies: 3 files of this project"
    )


@pytest.mark.parametrize(
    ("manifest", "files", "fault"),
    [
        ({"dependencies": {"left": "1"}}, FILES, "it must ship no dependency, and has left"),
        ({"optionalDependencies": {"left": "1"}}, FILES, "it must ship no dependency"),
        ({"bundledDependencies": ["left"]}, FILES, "it must ship no dependency, and has left"),
        ({}, FILES[1:], "it ships no file LICENSE"),
    ],
)
def test_a_dependency_or_a_missing_licence_of_a_package_is_a_fault(
    manifest: dict[str, Any], files: list[str], fault: str
) -> None:
    [sentence] = package_row({**MANIFEST, **manifest}, files)[1]
    assert fault in sentence


def test_a_package_that_names_no_licence_is_a_fault() -> None:
    row, _ = package_row({"name": "it", "version": "1"}, FILES)
    assert faults_of([row], RULES.allowed)


def test_the_table_is_markdown() -> None:
    assert table([Row("a", "1", "MIT", "the wheel")]).splitlines() == [
        "| Package | Version | Licence | Shipped with |",
        "| --- | --- | --- | --- |",
        "| a | 1 | MIT | the wheel |",
    ]


def test_what_was_read_by_hand_is_itself_plain_and_allowed() -> None:
    rules = read_rules(Path(__file__).with_name("licenses.toml").read_text(encoding="utf-8"))
    given = {**rules.read, **rules.unlocked}
    rows = [Row(name, "", licence, "") for name, licence in given.items()]
    rows += [Row(name, "", name, "") for name in rules.allowed]
    rows += [Row(name, "", licence, "") for name, licence in rules.names.items()]
    assert faults_of(rows, rules.allowed) == []
