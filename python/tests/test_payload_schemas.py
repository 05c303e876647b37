"""The schemas of what the guards tell other programs, held against what they really tell.

All the scenarios are played through the shipped guards, and every payload must fit; every kind of
detection must have been seen, and what no guard says must not fit.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

HERE = Path(os.path.abspath(__file__)).parent  # noqa: PTH100 - links would lead out of the sandbox
ROOT = HERE.parents[1]

Payload = dict[str, Any]


def _schema(name: str) -> Payload:
    loaded: Payload = json.loads((ROOT / "fixtures" / f"{name}.schema.json").read_bytes())
    return loaded


SCHEMAS = {name: _schema(name) for name in ("detection", "loop_broken")}
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


@pytest.fixture(scope="module")
def payloads() -> dict[str, list[Payload]]:
    """What the guards told, by the name of the schema."""
    node = str(Path(os.environ["SATYRN_NODE"]).absolute())
    flags = ["--disable-warning=ExperimentalWarning", "--experimental-strip-types"]
    program = [node, *flags, str(HERE / "payloads.mjs"), str(ROOT)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    told: dict[str, list[Payload]] = {name: [] for name in SCHEMAS}
    for line in done.stdout.splitlines():
        record = json.loads(line)
        told[record["what"]].append(record["payload"])
    return told


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_schema_is_a_valid_schema_of_its_draft(name: str) -> None:
    Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_payload_fits_its_schema(name: str, payloads: dict[str, list[Payload]]) -> None:
    assert payloads[name]
    for payload in payloads[name]:
        problems = [error.message for error in VALIDATORS[name].iter_errors(payload)]
        assert not problems, (payload, problems)


def test_every_kind_of_detection_was_seen_and_no_other(
    payloads: dict[str, list[Payload]],
) -> None:
    seen = {payload["event"] for payload in payloads["detection"]}
    assert seen == set(SCHEMAS["detection"]["properties"]["event"]["enum"])


def _without_details(payload: Payload) -> None:
    del payload["details"]


def _with_thoughts(payload: Payload) -> None:
    payload["thinking"] = "what the model thought"


def _with_arguments(payload: Payload) -> None:
    payload["details"]["input"] = {"command": "ls"}


def _of_another_event(payload: Payload) -> None:
    stagnates = payload["event"] == "stagnation"
    payload["event"] = "rederived_reasoning" if stagnates else "stagnation"


def _at_no_time(payload: Payload) -> None:
    payload["timestamp"] = "yesterday"


@pytest.mark.parametrize(
    "change",
    [_without_details, _with_thoughts, _with_arguments, _of_another_event, _at_no_time],
)
def test_what_the_police_never_say_does_not_fit(
    change: Callable[[Payload], None], payloads: dict[str, list[Payload]]
) -> None:
    for payload in {each["event"]: each for each in payloads["detection"]}.values():
        changed = copy.deepcopy(payload)
        change(changed)
        assert not VALIDATORS["detection"].is_valid(changed), changed


@pytest.mark.parametrize("field", ["tool", "repeats", "blockedSoFar"])
def test_an_entry_of_the_guard_without_one_of_its_fields_does_not_fit(
    field: str, payloads: dict[str, list[Payload]]
) -> None:
    entry = dict(payloads["loop_broken"][0])
    del entry[field]
    assert not VALIDATORS["loop_broken"].is_valid(entry)
