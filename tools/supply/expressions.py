"""Licence expressions: which of them the list of allowed licences admits."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression


def plain(said: str, names: Mapping[str, str]) -> str | None:
    """Return what metadata says as an SPDX expression in its canonical spelling.

    Args:
        said: An expression, or an older name of a licence.
        names: Older names that mean exactly one licence.

    Returns:
        None where it says nothing that is plain, such as "BSD License".
    """
    try:
        return canonicalize_license_expression(names.get(said, said))
    except InvalidLicenseExpression:
        return None


def admits(allowed: Collection[str], expression: str) -> bool:
    """Whether an expression in canonical spelling can be fulfilled with allowed licences alone.

    `A OR B` needs one of them, `A AND B` both; `A WITH exception` is to be allowed as a whole.
    """
    words = re.findall(r"[()]|[^\s()]+", expression)
    fulfilled, rest = _either(words, allowed)
    assert not rest, expression
    return fulfilled


def _either(words: list[str], allowed: Collection[str]) -> tuple[bool, list[str]]:
    fulfilled, words = _both(words, allowed)
    while words[:1] == ["OR"]:
        other, words = _both(words[1:], allowed)
        fulfilled = fulfilled or other
    return fulfilled, words


def _both(words: list[str], allowed: Collection[str]) -> tuple[bool, list[str]]:
    fulfilled, words = _one(words, allowed)
    while words[:1] == ["AND"]:
        other, words = _one(words[1:], allowed)
        fulfilled = fulfilled and other
    return fulfilled, words


def _one(words: list[str], allowed: Collection[str]) -> tuple[bool, list[str]]:
    if words[0] == "(":
        fulfilled, words = _either(words[1:], allowed)
        return fulfilled, words[1:]
    if words[1:2] == ["WITH"]:
        return " ".join(words[:3]) in allowed, words[3:]
    return words[0] in allowed, words[1:]
