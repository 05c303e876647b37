"""What comes along with the wheel: requirements of requirements, on each Python and system."""

from __future__ import annotations

from email.message import Message

import pytest
from packaging.markers import default_environment
from packaging.specifiers import SpecifierSet

from tools.supply.shipped import ENVIRONMENTS, Distribution, licence_of, shipped

PROJECT = """
[project]
name = "it"
dependencies = ["One-Thing[fast]>=1", "old; python_version < '3.12'", "never; python_version < '3'"]
[project.optional-dependencies]
more = ["more", "one_thing"]
"""
NEEDS = {
    "one-thing": [
        "two",
        "fast; extra == 'fast'",
        "slow; extra == 'slow'",
        "windows; sys_platform == 'win32'",
    ],
    "two": ["one-thing", "three"],
    "more": ["three", "four[five]"],
    "three": [],
    "fast": [],
    "four": ["five; extra == 'five'", "six; extra == 'six'"],
    "five": [],
}


def message(**fields: str | list[str]) -> Message:
    made = Message()
    for name, values in fields.items():
        for value in [values] if isinstance(values, str) else values:
            made[name.replace("_", "-")] = value
    return made


def find(name: str) -> Message | None:
    return message(Version="1.0", License_Expression="MIT") if name in NEEDS else None


def test_requirements_of_requirements_come_along_once_each() -> None:
    found = shipped(PROJECT, find, NEEDS.get)
    assert [(each.name, each.extra) for each in found] == [
        ("fast", ""),
        ("old", ""),
        ("one-thing", ""),
        ("three", ""),
        ("two", ""),
        ("windows", ""),
        ("five", "more"),
        ("four", "more"),
        ("more", "more"),
    ]


def test_what_the_lock_does_not_have_is_listed_without_a_version() -> None:
    found = {each.name: each for each in shipped(PROJECT, find, NEEDS.get)}
    assert found["old"] == Distribution("old", None, "", "")
    assert found["windows"].version is None
    assert found["two"] == Distribution("two", "1.0", "MIT", "")


def test_the_versions_that_suit_are_those_that_suit_all_who_ask() -> None:
    needs = {**NEEDS, "four": ["two>=2,!=2.1"], "three": ["two<3", "two>9; python_version < '3'"]}
    found = {each.name: each for each in shipped(PROJECT, find, needs.get)}
    assert found["two"].asked == SpecifierSet(">=2,!=2.1,<3")
    assert found["one-thing"].asked == SpecifierSet(">=1")
    assert found["more"].asked == SpecifierSet()


@pytest.mark.parametrize(
    ("marker", "comes"),
    [
        ("platform_machine == 'x86_64'", True),
        ("platform_machine == 'aarch64' and sys_platform == 'linux'", True),
        ("platform_machine == 'arm64' and sys_platform == 'darwin'", True),
        ("platform_machine == 'AMD64' and os_name == 'nt'", True),
        ("platform_machine == 'ARM64' and platform_system == 'Windows'", True),
        ("platform_machine == 'aarch64' and sys_platform == 'darwin'", False),
        ("platform_machine == 's390x'", False),
        ("python_version == '3.11' and python_full_version > '3.11.3'", True),
        ("python_full_version == '3.13.2'", True),
        ("python_full_version < '3.11'", False),
        ("implementation_version == '3.12.7' and python_version == '3.12'", True),
        ("implementation_version < '3.11'", False),
        ("implementation_name == 'pypy'", False),
        ("platform_python_implementation == 'PyPy'", False),
        ("platform_release >= '20'", True),
        ("'Ubuntu' in platform_version", True),
    ],
)
def test_what_may_come_along_anywhere_comes_along(marker: str, *, comes: bool) -> None:
    project = f'[project]\ndependencies = ["some; {marker}"]\n'
    assert [each.name for each in shipped(project, find, NEEDS.get)] == ["some"] * comes


def test_no_marker_is_decided_by_the_machine_that_builds() -> None:
    assert ENVIRONMENTS
    for environment in ENVIRONMENTS:
        assert set(environment) == set(default_environment())


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License_Expression": "MIT OR ISC", "License": "old"}, "MIT OR ISC"),
        ({"License": "Apache-2.0"}, "Apache-2.0"),
        ({"License": "Apache-2.0", "Classifier": "License :: OSI Approved :: X"}, "Apache-2.0"),
        ({"Classifier": "License :: OSI Approved :: MIT License"}, "MIT License"),
        (
            {
                "Classifier": [
                    "License :: OSI Approved",
                    "License :: OSI Approved :: A",
                    "Topic :: B",
                ]
            },
            "A",
        ),
        (
            {"Classifier": ["License :: OSI Approved :: A", "License :: OSI Approved :: B"]},
            "A AND B",
        ),
        (
            {"License": "Copyright\n all of it", "Classifier": "License :: OSI Approved :: A"},
            "A",
        ),
        ({"License": "UNKNOWN", "Classifier": "License :: OSI Approved :: A"}, "A"),
        ({"License": "UNKNOWN"}, ""),
        ({}, ""),
    ],
)
def test_the_licence_is_the_expression_or_the_short_text_or_the_classifiers(
    fields: dict[str, str | list[str]], licence: str
) -> None:
    assert licence_of(message(**fields)) == licence
