"""The targets that BUILD files declare, those of macros and loops included.

BUILD and .bzl files are read as the Python that their language is a part of. A rule does nothing
here but tell how it is called; the project's own macros run as they are.
"""

from __future__ import annotations

import builtins
from pathlib import Path
from types import SimpleNamespace
from typing import Any

#: What the language has in common with Python.
_COMMON = (
    *("all", "any", "bool", "dict", "enumerate", "int", "len", "list", "max", "min", "range"),
    *("repr", "reversed", "sorted", "str", "tuple", "zip"),
)
#: Rules that no file has to load.
_NATIVE_RULES = ("alias", "config_setting", "filegroup", "genquery", "genrule", "test_suite")
#: What makes parts of rules, and no target.
_NO_TARGETS = (
    *("Label", "aspect", "attr", "config", "configuration_field", "module_extension", "package"),
    *("platform_common", "provider", "repository_rule", "select", "tag_class"),
)


#: A target as its rule was called.
Attributes = dict[str, Any]


def declared(root: Path) -> dict[str, Attributes]:
    """Return every target below a folder by its label, `//package:name`.

    Raises:
        NameError: when a file uses what this reader doesn't know.
    """
    reader = _Reader(root)
    modules = {file.parent for file in root.glob("*/**/MODULE.bazel")}
    for file in sorted(root.glob("**/BUILD.bazel")):
        # A module below is a workspace of its own.
        if not modules & set(file.parents):
            reader.read_package(file)
    return reader.targets


class _Anything:
    """What `attr`, providers and the like are here: everything, to no effect."""

    def __getattr__(self, name: str) -> _Anything:
        return self

    def __call__(self, *_arguments: object, **_named: object) -> _Anything:
        return self


class _Reader:
    """Runs files, and keeps what they declare."""

    def __init__(self, root: Path) -> None:
        self.targets: dict[str, Attributes] = {}
        self._root = root
        self._package = ""
        self._loaded: dict[Path, dict[str, object]] = {}

    def read_package(self, file: Path) -> None:
        self._package = file.parent.relative_to(self._root).as_posix().removeprefix(".")
        self._run(file)

    def _rule(self, *_arguments: object, **named: Any) -> None:  # noqa: ANN401 - what rules take
        self.targets[f"//{self._package}:{named['name']}"] = named

    def _run(self, file: Path) -> dict[str, object]:
        names: dict[str, object] = {"__builtins__": self._builtins()}
        names["load"] = lambda source, *same, **renamed: names.update(
            self._load(file.parent, source, {name: name for name in same} | renamed)
        )
        exec(compile(file.read_text("utf-8"), str(file), "exec"), names)  # noqa: S102 - our own
        return names

    def _load(self, folder: Path, source: str, wanted: dict[str, str]) -> dict[str, object]:
        if source.startswith("@"):
            # Of another repository come rules, and lists in capitals.
            return {own: [] if theirs.isupper() else self._rule for own, theirs in wanted.items()}
        package, _, name = source.rpartition(":")
        file = (self._root / package.removeprefix("//") if package else folder) / name
        if file not in self._loaded:
            self._loaded[file] = self._run(file)
        return {own: self._loaded[file][theirs] for own, theirs in wanted.items()}

    def _builtins(self) -> dict[str, object]:
        """Return what a file finds there without loading it."""
        both = dict.fromkeys(_NATIVE_RULES, self._rule) | {
            "exports_files": _Anything(),
            "glob": lambda *_arguments, **_named: [],
        }
        return {
            **{name: getattr(builtins, name) for name in _COMMON},
            **both,
            **dict.fromkeys(_NO_TARGETS, _Anything()),
            "native": SimpleNamespace(**both, package_name=lambda: self._package),
            "rule": lambda *_arguments, **_named: self._rule,
            "struct": SimpleNamespace,
        }
