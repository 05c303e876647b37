"""Reads MODULE.bazel: whether it calls only what fetches nothing, or what it fetches is pinned."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping

REMEDY = (
    "do without it, or list it in tools/supply/module_file.py, with what pins the things it fetches"
)

# Every call that MODULE.bazel may make, with the arguments that it may give. There is no override,
# no include and no registry among them: all that is not here is a fault.
_CALLS: Mapping[str, Collection[str]] = {
    "module": ["name", "version", "bazel_compatibility"],
    # An exact version, whose digest the module registry keeps.
    "bazel_dep": ["name", "version", "repo_name", "dev_dependency"],
}
# What it may load, and what of that it may call. What is empty is the rule itself.
_LOADED: Mapping[tuple[str, ...], Mapping[str, Collection[str]]] = {
    # Interpreters, by the digests that rules_python has of each version.
    ("use_extension", "@rules_python//python/extensions:python.bzl", "python"): {
        ".defaults": ["python_version"],
        ".toolchain": ["python_version"],
    },
    ("use_extension", "@rules_python//python/extensions:pip.bzl", "pip"): {
        ".parse": ["hub_name", "python_version", "requirements_lock"],
    },
    # Node.js, by the digests that rules_nodejs has of each version.
    ("use_extension", "@rules_nodejs//nodejs:extensions.bzl", "node"): {
        ".toolchain": ["node_version"],
    },
    ("use_repo_rule", "//tools/npm:npm_ci.bzl", "npm_ci"): {
        "": ["name", "npmrc", "package_json", "package_lock"],
    },
    # It fetches nothing.
    ("use_repo_rule", "//tools/nested:running_bazel.bzl", "running_bazel"): {"": ["name"]},
}
# Whatever takes one of these fetches by the digests in it.
_LOCKS = ("package_lock", "requirements_lock")
_VERSION = re.compile(r"\d[\w.+-]*")


def faults(text: str, locks: Collection[str]) -> list[str]:
    """A sentence for each statement that may fetch something that is not pinned.

    Args:
        text: Of MODULE.bazel.
        locks: The paths of the files whose digests are checked.
    """
    known = dict(_CALLS)
    sentences = []
    for statement in ast.parse(text).body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                fault = None
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                fault = _load_fault(call)
                parts = {} if fault else _LOADED[_loaded(call)]
                known |= {name + part: arguments for part, arguments in parts.items()}
            case ast.Expr(value=ast.Call() as call):
                fault = _call_fault(call, known, locks)
            case _:
                fault = f"nothing here knows what `{ast.unparse(statement)}` does"
        if fault:
            sentences.append(f"MODULE.bazel:{statement.lineno}: {fault}; {REMEDY}")
    return sentences


def _loaded(call: ast.Call) -> tuple[str, ...]:
    return (ast.unparse(call.func), *(str(_literal(each)) for each in call.args))


def _load_fault(call: ast.Call) -> str | None:
    if call.keywords or _loaded(call) not in _LOADED:
        return f"nothing here knows what `{ast.unparse(call)}` loads"
    return None


def _call_fault(
    call: ast.Call, known: Mapping[str, Collection[str]], locks: Collection[str]
) -> str | None:
    function = ast.unparse(call.func)
    if sum(isinstance(node, ast.Call) for node in ast.walk(call)) > 1:
        return f"nothing here knows what is called within `{function}`"
    if function == "use_repo":
        # It gives names to what is fetched elsewhere.
        return None
    if function not in known:
        return f"nothing here knows what `{function}` fetches"
    given = {each.arg: _literal(each.value) for each in call.keywords}
    unknown = sorted(str(name) for name in given if name not in known[function])
    if call.args or unknown:
        what = ", ".join(unknown) or "arguments without a name"
        return f"nothing here knows what `{function}` does with {what}"
    return _pin_fault(function, known[function], given, locks)


def _pin_fault(
    function: str,
    arguments: Collection[str],
    given: Mapping[str | None, object],
    locks: Collection[str],
) -> str | None:
    if function == "bazel_dep" and not _VERSION.fullmatch(str(given.get("version"))):
        return f"`{function}` of {given.get('name')} names no exact version"
    for name in _LOCKS:
        if name in arguments and _path(given.get(name)) not in locks:
            return f"`{function}` has no {name} whose digests are checked"
    return None


def _literal(node: ast.expr) -> object:
    """The value of a literal; None of all else."""
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _path(label: object) -> str:
    """The file of a label in this repository."""
    return str(label).removeprefix("//").replace(":", "/").removeprefix("/")
