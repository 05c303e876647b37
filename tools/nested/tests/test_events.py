"""What is counted of a build event protocol file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.nested import events


def _metrics(runners: dict[str, int], mnemonics: dict[str, int]) -> dict[str, object]:
    summary = {
        "runnerCount": [{"name": name, "count": n} for name, n in runners.items()],
        "actionData": [{"mnemonic": m, "actionsExecuted": str(n)} for m, n in mnemonics.items()],
    }
    return {"buildMetrics": {"actionSummary": summary}}


def _result(label: str, status: str, strategy: str, *, cached: bool = False) -> dict[str, object]:
    info: dict[str, object] = {"strategy": strategy}
    if cached:
        info["cachedRemotely"] = True
    return {
        "id": {"testResult": {"label": label}},
        "testResult": {"status": status, "executionInfo": info},
    }


def _read(folder: Path, *lines: dict[str, object]) -> events.Events:
    file = folder / "events.json"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return events.read(file)


def test_hits_are_counted_apart_from_what_was_executed(tmp_path: Path) -> None:
    runners = {"total": 12, "internal": 4, "remote cache hit": 5, "linux-sandbox": 2, "local": 1}
    found = _read(tmp_path, _metrics(runners, {"TestRunner": 2}))
    assert found.hits == 5
    assert found.executed == {"linux-sandbox": 2, "local": 1}
    assert found.commands == 8
    assert found.mnemonics == {"TestRunner": 2}


def test_a_build_that_only_wrote_its_own_files_executed_nothing(tmp_path: Path) -> None:
    found = _read(tmp_path, _metrics({"total": 4, "internal": 4}, {}))
    assert found.hits == 0
    assert found.executed == {}


def test_each_run_of_a_test_is_told_with_where_its_result_came_from(tmp_path: Path) -> None:
    found = _read(
        tmp_path,
        _result("//a:x", "PASSED", "linux-sandbox"),
        _result("//a:x", "PASSED", "remote cache hit", cached=True),
        _result("//a:y", "FAILED", "remote"),
        _metrics({"total": 3}, {}),
    )
    assert found.tests == (
        events.RunOfTest("//a:x", passed=True, strategy="linux-sandbox", cached=False),
        events.RunOfTest("//a:x", passed=True, strategy="remote cache hit", cached=True),
        events.RunOfTest("//a:y", passed=False, strategy="remote", cached=False),
    )


def test_a_build_that_did_not_end_is_not_counted(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"events\.json holds no metrics"):
        _read(tmp_path, _result("//a:x", "PASSED", "remote"))
