"""The table of licences, and what keeps it from being written."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tools.supply.licenses import Row, distribution_row, faults_of, main, package_row, table
from tools.supply.rules import Reading, Rules
from tools.supply.shipped import Distribution

RULES = Rules(
    allowed=["MIT", "ISC"],
    names={"MIT License": "MIT"},
    read={"vague": Reading("1", "ISC")},
    unlocked={"elsewhere": Reading("2", "MIT")},
)
FILES = ["LICENSE", "package.json", "it.ts"]
MANIFEST: dict[str, Any] = {"name": "it", "version": "1.0", "license": "MIT"}


@pytest.mark.parametrize(
    ("found", "row"),
    [
        (Distribution("a", "1", "mit", ""), Row("a", "1", "MIT", "the wheel")),
        (Distribution("a", "1", "MIT License", ""), Row("a", "1", "MIT", "the wheel")),
        (Distribution("vague", "1", "BSD", ""), Row("vague", "1", "ISC", "the wheel")),
        (Distribution("vague", "2", "BSD", ""), Row("vague", "2", "", "the wheel")),
        (Distribution("a", "1", "BSD", ""), Row("a", "1", "", "the wheel")),
        (Distribution("a", "1", "", "x"), Row("a", "1", "", "the wheel's extra `x`")),
        (
            Distribution("elsewhere", None, "", ""),
            Row("elsewhere", "not in the lock; read in 2", "MIT", "the wheel"),
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
    manifest = {**MANIFEST, "peerDependencies": {"pi": "*"}, "bundleDependencies": False}
    row, faults = package_row(manifest, [*FILES[:2], "about_node_modules.md"])
    assert faults == []
    assert row == Row(
        "it (npm)", "1.0", "MIT", "npm package without dependencies: 3 files of this project"
    )


@pytest.mark.parametrize(
    ("manifest", "files", "fault"),
    [
        ({"dependencies": {"left": "1"}}, FILES, "no dependency, and has dependencies: left"),
        ({"optionalDependencies": {"left": "1"}}, FILES, "has optionalDependencies: left"),
        ({"bundledDependencies": ["left", "b"]}, FILES, "has bundledDependencies: left, b"),
        ({"bundleDependencies": ["left"]}, FILES, "has bundleDependencies: left"),
        ({"bundleDependencies": True}, FILES, "has bundleDependencies: true"),
        (
            {},
            [*FILES, "lib/node_modules/left/b.js", "lib/node_modules/left/a.js"],
            "has 2 files in node_modules, such as lib/node_modules/left/a.js",
        ),
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


@dataclass
class Inputs:
    """What the program is given, and what it then prints."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    rules: str = """
allowed = ["Apache-2.0", "Apache-2.0 OR BSD-2-Clause", "MIT"]
[names]
[read]
[unlocked]
nowhere-to-find = { version = "2.0", licence = "MIT", needs = ["packaging"] }
"""

    def run(self) -> tuple[int, str, str]:
        package = self.folder / "package"
        package.mkdir()
        (package / "LICENSE").touch()
        (package / "package.json").write_text(json.dumps(MANIFEST))
        project = self.folder / "pyproject.toml"
        project.write_text(
            '[project]\nname = "it"\nversion = "1"\nlicense = "MIT"\n'
            'dependencies = ["nowhere.to_find>=2"]\n'
        )
        rules = self.folder / "licenses.toml"
        rules.write_text(self.rules)
        with pytest.MonkeyPatch.context() as patch:
            options = [f"--project={project}", f"--rules={rules}", f"--package={package}"]
            patch.setattr(sys, "argv", ["licenses", *options])
            code = main()
        printed = self.capture.readouterr()
        return code, printed.out, printed.err


@pytest.fixture
def inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Inputs:
    return Inputs(tmp_path, capsys)


def test_what_something_without_a_lock_needs_is_in_the_table_too(inputs: Inputs) -> None:
    code, out, err = inputs.run()
    assert (code, err) == (0, "")
    assert "| nowhere-to-find | not in the lock; read in 2.0 | MIT | the wheel |" in out
    assert "| packaging | " in out


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('version = "2.0"', 'version = "1.0"', "[unlocked] nowhere-to-find: it was read of 1.0"),
        (', needs = ["packaging"]', "", "[unlocked] nowhere-to-find: write version, licence"),
        ("nowhere-to-find =", "other =", "nowhere-to-find: its licence is not known"),
        ("[read]", '[read]\na = { version = "1", licence = "MIT" }', "[read] a: nothing that is"),
        ("[unlocked]", "[unlocked", "licenses.toml: it is no TOML"),
    ],
)
def test_no_table_is_made_with_a_reading_that_does_not_fit(
    inputs: Inputs, before: str, after: str, sentence: str
) -> None:
    assert before in inputs.rules
    inputs.rules = inputs.rules.replace(before, after)
    code, out, err = inputs.run()
    assert (code, out) == (1, "")
    assert sentence in err
