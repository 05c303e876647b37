"""Fixture: a document with its words masked, and its folder written as that of scenarios."""

from __future__ import annotations

from typing import Any

from satyrn_engine._fixture_events import Excerpt, Json
from satyrn_engine._mask import Mask, folder_pattern, texts_in

#: The folder in which scenarios work.
PROJECT = "/project"


def masked(plain: Json, mask: Mask, taken: Excerpt) -> Json:
    """Return a fixture or scenario with the words of its texts masked.

    The names of tools stay, those of their arguments, and the document's own fields.
    """

    def call(given: Json) -> Json:
        tool = given["toolName"]
        return {"toolName": tool, "input": mask.value(given["input"], taken.keeps(tool))}

    def event(given: Json) -> Json:
        made: Json = {}
        for field, value in given.items():
            if field in ("call", "invalid"):
                made[field] = call(value)
            elif field == "batch":
                made[field] = [event(each) for each in value]
            elif field == "result":
                made[field] = {**value, "text": mask.text(value["text"])}
            else:
                made[field] = mask.text(value) if isinstance(value, str) else value
        return made

    if "calls" in plain:
        return {**plain, "calls": [call(each) for each in plain["calls"]]}
    return {**plain, "events": [event(each) for each in plain["events"]]}


def in_project(scenario: Json, cwd: str) -> Json:
    """Write the folder of the session as the one in which scenarios work, if that can be told.

    Equal texts stay equal, and different ones different, for that folder stands nowhere yet.
    """
    absolute = cwd.startswith("/") and len(cwd) > 1
    if not absolute or any(PROJECT in text for text in texts_in(scenario["events"])):
        return scenario
    here = folder_pattern(cwd.rstrip("/"))

    def moved(value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, str):
            return here.sub(PROJECT, value)
        if isinstance(value, list):
            return [moved(each) for each in value]
        if isinstance(value, dict):
            return {key: moved(each) for key, each in value.items()}
        return value

    return {**scenario, "events": moved(scenario["events"])}
