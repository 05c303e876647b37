"""A JSON schema as a table of its fields, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Schema = dict[str, Any]

#: The style of the site keeps the last column of such a table wide enough to be read.
CLASS = ["```{rst-class} fields", "```", ""]
HEAD = ["| field | holds | meaning |", "| --- | --- | --- |"]


def schema_page(schema: Schema, level: int = 2) -> str:
    """Return the description, a table of the fields, and one more for each definition.

    Args:
        schema: an object schema of the project's own kind: `properties`, arrays, `oneOf` of
            references, and `$defs` of objects.
        level: of the headings of the definitions.
    """
    lines = [schema["description"], "", *_table(schema)]
    for name, definition in schema.get("$defs", {}).items():
        lines += ["", f"{'#' * level} `{name}`", "", definition["description"]]
        lines += ["", *_table(definition)] if "properties" in definition else _choices(definition)
    return "\n".join(lines) + "\n"


def _choices(definition: Schema) -> list[str]:
    return ["", "One of:", "", *(f"- {_link(choice['$ref'])}" for choice in definition["oneOf"])]


def _table(schema: Schema) -> list[str]:
    rows = []
    for path, field, required in _fields(schema, ""):
        holds = _type(field) + ("" if required else "; optional")
        meaning = f"**{field['title']}.** {field['description']}" if "title" in field else ""
        rows.append(f"| `{path}` | {holds} | {_cell(meaning)} |")
    return [*CLASS, *HEAD, *rows]


def _fields(schema: Schema, prefix: str) -> Iterator[tuple[str, Schema, bool]]:
    """Yield each field below an object schema: its path, its schema, whether it is required."""
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        path = f"{prefix}{name}"
        yield path, field, name in required
        yield from _fields(field, f"{path}.")
        if "items" in field:
            yield from _fields(field["items"], f"{path}[].")


def _type(field: Schema) -> str:
    """Return what a field may hold, in a few words."""
    if "const" in field:
        return f"`{_literal(field['const'])}`"
    if "enum" in field:
        return " or ".join(f"`{_literal(value)}`" for value in field["enum"])
    if "$ref" in field:
        return _link(field["$ref"])
    if "oneOf" in field:
        return " or ".join(_link(choice["$ref"]) for choice in field["oneOf"])
    types = field["type"] if isinstance(field["type"], list) else [field["type"]]
    words = " or ".join(_NAMES[name] for name in types)
    if field.get("items"):
        words += f" of {_type(field['items'])}"
    return words + _bounds(field)


_NAMES = {
    "array": "list",
    "boolean": "true or false",
    "integer": "whole number",
    "null": "null",
    "number": "number",
    "object": "object",
    "string": "text",
}


def _bounds(field: Schema) -> str:
    """Return the limits of a field in words: `, 1 or more`."""
    if "exclusiveMinimum" in field:
        return f", above {field['exclusiveMinimum']} and up to {field['maximum']}"
    if "minimum" in field:
        return f", {field['minimum']} or more"
    if "minItems" in field or "minLength" in field:
        return ", not empty"
    return ""


def _literal(value: object) -> str:
    return value if isinstance(value, str) else str(value)


def _link(reference: str) -> str:
    name = reference.removeprefix("#/$defs/")
    return f"[`{name}`](#{name})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
