"""Fixture: holds fixtures and scenarios to their JSON schemas, and to what the guards do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from satyrn_engine._desk import MOST_BYTES, Desk
from satyrn_engine._node import typescript
from satyrn_engine.errors import NodeError, SourceError

#: Problems of one file that are named: a file of another kind may have thousands.
NAMED = 20

#: Where the replay's readers place a problem: `$.events[1].call`.
_PLACE = re.compile(r'\$((?:\.\w+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*)')
_STEP = re.compile(r'\.(\w+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def check_fixture(path: Path, desk: Desk) -> list[str]:
    """Return what is wrong with a guard fixture or scenario, each a sentence.

    First it is held to its schema; a document that fits is replayed through the shipped guards.

    Args:
        path: of the file.
        desk: asks the guards.

    Raises:
        NodeError: if the installation lacks the schemas.
        WorkerDiedError: if the process that runs the guards ends.
    """
    try:
        text = _text(path)
    except SourceError as error:
        return [str(error)]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        # The reader of the replay names the line and column.
        return _some(desk.fixture_problems(text))
    scenario = is_scenario(document)
    refused = schema_problem(document, scenario=scenario)
    answer = desk.scenario(text) if scenario else desk.fixture_problems(text)
    if not isinstance(answer, list):
        problems = [
            f"{guard}: {problem}" for guard, played in answer.items() for problem in played.problems
        ]
        return [refused] if refused else _some(problems)
    # Reader and schema refuse the same, but the reader's sentences say what to do.
    return _some(map(with_pointer, answer)) or ([refused] if refused else [])


def is_scenario(document: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a document is meant as a scenario: a guard fixture has calls, and no events."""
    if not isinstance(document, dict):
        return False
    return "events" in document or ("calls" not in document and "label" in document)


def schema_problem(document: Any, *, scenario: bool) -> str | None:  # noqa: ANN401 - JSON
    """Return what the schema has against a document, if anything: the place, and the rule."""
    kind = "scenario" if scenario else "guard"
    file = typescript() / "fixtures" / f"{kind}.schema.json"
    try:
        schema = json.loads(file.read_bytes())
    except OSError as error:
        raise NodeError(f"{file} is missing; install satyrn-engine again") from error
    problem = best_match(Draft202012Validator(schema).iter_errors(document))
    if problem is None:
        return None
    return f"{pointer(problem.absolute_path)}: {problem.message}; see {file.name}"


def with_pointer(sentence: str) -> str:
    """Return a sentence of the replay's readers with its place as a JSON pointer."""
    found = _PLACE.match(sentence)
    if found is None:
        return sentence
    steps = [
        json.loads(quoted) if quoted else name or index
        for name, index, quoted in _STEP.findall(found[1])
    ]
    return pointer(steps) + sentence[found.end() :]


def pointer(steps: Iterable[str | int]) -> str:
    """Return a JSON pointer (RFC 6901), or `the document` for all of it."""
    parts = [str(step).replace("~", "~0").replace("/", "~1") for step in steps]
    return "".join(f"/{part}" for part in parts) or "the document"


def _some(problems: Iterable[str]) -> list[str]:
    found = list(problems)
    more = [f"and {len(found) - NAMED} more"] if len(found) > NAMED else []
    return found[:NAMED] + more


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SourceError(f"is larger than {MOST_BYTES >> 20} MiB; cut it")
        return path.read_text("utf-8")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SourceError(f"cannot be read ({reason}); check the path") from error
    except UnicodeDecodeError as error:
        raise SourceError("is not UTF-8 text; save it as UTF-8") from error
