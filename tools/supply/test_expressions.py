"""Which licence expressions are plain, and which of them a list of allowed licences admits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.supply.expressions import admits, plain

ALLOWED = ["MIT", "Apache-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"]


@pytest.mark.parametrize(
    ("said", "expression"),
    [
        ("MIT", "MIT"),
        ("mit", "MIT"),
        ("apache-2.0 or mit", "Apache-2.0 OR MIT"),
        ("The MIT License", "MIT"),
        ("BSD License", None),
        ("Nonsense-1.0", None),
    ],
)
def test_what_metadata_says_is_an_expression_or_a_known_name_or_nothing_plain(
    said: str, expression: str | None
) -> None:
    assert plain(said, {"The MIT License": "MIT"}) == expression


@pytest.mark.parametrize(
    "expression",
    [
        *("MIT", "MIT OR GPL-3.0-only", "GPL-3.0-only OR MIT", "MIT AND Apache-2.0"),
        *("(MIT)", "GPL-3.0-only OR (MIT AND Apache-2.0)", "(GPL-3.0-only OR MIT) AND Apache-2.0"),
        "GPL-2.0-only WITH Classpath-exception-2.0",
        "GPL-2.0-only WITH Classpath-exception-2.0 AND MIT",
    ],
)
def test_what_allowed_licences_fulfil_is_admitted(expression: str) -> None:
    assert admits(ALLOWED, expression)


@pytest.mark.parametrize(
    "expression",
    [
        *("GPL-3.0-only", "MIT AND GPL-3.0-only", "GPL-3.0-only AND MIT", "GPL-2.0-only"),
        *("(MIT OR Apache-2.0) AND GPL-3.0-only", "GPL-3.0-only OR (MIT AND GPL-3.0-only)"),
        *("MIT AND Apache-2.0 AND GPL-3.0-only", "GPL-2.0-only WITH GCC-exception-2.0"),
    ],
)
def test_what_needs_another_licence_is_not_admitted(expression: str) -> None:
    assert not admits(ALLOWED, expression)


LEAVES = st.sampled_from(["MIT", "ISC", "GPL-3.0-only", "MPL-2.0"])
TREES = st.recursive(LEAVES, lambda each: st.tuples(each, st.sampled_from(["AND", "OR"]), each))


def _text(tree: object) -> str:
    return tree if isinstance(tree, str) else f"({' '.join(map(_text, tree))})"  # type: ignore[call-overload]


def _naive(tree: object, allowed: set[str]) -> bool:
    if isinstance(tree, str):
        return tree in allowed
    assert isinstance(tree, tuple)
    left, word, right = tree
    sides = (_naive(left, allowed), _naive(right, allowed))
    return all(sides) if word == "AND" else any(sides)


@given(TREES, st.sets(LEAVES))
def test_an_expression_is_admitted_exactly_when_its_tree_is(
    tree: object, allowed: set[str]
) -> None:
    assert admits(allowed, _text(tree)) == _naive(tree, allowed)
