"""What the reference says by hand agrees with the sources, and what it generates is complete."""

from __future__ import annotations

import json
import re
from typing import get_args

import pytest
from satyrn_engine import testing
from satyrn_engine._contract import Code
from satyrn_engine.cli import app

from docs.generate.command_page import satyrn_engine
from docs.generate.main import PARTS
from docs.generate.schema_page import schema_page
from docs.tests.pages import ROOT, source


def test_the_codes_of_implement_are_those_of_the_engine_and_of_the_extension() -> None:
    page = source("docs/reference/engine.md")
    rows = re.findall(r"^\| `([A-Z_]+)` \| (\d*) ?\|", page, re.MULTILINE)
    told = {name: int(number) if number else None for name, number in rows}
    extension = (ROOT / "engine" / "orchestrator.ts").read_text("utf-8")
    own = set(re.findall(r'"(ENGINE_[A-Z_]+)"', extension))
    assert len(own) == 4
    assert told == {code.name: code.value for code in Code} | dict.fromkeys(own)


@pytest.mark.parametrize("part", PARTS)
def test_every_generated_part_is_included_by_exactly_one_page(part: str) -> None:
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    include = f"```{{include}} ../generated/{part}\n```"
    assert len([page for page in pages if include in page.read_text("utf-8")]) == 1


def test_every_command_and_option_is_in_the_reference() -> None:
    page = satyrn_engine()
    commands = [name for name in app if not name.startswith("-")]
    assert {"scan", "check", "protocol"} <= set(commands)
    for name in commands:
        section = page.partition(f"## satyrn-engine {name}\n")[2].partition("\n## ")[0]
        assert section, name
        for argument in app[name].assemble_argument_collection(parse_docstring=True):
            long = [option for option in argument.names if option.startswith("--")]
            shown = [*long, *(option.lstrip("-").upper() for option in argument.names)]
            assert any(f"{option}" in section for option in shown), (name, argument.names)


def test_every_field_of_a_schema_is_in_its_page() -> None:
    def fields(schema: dict[str, object], prefix: str = "") -> set[str]:
        found: set[str] = set()
        for name, field in dict(schema.get("properties", {})).items():  # type: ignore[call-overload]
            found |= {f"{prefix}{name}"} | fields(field, f"{prefix}{name}.")
            found |= fields(field.get("items", {}), f"{prefix}{name}[].")
        return found

    for name in ("guard", "scenario", "detection", "loop_broken"):
        schema = json.loads((ROOT / "fixtures" / f"{name}.schema.json").read_bytes())
        page = schema_page(schema)
        every = fields(schema)
        for definition, inner in schema.get("$defs", {}).items():
            assert f"`{definition}`\n" in page, (name, definition)
            every |= fields(inner)
        assert len(every) > 2
        missing = {field for field in every if f"| `{field}` |" not in page}
        assert not missing, name


def test_all_that_the_testing_library_offers_is_documented() -> None:
    members = [getattr(testing, name) for name in testing.__all__]
    classes = [member for member in members if isinstance(member, type)]
    assert classes
    assert not [member.__name__ for member in classes if not member.__doc__]
    assert get_args(testing.Script)
