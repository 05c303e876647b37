"""The JSON schema of scenarios agrees with what the scoreboard accepts, and the collection fits it.

The documents in ``fixtures/testdata/scenario_documents.json`` are read here, by the schema, and in
``replay/test/scenario.test.ts``, by the scoreboard's own reader. Each row says what both must
answer: ``schema``, whether the schema accepts the document, and ``problems``, the sentences of the
reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

FIXTURES = Path(__file__).parents[2] / "fixtures"

SCHEMA: dict[str, Any] = json.loads((FIXTURES / "scenario.schema.json").read_bytes())
DOCUMENTS: list[dict[str, Any]] = json.loads(
    (FIXTURES / "testdata" / "scenario_documents.json").read_bytes()
)
COMMITTED = sorted((FIXTURES / "scenarios").glob("*.json"))

#: Relations between numbers that a JSON schema cannot express; its description names them.
BEYOND_THE_SCHEMA = {
    "a first refused call beyond the last call",
    "more refused calls than there are from the first on",
    "a deadline beyond the last event",
    "a block of more than ten million characters",
}


def _titled(rows: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(row, id=row["title"]) for row in rows]


def _all(errors: Iterable[ValidationError]) -> Iterator[str]:
    """Yield the JSON paths of errors, and of those within the alternatives that do not fit."""
    for error in errors:
        yield error.json_path
        yield from _all(error.context or [])


def _places(document: object) -> set[str]:
    """Return the JSON paths at which the schema refuses a document."""
    return set(_all(Draft202012Validator(SCHEMA).iter_errors(document)))


def test_the_schema_is_a_valid_schema_of_its_draft() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


def test_every_field_of_the_schema_has_a_title_and_a_description() -> None:
    def fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
        below = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        below += [schema["items"]] if "title" in schema.get("items", {}) else []
        return [schema, *(found for child in below for found in fields(child))]

    found = fields(SCHEMA)
    assert {"Labelled scenario", "Input", "Chunk", "Deadline", "Guard"} <= {
        field["title"] for field in found
    }
    for field in found:
        assert field["title"]
        assert field["description"].endswith(".")


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.stem)
def test_a_committed_scenario_is_accepted_and_named_like_its_file(file: Path) -> None:
    scenario = json.loads(file.read_bytes())
    assert _places(scenario) == set()
    assert scenario["name"] == file.stem


def test_the_collection_is_large_and_has_both_labels() -> None:
    labels = [json.loads(file.read_bytes())["label"] for file in COMMITTED]
    assert len(labels) >= 120
    assert labels.count("loop") >= 50
    assert labels.count("legitimate") >= 50


@pytest.mark.parametrize("row", _titled([row for row in DOCUMENTS if row["schema"]]))
def test_a_well_formed_document_is_accepted(row: dict[str, Any]) -> None:
    assert _places(row["document"]) == set()


@pytest.mark.parametrize("row", _titled([row for row in DOCUMENTS if not row["schema"]]))
def test_a_malformed_document_is_refused_where_the_reader_says(row: dict[str, Any]) -> None:
    places = _places(row["document"])
    assert places
    for problem in row["problems"]:
        place = re.split(r" (?:is|has|would|streams) ", problem, maxsplit=1)[0]
        # A missing or a surplus field is refused at the object that it belongs to.
        owner = re.sub(r"(\.\w+|\[[^]]*\])$", "", place)
        assert places & {place, owner}, problem


def test_the_reader_refuses_what_the_schema_refuses_and_little_more() -> None:
    refused_by_schema = {row["title"] for row in DOCUMENTS if not row["schema"]}
    refused_by_reader = {row["title"] for row in DOCUMENTS if row["problems"]}
    assert refused_by_schema
    assert refused_by_reader - refused_by_schema == BEYOND_THE_SCHEMA
    assert refused_by_schema <= refused_by_reader
