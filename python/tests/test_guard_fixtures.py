"""The JSON schema of guard fixtures agrees with what the replay accepts.

The documents in ``fixtures/testdata/guard_documents.json`` are read here, by the schema, and in
``replay/test/fixture.test.ts``, by the replay's own reader. Each row says what both must answer:
``schema``, whether the schema accepts the document, and ``problems``, the sentences of the reader.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

FIXTURES = Path(__file__).parents[2] / "fixtures"


SCHEMA: dict[str, Any] = json.loads((FIXTURES / "guard.schema.json").read_bytes())
DOCUMENTS: list[dict[str, Any]] = json.loads(
    (FIXTURES / "testdata" / "guard_documents.json").read_bytes()
)
COMMITTED = sorted((FIXTURES / "guards").glob("*.json"))

#: Relations between numbers that a JSON schema cannot express; its description names them.
BEYOND_THE_SCHEMA = {
    "a first refused call beyond the last call",
    "more refused calls than there are from the first on",
}


def _titled(rows: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(row, id=row["title"]) for row in rows]


def _places(document: object) -> set[str]:
    """Return the JSON paths at which the schema refuses a document."""
    return {error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(document)}


def test_the_schema_is_a_valid_schema_of_its_draft() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


def test_every_field_of_the_schema_has_a_title_and_a_description() -> None:
    def fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
        below = [*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])]
        return [schema, *(found for child in below for found in fields(child))]

    found = fields(SCHEMA)
    assert {"Guard fixture", "Input", "First refused call"} <= {f["title"] for f in found}
    for field in found:
        assert field["title"]
        assert field["description"].endswith(".")


@pytest.mark.parametrize("file", COMMITTED, ids=lambda file: file.stem)
def test_a_committed_fixture_is_accepted(file: Path) -> None:
    assert _places(json.loads(file.read_bytes())) == set()


def test_there_are_committed_fixtures() -> None:
    assert COMMITTED


@pytest.mark.parametrize("row", _titled([row for row in DOCUMENTS if row["schema"]]))
def test_a_well_formed_document_is_accepted(row: dict[str, Any]) -> None:
    assert _places(row["document"]) == set()


@pytest.mark.parametrize("row", _titled([row for row in DOCUMENTS if not row["schema"]]))
def test_a_malformed_document_is_refused_where_the_reader_says(row: dict[str, Any]) -> None:
    places = _places(row["document"])
    for problem in row["problems"]:
        place = problem.split(" is ", maxsplit=1)[0]
        # A missing or a surplus field is refused at the object that it belongs to.
        owner = re.sub(r"(\.\w+|\[[^]]*\])$", "", place)
        assert places & {place, owner}, problem


def test_the_reader_refuses_what_the_schema_refuses_and_little_more() -> None:
    refused_by_schema = {row["title"] for row in DOCUMENTS if not row["schema"]}
    refused_by_reader = {row["title"] for row in DOCUMENTS if row["problems"]}
    assert refused_by_schema
    assert refused_by_reader - refused_by_schema == BEYOND_THE_SCHEMA
    assert refused_by_schema <= refused_by_reader
