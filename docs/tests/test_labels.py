"""Every target that the documentation names is declared in a BUILD file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs.tests.declared import declared
from docs.tests.pages import ROOT, pages, parsed
from docs.tests.sandbox import TARGETS

#: `//package:name`, `//package`, `//package/...`; no address, and no comment of a program.
_LABEL = re.compile(r"(?<![\w:/])//[\w.][\w./-]*(?::[\w./-]+)?")
DECLARED = declared(ROOT)


def labels(tokens: list[Token]) -> set[str]:
    """Return the labels in commands and in code within sentences, in their long form.

    What a command printed is not read: a record may name what there was.
    """
    return {_long(label) for text in _code(tokens) for label in _LABEL.findall(text)}


def _code(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "fence" and token.info.strip() == "console":
            yield from re.findall(r"(?m)^\$ ((?:.*\\\n)*.*)", token.content)
        elif token.type == "fence" and token.info.strip() == "yaml":
            yield token.content
        for child in token.children or []:
            if child.type == "code_inline":
                yield child.content


def _long(label: str) -> str:
    if ":" in label or label.endswith("..."):
        return label
    return f"{label}:{label.rpartition('/')[2]}"


NAMED = {label: page for page in pages() for label in labels(parsed(page))}


@pytest.mark.parametrize("label", sorted(label for label in NAMED if not label.endswith("...")))
def test_a_target_that_a_page_names_is_declared(label: str) -> None:
    declares = label in DECLARED
    assert declares, f"{NAMED[label]} names {label}, which no BUILD file declares"


@pytest.mark.parametrize("pattern", sorted(label for label in NAMED if label.endswith("...")))
def test_a_pattern_of_a_page_matches_targets(pattern: str) -> None:
    folder = pattern.removesuffix("/...")
    assert any(label.startswith((f"{folder}:", f"{folder}/")) for label in DECLARED), NAMED[pattern]


def _run_by(label: str) -> str:
    """Return what `tools/bazel run` runs, as the sandbox of the documentation writes it."""
    target = DECLARED[_long(label)]
    while "actual" in target:
        target = DECLARED[target["actual"]]
    args = target.get("args", [])
    if entries := [each.partition("=")[2] for each in args if each.startswith("--entry=")]:
        return f"node --experimental-strip-types {entries[0]}"
    if "main" in target:
        package = label.removeprefix("//").partition(":")[0]
        variable = f"{package.upper()}_TARBALL"
        given = " ".join(args).replace("rootpath ", f"rootpath //{package}:")
        assert DECLARED["//docs:commands_test"]["env"][variable] == given
        program = target["main"].replace("//tools/npm:", "{TOOLS}/npm/")
        return f"python {program} {{{variable}}}"
    [source] = target["srcs"]
    return f"python -m {source.removesuffix('.py').replace('/', '.')}"


@pytest.mark.parametrize("label", TARGETS)
def test_the_sandbox_of_the_commands_runs_what_the_target_runs(label: str) -> None:
    assert TARGETS[label] == _run_by(label)


def test_pages_name_targets_and_files_declare_them() -> None:
    assert len(NAMED) > 20
    assert {
        "//replay:score",
        "//tools:licenses",
        "//tools/lint:fix",
    } <= NAMED.keys() & DECLARED.keys()


def test_targets_of_rules_macros_and_loops_are_found(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "BUILD.bazel").write_text("")
    (tmp_path / "rules" / "defs.bzl").write_text(
        'load("@elsewhere//:rule.bzl", "their_rule")\n'
        "own_rule = rule(implementation = None, attrs = {'one': attr.label()})\n"
        "def two(name):\n"
        "    own_rule(name = name + '_one')\n"
        "    native.filegroup(name = name + '_' + native.package_name())\n"
    )
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "BUILD.bazel").write_text(
        'load("//rules:defs.bzl", double = "two")\n'
        'double(name = "both")\n[alias(name = "is_%s" % each) for each in ["a", "b"]]\n'
    )
    assert declared(tmp_path).keys() == {
        *("//place:both_one", "//place:both_place", "//place:is_a", "//place:is_b"),
    }


def test_what_the_reader_does_not_know_is_no_target_that_is_missed(tmp_path: Path) -> None:
    (tmp_path / "BUILD.bazel").write_text('unheard_of(name = "one")\n')
    with pytest.raises(NameError, match="unheard_of"):
        declared(tmp_path)


def test_labels_are_read_from_commands_and_code_and_from_nothing_else() -> None:
    text = (
        "`//one:two`, `tools/bazel run //three -- x//y`, `//four/five:six` and `//tools/...`,\n"
        "not //words, `https://address.example` or `file://PLACE`.\n\n"
        "```console\n$ tools/bazel test \\\n    //seven:eight\n//printed:line PASSED\n```\n\n"
        "```yaml\nrun: tools/bazel test //nine/...\n```\n\n"
        "```ts\n//comment\n```\n"
    )
    assert labels(MarkdownIt("commonmark").parse(text)) == {
        *("//one:two", "//three:three", "//four/five:six", "//tools/...", "//seven:eight"),
        "//nine/...",
    }
