"""Reading a Pi package's manifest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine.testing import PackageError, read_package

MANIFEST = {"name": "guard", "version": "1.2.3", "pi": {"extensions": ["./guard.ts"]}}


def write(folder: Path, manifest: Any) -> Path:  # noqa: ANN401 - JSON
    (folder / "package.json").write_text(json.dumps(manifest))
    (folder / "guard.ts").write_text("export default () => {};\n")
    return folder


def test_a_package_is_read_with_its_extensions_resolved(tmp_path: Path) -> None:
    package = read_package(write(tmp_path, MANIFEST))
    assert (package.name, package.version) == ("guard", "1.2.3")
    assert package.extensions == (tmp_path / "guard.ts",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": ""}, "name must be"),
        ({"version": 1}, "version must be"),
        ({"pi": {"extensions": "./guard.ts"}}, "must be a list"),
        ({"pi": {"extensions": []}}, "must be a list"),
        ({"pi": None}, "must be a list"),
        ({"pi": {"extensions": [1]}}, "lists 1"),
        ({"pi": {"extensions": ["./guard.ts", "./gone.ts"]}}, r"lists \./gone\.ts"),
    ],
)
def test_a_manifest_that_promises_what_is_not_there_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(PackageError, match=words) as caught:
        read_package(write(tmp_path, {**MANIFEST, **change}))
    assert str(tmp_path / "package.json") in str(caught.value)


@pytest.mark.parametrize("text", ["{", "[]", "\x00"])
def test_a_manifest_that_is_no_json_object_is_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path, MANIFEST)
    (tmp_path / "package.json").write_text(text)
    with pytest.raises(PackageError, match=r"package\.json"):
        read_package(tmp_path)


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"package\.json"):
        read_package(tmp_path)
