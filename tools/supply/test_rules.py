"""What was read by hand holds for the version that was read, and is told when nothing needs it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tools.supply import expressions, rules
from tools.supply.rules import Reading, Rules, faults, licence_of, read_rules
from tools.supply.shipped import Distribution

RULES = Rules(
    allowed=["MIT", "ISC"],
    names={"MIT License": "MIT"},
    read={"vague": Reading("1.0", "ISC")},
    unlocked={"elsewhere": Reading("2.0", "MIT", ["other>=1"])},
)
VAGUE = Distribution("vague", "1.0", "BSD", "")
ELSEWHERE = Distribution("elsewhere", None, "", "", SpecifierSet(">=1,<3"))

TEXT = """
allowed = ["MIT"]
[names]
[read]
{read}
[unlocked]
{unlocked}
"""


@pytest.mark.parametrize(
    ("found", "licence"),
    [
        (VAGUE, "ISC"),
        (replace(VAGUE, version="99.0"), ""),
        (replace(VAGUE, name="others"), ""),
        (replace(VAGUE, licence="MIT License"), "MIT"),
        (replace(VAGUE, licence="mit"), "MIT"),
        (ELSEWHERE, "MIT"),
        (replace(ELSEWHERE, name="others"), ""),
    ],
)
def test_a_licence_is_that_of_the_metadata_or_the_one_read_of_this_version(
    found: Distribution, licence: str
) -> None:
    assert licence_of(found, RULES) == licence


def test_readings_of_what_is_shipped_are_in_order() -> None:
    assert faults([VAGUE, ELSEWHERE], RULES) == []


@pytest.mark.parametrize(
    ("vague", "fault"),
    [
        (replace(VAGUE, version="99.0"), "it was read of 1.0, and 99.0 is shipped"),
        (replace(VAGUE, version="99.0", licence="Some proprietary terms"), "it was read of 1.0"),
        (replace(VAGUE, licence="ISC"), "its metadata says ISC by itself; take it out"),
        (replace(VAGUE, name="others"), "nothing that is locked and shipped has this name"),
        (replace(VAGUE, version=None), "nothing that is locked and shipped has this name"),
    ],
)
def test_a_reading_of_another_version_or_that_nothing_needs_is_a_fault(
    vague: Distribution, fault: str
) -> None:
    [sentence] = faults([vague, ELSEWHERE], RULES)
    assert sentence.startswith(f"{rules.FILE}: [read] vague: {fault}")


@pytest.mark.parametrize(
    ("elsewhere", "fault"),
    [
        (
            replace(ELSEWHERE, asked=SpecifierSet(">=2.1")),
            "it was read of 2.0, and >=2.1 is asked for",
        ),
        (replace(ELSEWHERE, version="2.0"), "nothing that is shipped and not locked has this name"),
        (replace(ELSEWHERE, name="others"), "nothing that is shipped and not locked has this name"),
    ],
)
def test_a_reading_without_a_lock_is_of_a_version_that_is_asked_for(
    elsewhere: Distribution, fault: str
) -> None:
    [sentence] = faults([VAGUE, elsewhere], RULES)
    assert sentence.startswith(f"{rules.FILE}: [unlocked] elsewhere: {fault}")


def test_the_file_is_read() -> None:
    text = TEXT.format(
        read='vague = { version = "1.0", licence = "ISC" }',
        unlocked='elsewhere = { version = "2.0", licence = "MIT", needs = ["other>=1"] }',
    )
    assert read_rules(text) == Rules(["MIT"], {}, RULES.read, RULES.unlocked)


@pytest.mark.parametrize(
    ("read", "unlocked", "place"),
    [
        ('a = "MIT"', "", "[read] a: write version, licence, and nothing else"),
        ('a = { licence = "MIT" }', "", "[read] a: write version, licence, and nothing else"),
        (
            'a = { version = "1", licence = "MIT", needs = [] }',
            "",
            "[read] a: write version, licence, and nothing else",
        ),
        (
            "",
            'a = { version = "1", licence = "MIT" }',
            "[unlocked] a: write version, licence, needs, and nothing else; needs = []",
        ),
    ],
)
def test_a_reading_that_lacks_something_is_refused(read: str, unlocked: str, place: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{rules.FILE}: {place}")):
        read_rules(TEXT.format(read=read, unlocked=unlocked))


def test_what_was_read_by_hand_is_itself_plain_and_allowed() -> None:
    real = read_rules(Path(__file__).with_name("licenses.toml").read_text(encoding="utf-8"))
    readings = [*real.read.values(), *real.unlocked.values()]
    for licence in [*(each.licence for each in readings), *real.allowed, *real.names.values()]:
        plain = expressions.plain(licence, {})
        assert plain == licence
        assert expressions.admits(real.allowed, plain)
