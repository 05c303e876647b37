"""Checking contracts: `satyrn-engine check` and `satyrn-engine protocol`."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from satyrn_engine import cli
from satyrn_engine._contract import Code
from satyrn_engine._protocol import answer

GOOD = "id: fix-1\ntask: |\n  Make it work.\nextra: [1, 2]\n"

#: Name of the case, the contract's bytes or None for no file, the outcome, words of the message.
CASES: list[tuple[str, bytes | None, Code, str]] = [
    ("a good one", GOOD.encode(), Code.OK, "fix-1"),
    ("no file", None, Code.CONTRACT_UNREADABLE, "cannot be read"),
    ("a large file", b"#" * (1 << 20) + b"\n", Code.CONTRACT_UNREADABLE, "larger than 1 MiB"),
    ("broken YAML", b"id: [\n", Code.CONTRACT_INVALID_YAML, "is not YAML"),
    ("no text", b"id: \xff\n", Code.CONTRACT_INVALID_YAML, "is not YAML"),
    ("an object", b"!!python/object/apply:os.getcwd []", Code.CONTRACT_INVALID_YAML, "is not YAML"),
    ("no such day", b"id: 2026-99-99\ntask: x\n", Code.CONTRACT_INVALID_YAML, "is not YAML"),
    ("deep nesting", b"[" * 100_000, Code.CONTRACT_INVALID_YAML, "is not YAML"),
    ("a list", b"- id\n- task\n", Code.CONTRACT_INVALID_YAML, "is not a mapping"),
    ("nothing", b"", Code.CONTRACT_INVALID_YAML, "is not a mapping"),
    ("no task", b"id: x\n", Code.CONTRACT_MISSING_FIELD, "the field task is missing"),
    ("an empty id", b"id: ' '\ntask: x\n", Code.CONTRACT_MISSING_FIELD, "the field id must be"),
    ("a number", b"id: 7\ntask: x\n", Code.CONTRACT_MISSING_FIELD, "the field id must be"),
]


@pytest.mark.parametrize(("data", "code", "words"), [case[1:] for case in CASES], ids=lambda _: "")
def test_a_contract_is_refused_by_a_stable_code(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    data: bytes | None,
    code: Code,
    words: str,
) -> None:
    contract = tmp_path / "contract.yaml"
    if data is not None:
        contract.write_bytes(data)
    assert cli.main(["check", "--repo", str(tmp_path), str(contract)]) == code
    out, err = capsys.readouterr()
    said = out if code is Code.OK else err
    assert said.startswith(f"{code.name} {contract}: ")
    assert words in said
    assert (out, err)[code is Code.OK] == ""
    # The protocol says the same, of a path within the repo too.
    response = _ask({"repo": str(tmp_path), "contract": "contract.yaml"})
    assert (response["ok"], response["code"]) == (code is Code.OK, code.name)
    assert response["message"] == said.removeprefix(f"{code.name} ").rstrip("\n")


def test_a_repo_that_is_not_there_is_refused(tmp_path: Path) -> None:
    contract = tmp_path / "c.yaml"
    contract.write_text(GOOD)
    missing = str(tmp_path / "missing")
    assert cli.main(["check", "--repo", missing, str(contract)]) == Code.REPO_UNAVAILABLE
    assert cli.main(["check", "--repo", str(contract), str(contract)]) == Code.REPO_UNAVAILABLE
    assert cli.main(["check", "--repo", str(tmp_path), str(contract)]) == Code.OK


@pytest.mark.parametrize("arguments", [["check"], ["check", "x"], ["protocol", "x"]])
def test_a_wrong_command_line_is_usage(arguments: list[str]) -> None:
    assert cli.main(arguments) == Code.USAGE


def _ask(changes: dict[str, object]) -> dict[str, Any]:
    request = {"version": 1, "operation": "check", "repo": ".", "contract": "c", **changes}
    return _answer(json.dumps(request).encode())


def _answer(data: bytes) -> dict[str, Any]:
    out = io.BytesIO()
    code = answer(io.BytesIO(data), out)
    response: dict[str, Any] = json.loads(out.getvalue())
    assert set(response) == {"version", "ok", "code", "message"}
    assert response["version"] == 1
    assert response["code"] == code.name
    assert response["ok"] == (code is Code.OK)
    return response


@pytest.mark.parametrize(
    "changes",
    [{"version": 2}, {"version": "1"}, {"operation": "run"}, {"repo": None}, {"contract": "a\0b"}],
)
def test_a_request_that_is_not_understood_is_invalid(changes: dict[str, object]) -> None:
    assert _ask(changes)["code"] == "INVALID_REQUEST"


def test_a_request_may_hold_more_than_is_known(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(GOOD)
    asked = {"repo": str(tmp_path), "contract": "c.yaml", "of the future": 1}
    assert _ask(asked)["code"] == "OK"


@given(st.binary(max_size=200))
def test_any_bytes_get_one_response(data: bytes) -> None:
    assert _answer(data)["code"] == "INVALID_REQUEST"
