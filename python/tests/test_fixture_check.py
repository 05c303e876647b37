"""`fixture check`: what fits passes, and what does not is named with its place and a remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from satyrn_engine._fixture_check import is_scenario, pointer, schema_problem, with_pointer
from satyrn_engine.cli import main

CALL = {"toolName": "bash", "input": {"command": "ls"}}
GUARD = {
    "name": "six",
    "calls": [CALL] * 6,
    "expected": {"blocked": 1, "entries": 1, "firstBlock": 6},
}
SCENARIO = {
    "version": 1,
    "name": "six",
    "label": "loop",
    "guards": ["engine", "police"],
    "events": [{"user": "go"}, *([{"call": CALL}] * 6)],
    "expected": {"engine": {"blocked": 1, "firstBlock": 6}, "police": {"by": 7}},
}

Check = Any


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Write documents, check them, and return the exit code and what was said of them."""

    def checked(*documents: object) -> tuple[int, list[str]]:
        files = []
        for number, document in enumerate(documents):
            file = tmp_path / f"{number}.json"
            file.write_text(document if isinstance(document, str) else json.dumps(document))
            files.append(str(file))
        code = main(["fixture", "check", *files])
        told = capsys.readouterr()
        return code, (told.out + told.err).replace(f"{tmp_path}/", "").splitlines()

    return checked


def test_what_is_as_expected_passes_whichever_of_the_two_it_is(check: Check) -> None:
    assert check(GUARD, SCENARIO) == (0, ["0.json: as expected", "1.json: as expected"])


def test_another_verdict_of_the_engine_is_named(check: Check) -> None:
    other = {"blocked": 0, "entries": 0, "firstBlock": None}
    assert check({**GUARD, "expected": other}) == (
        1,
        [
            "0.json: expected blocked 0, observed 1",
            "0.json: expected firstBlock null, observed 6",
            "0.json: expected entries 0, observed 1",
        ],
    )


def test_another_verdict_in_a_scenario_is_named_with_its_guard(check: Check) -> None:
    honest = {**SCENARIO, "label": "legitimate", "expected": {"police": {"by": None}}}
    code, said = check(honest)
    assert code == 1
    assert said == ["0.json: police: expected no detection, observed one at event 3 (tool_loop)"]


def test_what_does_not_fit_the_schema_is_named_with_pointer_and_remedy(check: Check) -> None:
    broken = {**SCENARIO, "events": [{"user": "go"}, {"call": {**CALL, "input": 3}}]}
    code, said = check(broken)
    assert code == 1
    assert said[0] == "0.json: /events/1/call/input is 3; give an object with the arguments"
    assert check({"name": "x", "expected": GUARD["expected"]})[1] == [
        "0.json: /calls is missing; give the list of recorded calls, at least one"
    ]


def test_good_files_are_checked_beside_bad_ones(check: Check) -> None:
    code, said = check({}, GUARD, "{")
    assert code == 1
    assert "1.json: as expected" in said
    assert "2.json: is not valid JSON; correct line 1, column 2" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"name": "a", "name": "b"}', "has a name twice"),
        ("[]", "the document is an empty list; give an object with name, calls and expected"),
        ("null", "the document is null"),
    ],
)
def test_what_a_reader_of_json_would_pass_over_is_refused(
    check: Check, text: str, said: str
) -> None:
    code, lines = check(text)
    assert code == 1
    assert said in lines[0]


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, latin = tmp_path / "good.json", tmp_path / "latin.json"
    good.write_text(json.dumps(GUARD))
    latin.write_bytes(b'{"name": "\xe9"}')
    assert main(["fixture", "check", str(tmp_path / "no"), str(latin), str(good)]) == 1
    told = capsys.readouterr()
    assert "no: cannot be read (No such file or directory); check the path" in told.err
    assert "latin.json: is not UTF-8 text; save it as UTF-8" in told.err
    assert told.out == f"{good}: as expected\n"


def test_without_a_file_the_command_line_is_wrong() -> None:
    assert main(["fixture", "check"]) == 2


def test_which_kind_a_document_is_shows_in_it() -> None:
    assert is_scenario(SCENARIO)
    assert not is_scenario(GUARD)
    assert is_scenario({"label": "loop"})
    assert not is_scenario([])


def test_a_schema_names_the_place_where_a_reader_says_nothing() -> None:
    problem = schema_problem({**GUARD, "calls": []}, scenario=False)
    assert problem is not None
    assert problem.startswith("/calls: ")
    assert problem.endswith("see guard.schema.json")
    assert schema_problem(GUARD, scenario=False) is None
    assert schema_problem(GUARD, scenario=True) is not None


def test_places_become_json_pointers() -> None:
    assert pointer(["a/b", "c~d", 0]) == "/a~1b/c~0d/0"
    assert pointer([]) == "the document"
    assert with_pointer('$.events[1]["first block"].x is 3; give 1') == (
        "/events/1/first block/x is 3; give 1"
    )
    assert with_pointer("is not valid JSON") == "is not valid JSON"
