"""What is no proper lock is found out, one fault at a time; its proper sibling is left alone."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tools.supply.locks import Pin, faults, is_lock, npm_staleness, pins, python_staleness

HASH = "--hash=sha256:" + "0a" * 32
SRI = "sha512-" + "Ab+/" * 21 + "Qw=="
PYTHON = f"""\
# Made by a tool.
Some-Name==1.0 ; python_full_version < '3.14' \\
    {HASH} \\
    {HASH}
    # via other
other[extra]==2.0.post1 {HASH}
"""

KINDS = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"]
ELSEWHERE = [
    *("https://host.example/b.tgz", "HTTP://host.example/b.tgz", "git+ssh://git@host.example/b"),
    *("git@host.example:me/b.git", "someone@host.example:b", "github:me/b", "gist:0a1b", "me/b#1"),
]
REGISTRYS = [
    *("1.2.3", "^1.2 || >=2 <3", "~1", "*", "", "latest", "npm:b@1", "npm:@me/b@^1"),
    *("file:../b", "file:b.tgz", "workspace:*", "../b", "./b", "~/b"),
]


def npm(**entry: Any) -> str:  # noqa: ANN401 - becomes JSON
    package = {"version": "1.2.3", "integrity": SRI, **entry}
    kept = {name: value for name, value in package.items() if value is not None}
    packages = {"": {"dependencies": {"a": "1.2.3"}}, "node_modules/a": kept}
    return json.dumps({"lockfileVersion": 3, "packages": packages}, indent=2)


@pytest.mark.parametrize(
    "name",
    [
        *("package-lock.json", "deep/package-lock.json", "requirements_lock.txt"),
        *("requirements.txt", "node.requirements.txt", "requirements-dev.txt", "tool.lock.txt"),
        *("MODULE.bazel.lock", "yarn.lock", "deep/uv.lock"),
    ],
)
def test_a_lock_is_known_by_its_name(name: str) -> None:
    assert is_lock(name)


@pytest.mark.parametrize(
    "name", ["package.json", "requirements.in", "lock.py", "clock.txt", "a.md"]
)
def test_other_files_are_no_locks(name: str) -> None:
    assert not is_lock(name)


def test_what_a_lock_of_python_pins() -> None:
    assert pins("requirements_lock.txt", PYTHON) == [
        Pin("some-name", "1.0", digests=True),
        Pin("other", "2.0.post1", digests=True),
    ]
    assert faults("requirements_lock.txt", PYTHON) == []


def test_what_a_lock_of_npm_pins() -> None:
    assert pins("package-lock.json", npm()) == [Pin("node_modules/a", "1.2.3", digests=True)]
    assert faults("package-lock.json", npm()) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a==1.0\n", "a 1.0 is not pinned by a digest"),
        ("a==1.0 --hash=md5:00\n", "a 1.0 is not pinned by a digest"),
        (f"a==1.0 {HASH} --hash=sha1:{'0' * 40}\n", "a 1.0 is not pinned by a digest"),
        (f"a==1.0 {HASH[:-1]}\n", "a 1.0 is not pinned by a digest"),
        (f"a>=1.0 {HASH}\n", "a>=1.0 names no version"),
        (f"a==1.0,!=2.0 {HASH}\n", "names no version"),
        (f"a {HASH}\n", "a names no version"),
        (f"a @ file:///b.whl {HASH}\n", "names no version"),
        ("--index-url somewhere\n", "--index-url is an option"),
        ("== nonsense\n", "is no requirement"),
        ("# nothing\n", "it pins nothing"),
        (PYTHON + "# from https://host.example/simple\n", "names the address https://host.example"),
    ],
)
def test_a_fault_in_a_lock_of_python_is_told(text: str, fault: str) -> None:
    [sentence] = faults("requirements_lock.txt", text)
    assert sentence.startswith("requirements_lock.txt: ")
    assert fault in sentence


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (npm(integrity=None), "node_modules/a 1.2.3 is not pinned by a digest"),
        (npm(integrity="sha1-" + "A" * 27 + "="), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha512-short"), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity=f"{SRI} md5-AA"), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha512-" + "A" * 43), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha512-" + "A" * 43 + "="), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha512-" + "A" * 86), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha384-" + "A" * 43 + "="), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha384-" + "A" * 63), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha256-" + "A" * 43), "node_modules/a 1.2.3 is not pinned"),
        (npm(integrity="sha256-" + "A" * 64), "node_modules/a 1.2.3 is not pinned"),
        (npm(resolved="https://host.example/a.tgz"), "the address https://host.example/a.tgz"),
        (npm(resolved="git+ssh://host.example/a"), "the address git+ssh://host.example/a"),
        (npm(resolved="git@host.example:a"), "the address git@host.example:a"),
        (npm(resolved=" https://host.example/a.tgz"), "the address https://host.example/a.tgz"),
        (npm(version="https://host.example/a.tgz"), "the address https://host.example/a.tgz"),
        *(
            (npm(**{kind: {"b": wish}}), f"it names the address {wish}")
            for kind in KINDS
            for wish in ELSEWHERE
        ),
        ('{"lockfileVersion": 1}', "no lock of npm 7 or later"),
        ("[]", "no lock of npm 7 or later"),
        ("{", "it is no JSON"),
        ('{"lockfileVersion": 3, "packages": {"": {}}}', "it pins nothing"),
    ],
)
def test_a_fault_in_a_lock_of_npm_is_told(text: str, fault: str) -> None:
    [sentence] = faults("package-lock.json", text)
    assert fault in sentence


def test_a_lock_that_nothing_reads_is_told() -> None:
    assert faults("uv.lock", PYTHON) == [
        "uv.lock: nothing here reads a uv.lock, so nothing checks what it pins"
    ]


@pytest.mark.parametrize("how", [{"link": True}, {"inBundle": True}])
def test_what_npm_does_not_fetch_by_itself_needs_no_digest(how: dict[str, bool]) -> None:
    lock = json.loads(npm())
    lock["packages"]["node_modules/b"] = how
    assert faults("package-lock.json", json.dumps(lock)) == []


@pytest.mark.parametrize("size", [32, 48, 64])
def test_each_digest_from_sha256_on_is_strong(size: int) -> None:
    integrity = f"sha{size * 8}-{base64.b64encode(bytes(size)).decode()}"
    assert faults("package-lock.json", npm(integrity=integrity)) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wish", REGISTRYS)
def test_what_is_in_the_registry_or_on_the_disk_is_no_address(kind: str, wish: str) -> None:
    assert faults("package-lock.json", npm(**{kind: {"@me/b": wish}})) == []


@pytest.mark.parametrize(
    "for_people",
    [
        {"funding": {"url": "https://host.example/fund"}},
        {"funding": [{"url": "https://host.example/fund"}]},
        {"funding": "https://host.example/fund"},
        {"deprecated": "moved, see https://host.example/why or git@host.example:a"},
        {"deprecated": "https://host.example/why"},
        {"license": "SEE LICENSE IN https://host.example/terms"},
    ],
)
def test_an_address_that_nothing_is_fetched_from_is_no_fault(for_people: dict[str, Any]) -> None:
    assert faults("package-lock.json", npm(**for_people)) == []


@pytest.mark.parametrize(
    ("manifest", "stale"),
    [
        ({"dependencies": {"a": "1.2.3"}}, []),
        ({"dependencies": {"a": "1.2.4"}}, ["dependencies"]),
        ({}, ["dependencies"]),
        ({"dependencies": {"a": "1.2.3"}, "devDependencies": {"b": "1"}}, ["devDependencies"]),
    ],
)
def test_a_lock_of_npm_is_stale_when_package_json_asks_for_something_else(
    manifest: dict[str, Any], stale: list[str]
) -> None:
    told = npm_staleness("package-lock.json", npm(), json.dumps(manifest))
    assert told == [
        f"package-lock.json: its {key} are not those of package.json beside it" for key in stale
    ]


@pytest.mark.parametrize(
    ("wanted", "stale"),
    [
        ("some_name\nother[extra] # why\n", []),
        ("Some.Name>=1,<2\n", []),
        ("other>=2.0.post1\n", []),
        ("some-name>=1.1\n", ["l: it has some-name 1.0, and some-name>=1.1 is wanted"]),
        ("missing\n", ["l: it has no missing"]),
    ],
)
def test_a_lock_of_python_is_stale_when_a_wish_is_not_fulfilled(
    wanted: str, stale: list[str]
) -> None:
    assert python_staleness("l", PYTHON, wanted) == stale
