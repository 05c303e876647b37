"""The JSON schemas of fixtures and scenarios agree with their readers, and what is committed fits.

Each kind has a file of documents in ``fixtures/testdata``. It is read here, by the schema, and in
``replay/test``, by the reader itself. Each row says what both must answer: ``schema``, whether the
schema accepts the document, and ``problems``, the sentences of the reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

FIXTURES = Path(__file__).parents[2] / "fixtures"


@dataclass(frozen=True)
class Kind:
    """A kind of committed document.

    Attributes:
        name: As in `NAME.schema.json` and `testdata/NAME_documents.json`.
        folder: Where its committed documents lie.
        fields: Titles of some fields on every level of its schema.
        beyond: Titles of documents that only the reader refuses: relations between numbers, which
            a JSON schema cannot express; its description names them.
    """

    name: str
    folder: str
    fields: frozenset[str]
    beyond: frozenset[str] = field(default_factory=frozenset)

    def __str__(self) -> str:
        return self.name

    @cached_property
    def schema(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((FIXTURES / f"{self.name}.schema.json").read_bytes())
        return content

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        file = FIXTURES / "testdata" / f"{self.name}_documents.json"
        rows: list[dict[str, Any]] = json.loads(file.read_bytes())
        return rows

    @cached_property
    def committed(self) -> list[Path]:
        return sorted((FIXTURES / self.folder).glob("*.json"))

    def places(self, document: object) -> set[str]:
        """Return the JSON paths at which the schema refuses a document."""
        return set(_all(Draft202012Validator(self.schema).iter_errors(document)))


def _all(errors: Iterable[ValidationError]) -> Iterator[str]:
    """Yield the JSON paths of errors, and of those within the alternatives that do not fit."""
    for error in errors:
        yield error.json_path
        yield from _all(error.context or [])


GUARD = Kind(
    name="guard",
    folder="guards",
    fields=frozenset({"Guard fixture", "Input", "First refused call"}),
    beyond=frozenset(
        {
            "a first refused call beyond the last call",
            "more refused calls than there are from the first on",
        }
    ),
)
SCENARIO = Kind(
    name="scenario",
    folder="scenarios",
    fields=frozenset({"Labelled scenario", "Input", "Chunk", "Deadline", "Guard"}),
    beyond=frozenset(
        {
            "a first refused call beyond the last call",
            "more refused calls than there are from the first on",
            "a deadline beyond the last event",
            "a block of more than ten million characters",
        }
    ),
)
KINDS = [GUARD, SCENARIO]

of_each_kind = pytest.mark.parametrize("kind", KINDS, ids=str)


def _rows(*, accepted: bool) -> list[Any]:
    return [
        pytest.param(kind, row, id=f"{kind}: {row['title']}")
        for kind in KINDS
        for row in kind.rows
        if row["schema"] is accepted
    ]


@of_each_kind
def test_the_schema_is_a_valid_schema_of_its_draft(kind: Kind) -> None:
    Draft202012Validator.check_schema(kind.schema)
    assert kind.schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@of_each_kind
def test_every_field_of_the_schema_has_a_title_and_a_description(kind: Kind) -> None:
    def fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
        below = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
        below += [schema["items"]] if "title" in schema.get("items", {}) else []
        return [schema, *(found for child in below for found in fields(child))]

    found = fields(kind.schema)
    assert kind.fields <= {each["title"] for each in found}
    for each in found:
        assert each["title"]
        assert each["description"].endswith(".")


@pytest.mark.parametrize(
    ("kind", "file"),
    [pytest.param(kind, file, id=file.stem) for kind in KINDS for file in kind.committed],
)
def test_what_is_committed_is_accepted(kind: Kind, file: Path) -> None:
    assert kind.places(json.loads(file.read_bytes())) == set()


@of_each_kind
def test_something_is_committed(kind: Kind) -> None:
    assert kind.committed


@pytest.mark.parametrize("file", SCENARIO.committed, ids=lambda file: file.stem)
def test_a_scenario_is_named_like_its_file(file: Path) -> None:
    assert json.loads(file.read_bytes())["name"] == file.stem


def test_the_collection_of_scenarios_is_large_and_has_both_labels() -> None:
    labels = [json.loads(file.read_bytes())["label"] for file in SCENARIO.committed]
    assert len(labels) >= 120
    assert labels.count("loop") >= 50
    assert labels.count("legitimate") >= 50


@pytest.mark.parametrize(("kind", "row"), _rows(accepted=True))
def test_a_well_formed_document_is_accepted(kind: Kind, row: dict[str, Any]) -> None:
    assert kind.places(row["document"]) == set()


@pytest.mark.parametrize(("kind", "row"), _rows(accepted=False))
def test_a_malformed_document_is_refused_where_the_reader_says(
    kind: Kind, row: dict[str, Any]
) -> None:
    places = kind.places(row["document"])
    assert places
    for problem in row["problems"]:
        place = re.split(r" (?:is|has|would|streams) ", problem, maxsplit=1)[0]
        # A missing or a surplus field is refused at the object that it belongs to.
        owner = re.sub(r"(\.\w+|\[[^]]*\])$", "", place)
        assert places & {place, owner}, problem


@of_each_kind
def test_the_reader_refuses_what_the_schema_refuses_and_little_more(kind: Kind) -> None:
    refused_by_schema = {row["title"] for row in kind.rows if not row["schema"]}
    refused_by_reader = {row["title"] for row in kind.rows if row["problems"]}
    assert refused_by_schema
    assert refused_by_reader - refused_by_schema == kind.beyond
    assert refused_by_schema <= refused_by_reader
