"""MODULE.bazel may call what is listed; everything else that could fetch is found out."""

from __future__ import annotations

import pytest

from tools.supply.module_file import REMEDY, faults

LOCKS = ["requirements_lock.txt", "tools/pi/newest/package-lock.json"]
PYTHON = 'python = use_extension("@rules_python//python/extensions:python.bzl", "python")\n'
PIP = 'pip = use_extension("@rules_python//python/extensions:pip.bzl", "pip")\n'
NPM = 'npm_ci = use_repo_rule("//tools/npm:npm_ci.bzl", "npm_ci")\n'
HTTP = "@bazel_tools//tools/build_defs/repo:http.bzl"


def npm(lock: str) -> str:
    return NPM + f'npm_ci(name = "n", npmrc = "r", package_json = "p"{lock})\n'


@pytest.mark.parametrize(
    "text",
    [
        '"""What this is."""\n',
        'module(name = "it", version = "1", bazel_compatibility = [">=7"])\n',
        'bazel_dep(name = "a", version = "1.0.0-rc.1")\n',
        'bazel_dep(name = "a", version = "20250127.0", repo_name = "b", dev_dependency = True)\n',
        PYTHON + 'python.toolchain(python_version = "3.14")\nuse_repo(python, "a", b = "c")\n',
        PIP + 'pip.parse(hub_name = "h", requirements_lock = "//:requirements_lock.txt")\n',
        npm(', package_lock = "//tools/pi/newest:package-lock.json"'),
    ],
)
def test_what_is_listed_may_be_called(text: str) -> None:
    assert faults(text, LOCKS) == []


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ('archive_override(module_name = "a", urls = ["u"])', "archive_override"),
        ('git_override(module_name = "a", remote = "r", commit = "c")', "git_override"),
        ('local_path_override(module_name = "a", path = "p")', "local_path_override"),
        ('single_version_override(module_name = "a", patches = ["p"])', "single_version_override"),
        ('single_version_override(module_name = "a", registry = "r")', "single_version_override"),
        ('multiple_version_override(module_name = "a", registry = "r")', "multiple_version_overr"),
        ('include("//:more.MODULE.bazel")', "include"),
        ('http_archive(name = "a", urls = ["u"])', "http_archive"),
        (NPM + 'npm_ci.more(name = "a")', "npm_ci.more"),
        (PIP + 'pip.override(file = "a")', "pip.override"),
        ('pip.parse(hub_name = "h", requirements_lock = "//:requirements_lock.txt")', "pip.parse"),
    ],
)
def test_a_call_that_is_not_listed_is_a_fault(call: str, name: str) -> None:
    [sentence] = faults(call + "\n", LOCKS)
    assert sentence.startswith(f"MODULE.bazel:{call.count(chr(10)) + 1}: nothing here knows what `")
    assert f"`{name}" in sentence
    assert sentence.endswith(REMEDY)


@pytest.mark.parametrize(
    "load",
    [
        f'x = use_repo_rule("{HTTP}", "http_file")',
        f'x = use_repo_rule("{HTTP}", "http_jar")',
        'x = use_repo_rule("@bazel_tools//tools/build_defs/repo:git.bzl", "git_repository")',
        'x = use_repo_rule("//tools/npm:npm_ci.bzl", "other")',
        'x = use_repo_rule("//tools/npm:npm_ci.bzl", name)',
        'x = use_repo_rule("//tools/npm:npm_ci.bzl", "npm_ci", name)',
        'x = use_extension("//tools/npm:npm_ci.bzl", "npm_ci")',
        'x = use_extension("@rules_python//python/extensions:pip.bzl", "pip", isolate = True)',
    ],
)
def test_what_is_loaded_is_listed_too(load: str) -> None:
    [sentence] = faults(load + "\n", LOCKS)
    assert sentence.startswith("MODULE.bazel:1: nothing here knows what `use_")


def test_what_an_unknown_load_gave_may_not_be_called() -> None:
    text = f'x = use_repo_rule("{HTTP}", "http_file")\nx(name = "a", url = "u")\n'
    assert len(faults(text, LOCKS)) == 2


@pytest.mark.parametrize(
    "statement",
    [
        "x = archive_override",
        "[git_override(module_name = a) for a in []]",
        'x, y = use_repo_rule("//tools/npm:npm_ci.bzl", "npm_ci")',
        'bazel_dep(name = "a", version = include("b"))',
        'use_repo(include("b"))',
        'bazel_dep(name = "a", version = "1", registry = "r")',
        'bazel_dep(name = "a", **{"version": "1"})',
        'bazel_dep("a", version = "1")',
        'bazel_dep(name = "a")',
        'bazel_dep(name = "a", version = "")',
        'bazel_dep(name = "a", version = "latest")',
        'bazel_dep(name = "a", version = other)',
    ],
)
def test_a_statement_that_is_not_plain_is_a_fault(statement: str) -> None:
    [sentence] = faults(statement + "\n", LOCKS)
    assert sentence.startswith("MODULE.bazel:1: ")


@pytest.mark.parametrize(
    ("text", "lock"),
    [
        (npm(""), "package_lock"),
        (npm(', package_lock = "//:package-lock.json"'), "package_lock"),
        (npm(', package_lock = "@other//tools/pi/newest:package-lock.json"'), "package_lock"),
        (PIP + 'pip.parse(hub_name = "h")\n', "requirements_lock"),
        (PIP + 'pip.parse(requirements_lock = "//:other.txt")\n', "requirements_lock"),
    ],
)
def test_what_fetches_by_a_lock_has_one_that_is_checked(text: str, lock: str) -> None:
    [sentence] = faults(text, LOCKS)
    assert f"has no {lock} whose digests are checked" in sentence
