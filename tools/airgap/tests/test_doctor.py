"""What the doctor says."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.airgap.launcher import doctor, enter, mirror, settings, sources, tools
from tools.airgap.launcher.locking import exclusive
from tools.airgap.launcher.words import Problem


@pytest.fixture(name="workspace")
def _workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    (workspace / "tools/airgap").mkdir(parents=True)
    (workspace / "tools/airgap/__main__.py").touch()
    (workspace / ".bazelversion").write_text("7.7.1\n")
    _program(workspace / "tools/bazel", "exit 1")
    return workspace


def _program(file: Path, script: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


def _report(workspace: Path, **environ: str) -> tuple[list[doctor.Finding], list[str]]:
    findings = list(doctor.examine(workspace, environ))
    return findings, [finding.remedy for finding in findings if finding.remedy]


def test_bazelisk_comes_before_bazel_and_the_launcher_is_neither(workspace: Path) -> None:
    other = workspace.parent / "bin"
    path = f"{workspace / 'tools'}:{other}"
    assert doctor.on_path({"PATH": path}) is None
    bazel = _program(other / "bazel", "")
    assert doctor.on_path({"PATH": path}) == bazel
    bazelisk = _program(other / "bazelisk", "")
    assert doctor.on_path({"PATH": path}) == bazelisk


@pytest.mark.parametrize(
    ("said", "works"),
    [
        ("bazel 7.7.1", True),
        ("bazel 7.9.0-homebrew", True),
        ("bazel 4.2.3", False),
        ("bazel 8.0.0", False),
        ("nonsense", False),
    ],
)
def test_a_bazel_on_path_must_be_of_the_wanted_major_version(
    workspace: Path, said: str, works: bool
) -> None:
    tool = _program(workspace.parent / "bin/bazel", f"echo {said}")
    _, remedies = _report(workspace, PATH=str(tool.parent))
    assert remedies == [] if works else "BAZEL_AIRGAP=1" in remedies[0]


def test_bazelisk_is_believed_and_not_run(workspace: Path) -> None:
    tool = _program(workspace.parent / "bin/bazelisk", "touch $0.ran")
    findings, remedies = _report(workspace, PATH=str(tool.parent))
    assert str(tool) in findings[-1].text
    assert remedies == []
    assert not tool.with_name("bazelisk.ran").exists()


@pytest.mark.parametrize("works", [True, False])
def test_what_bazelisk_names_must_run(workspace: Path, *, works: bool) -> None:
    real = workspace.parent / "bazel-7.7.1"
    if works:
        _program(real, "")
    findings, remedies = _report(workspace, BAZEL_REAL=str(real))
    assert str(real) in findings[-1].text
    assert (remedies == []) is works
    assert works or "BAZEL_REAL" in remedies[0]


def test_a_root_that_is_asked_for_is_not_blamed_on_path(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "find", lambda _: None)
    monkeypatch.setattr(tools, "release", lambda: "ubuntu")
    tool = _program(workspace.parent / "bin/bazelisk", "")
    cache = {"BAZEL_AIRGAP_CACHE": str(workspace.parent / "cache")}
    findings, [remedy] = _report(workspace, PATH=str(tool.parent), BAZEL_AIRGAP="1", **cache)
    assert "BAZEL_AIRGAP=1" in findings[-1].text
    assert "on PATH" not in findings[-1].text
    assert "without BAZEL_AIRGAP" in remedy


def _without_tools(
    monkeypatch: pytest.MonkeyPatch, *, missing: list[str], reason: str = ""
) -> None:
    monkeypatch.setattr(tools, "require_debian", lambda *_: None)
    monkeypatch.setattr(tools, "missing", lambda _: missing)
    monkeypatch.setattr(sources, "mirrors", lambda: ["http://m.example/debian"])
    monkeypatch.setattr(mirror, "probe", lambda _: reason)
    monkeypatch.setattr(enter, "try_namespaces", lambda: None)
    monkeypatch.setattr(tools, "find", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(enter.Host, "look", lambda bundle: enter.Host((), 1000, bundle))


def test_a_root_that_is_still_to_be_made_is_no_fault(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_tools(monkeypatch, missing=[])
    cache = workspace.parent / "cache"
    findings, remedies = _report(workspace, BAZEL_AIRGAP_CACHE=str(cache))
    assert remedies == []
    assert "http://m.example/debian carries" in " ".join(f.text for f in findings)
    assert not cache.exists()


@pytest.mark.parametrize(
    ("missing", "reason", "remedy"),
    [
        (["bubblewrap"], "", "apt-get install bubblewrap"),
        ([], "It cannot be reached.", "BAZEL_AIRGAP_MIRROR"),
    ],
)
def test_each_thing_that_is_missing_comes_with_how_to_get_it(
    workspace: Path,
    monkeypatch: pytest.MonkeyPatch,
    missing: list[str],
    reason: str,
    remedy: str,
) -> None:
    _without_tools(monkeypatch, missing=missing, reason=reason)
    _, remedies = _report(workspace, BAZEL_AIRGAP_CACHE=str(workspace.parent / "cache"))
    assert len(remedies) == 1
    assert remedy in remedies[0]


def _cache_of(workspace: Path) -> dict[str, str]:
    return {"BAZEL_AIRGAP_CACHE": str(workspace.parent / "cache")}


def _text(findings: list[doctor.Finding], name: str) -> str:
    return " ".join(finding.text for finding in findings if finding.name == name)


def test_a_cache_that_cannot_be_written_is_told_before_it_is_tried(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_tools(monkeypatch, missing=[])
    (workspace.parent / "file").write_text("")
    findings, remedies = _report(workspace, BAZEL_AIRGAP_CACHE=str(workspace.parent / "file/cache"))
    assert "cannot be written" in _text(findings, "cache")
    assert len(remedies) == 1
    assert "a folder that you can write" in remedies[0]


def test_a_disk_that_is_too_full_for_the_root_is_told(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_tools(monkeypatch, missing=[])
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=settings.NEEDED - 1))
    _, remedies = _report(workspace, **_cache_of(workspace))
    assert len(remedies) == 1
    assert "free some space" in remedies[0]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=settings.NEEDED))
    assert _report(workspace, **_cache_of(workspace))[1] == []


def test_a_system_without_namespaces_is_told_before_a_root_is_made(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise enter.refused("bwrap: No permissions to create a new namespace")

    _without_tools(monkeypatch, missing=[])
    monkeypatch.setattr(enter, "try_namespaces", refuse)
    findings, remedies = _report(workspace, **_cache_of(workspace))
    assert "No permissions to create a new namespace" in _text(findings, "sandbox")
    assert len(remedies) == 1
    assert "sysctl" in remedies[0]


def test_a_half_made_root_is_no_fault_and_who_is_making_one_is_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_tools(monkeypatch, missing=[])
    chosen = settings.read(workspace, _cache_of(workspace))
    assert "not made yet" in _text(_report(workspace, **_cache_of(workspace))[0], "private root")
    chosen.partial.mkdir(parents=True)
    findings, remedies = _report(workspace, **_cache_of(workspace))
    assert "interrupted" in _text(findings, "private root")
    assert remedies == []
    with exclusive(chosen.lock, lambda _: None):
        findings, remedies = _report(workspace, **_cache_of(workspace))
    assert f"process {os.getpid()} is making it" in _text(findings, "private root")
    assert remedies == []


@pytest.mark.parametrize(("free", "works"), [(1_000_000, False), (50_000_000_000, True)])
def test_a_disk_that_is_too_full_to_build_is_told_when_the_root_is_there(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, *, free: int, works: bool
) -> None:
    _ready(workspace, monkeypatch, "7.7.1")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    _, remedies = _report(workspace, **_cache_of(workspace))
    assert (remedies == []) is works


def _ready(workspace: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> Path:
    _without_tools(monkeypatch, missing=[])
    monkeypatch.setattr(enter, "prove", lambda *_: None)
    monkeypatch.setattr(tools, "find", lambda name: f"/usr/bin/{name}")
    root = settings.read(workspace, _cache_of(workspace)).root
    (root / "usr/share/bazel").mkdir(parents=True)
    (root / "usr/share/bazel/build-label.txt").write_text(version)
    return root


@pytest.mark.parametrize(("version", "works"), [("7.7.1", True), ("7.8.0", True), ("7.6.0", False)])
def test_a_root_is_looked_at_and_its_size_told(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, version: str, works: bool
) -> None:
    root = _ready(workspace, monkeypatch, version)
    findings, remedies = _report(workspace, **_cache_of(workspace))
    assert (remedies == []) is works
    assert any(f.name == "cache" and str(root.parent) in f.text for f in findings)


def test_the_exit_status_says_whether_it_would_work(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        what, remedy = "Not Debian.", "take bazelisk."
        raise Problem(what, remedy)

    _without_tools(monkeypatch, missing=[])
    environ = {"BAZEL_AIRGAP_CACHE": str(workspace.parent / "cache")}
    assert doctor.main(workspace, environ) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "It would work."
    monkeypatch.setattr(tools, "require_debian", refuse)
    assert doctor.main(workspace, environ) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "What to do: take bazelisk."
