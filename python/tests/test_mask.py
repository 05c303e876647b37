"""Masking: no word of the original survives, and what was equal or different stays so."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from satyrn_engine._mask import JSON_WORDS, Mask, is_name, texts_in
from satyrn_engine._scripts import runs_pattern, words_pattern
from satyrn_engine.errors import ConfigError

settings.register_profile(
    "sandbox", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("sandbox")

WORDS = [
    "read",
    "Read",
    "READ",
    "reading",
    "a",
    "Ab",
    "é",
    "Straße",
    "Привет",
    "привет",
    "İstanbul",
]
OTHERS = [
    "你好",
    "世界",
    "テスト",
    "これは",
    "です",
    "김철수",
    "ภาษาไทย",
    "क्षि",
    "ΣΑΣ",
    "σας",
    "\N{LATIN CAPITAL LETTER D WITH SMALL LETTER Z WITH CARON}ab",
    "\N{KELVIN SIGN}elvin",
    "Kelvin",
]
MARKS = [
    " ",
    "\n",
    "/",
    ".",
    "_",
    "-",
    "'",
    "1",
    "42",
    "٣",
    "9f8a7b6c",
    "\u0301",
    "/project",
    "😀",
    "²",
]

texts = st.one_of(
    st.lists(st.sampled_from(WORDS + OTHERS + MARKS), max_size=12).map("".join),
    st.text(max_size=20),
)
values = st.recursive(
    st.one_of(texts, st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


def _mask(*documents: object, **more: Any) -> Mask:  # noqa: ANN401 - of `Mask`
    return Mask([text for each in documents for text in texts_in(each)], **more)


def _all(mask: Mask, documents: list[Any]) -> list[Any]:
    return [mask.value(each, lambda *_: False) for each in documents]


def _letters(text: str) -> list[str]:
    """Return the runs of three letters and more, found without a pattern."""
    runs = "".join(each if each.isalpha() else " " for each in text).split()
    return [run.lower() for run in runs if len(run) >= 3]


@given(st.lists(values, min_size=2, max_size=6), st.booleans())
@example(["\N{KELVIN SIGN}elvin", "Kelvin", "kelvin", "KELVIN"], False)
@example([f"{letter}ab" for letter in ("\u01c4", "\u01c5", "\u01c6")], False)
@example([{"read": 1}, {"Read": 1}, {"reads": 1}], False)
@example(["a1b2c3d4", "b1a2c3d4", "a1b2c3d", "ab2c3d4e", "xb2c3d4e"], False)
@example(["aが", "abが", "abが1", "ああ", "あ"], False)
@example(["/project", "/projects", "/project/read", "project"], True)
def test_values_are_equal_if_and_only_if_they_were(documents: list[Any], inside: bool) -> None:
    mask = _mask(documents, folder="/project" if inside else None)
    masked = _all(mask, documents)
    for one, other in zip(documents, masked, strict=True):
        for another, yet_another in zip(documents, masked, strict=True):
            assert (one == another) == (other == yet_another)


@given(st.lists(texts, max_size=8))
@example(["abが", "read", "Read it"])
@example(["xyz zuz qaz xoxo"])
def test_no_word_of_three_letters_survives(documents: list[str]) -> None:
    mask = _mask(documents)
    original = {word for text in documents for word in _letters(text)} - JSON_WORDS
    masked = {word for text in documents for word in _letters(mask.text(text))}
    assert not original & masked


@given(texts)
@example("1\N{COMBINING ACUTE ACCENT}")
def test_everything_but_letters_stays_where_it_was(text: str) -> None:
    masked = _mask(text).text(text)
    assert len(masked) == len(text)
    for before, after in zip(text, masked, strict=True):
        category = unicodedata.category(before)
        if category[0] in "LM":
            continue
        assert after == before


@given(texts)
@example("1\N{COMBINING ACUTE ACCENT} read1\N{COMBINING ACUTE ACCENT}aが")
def test_words_keep_their_length_their_capitals_and_their_bounds(text: str) -> None:
    masked = _mask(text).text(text)
    assert [found.span() for found in words_pattern().finditer(masked)] == [
        found.span() for found in words_pattern().finditer(text)
    ]
    for before, after in zip(text, masked, strict=True):
        if before.isascii() and before.isalpha():
            assert before.isupper() == after.isupper()


def test_it_reads_like_text() -> None:
    text = "Read src/main.py, then readFile('src/main.py') 3 times; sed -n 20p"
    masked = _mask(text).text(text)
    same = re.fullmatch(
        r"(\w+) (\w+)/(\w+)\.py, \w+ (\w+)\('\2/\3\.py'\) 3 \w+; \w+ -n 20p", masked
    )
    assert same is not None, masked
    assert same[1][0].isupper()
    assert re.fullmatch(r"[a-z]{4}[A-Z][a-z]{3}", same[4])


def test_each_script_is_masked_in_its_own_letters() -> None:
    for text, script in (("你好世界", "CJK"), ("テスト", "KATAKANA"), ("これは", "HIRAGANA")):
        masked = _mask(text).text(text)
        assert masked != text
        assert all(unicodedata.name(each).startswith(script) for each in masked)
    assert _mask("김철수").text("김철수") != "김철수"


def test_where_a_character_is_a_word_equal_characters_stay_equal() -> None:
    masked = _mask("文件 文").text("文件 文")
    assert masked[0] == masked[3]
    assert masked[0] != masked[1]


def test_short_words_stay_but_not_within_an_identifier() -> None:
    assert _mask("ls -la v2 20p").text("ls -la v2 20p") == "ls -la v2 20p"
    key = "9f8a7b6c"
    masked = _mask(key).text(key)
    assert re.fullmatch(r"9[a-z]8[a-z]7[a-z]6[a-z]", masked)
    assert masked != key


def test_the_letters_of_an_identifier_are_told_apart() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    key = "".join(f"{each}1" for each in letters)
    masked = _mask(key).text(key)
    assert sorted(masked.replace("1", "")) == list(letters)


def test_words_of_json_stay_and_words_that_are_to_be_kept() -> None:
    text = "true FALSE null cat Cat dog"
    mask = _mask(text, keep=["cat"])
    assert mask.text(text).split()[:-1] == text.split()[:-1]
    assert mask.text("dog") != "dog"


def test_the_names_of_arguments_stay_and_what_else_is_a_key_does_not() -> None:
    given_value = {"path": "read", "names": {"secret": "read", "path": 1}}
    mask = _mask(given_value)
    masked = mask.value(given_value, lambda key, depth: key == "path" or depth == 0)
    assert set(masked) == {"path", "names"}
    assert masked["path"] == mask.text("read") != "read"
    (secret, path) = masked["names"]
    assert (secret == "secret", path) == (False, "path")


def test_a_key_is_a_name_if_it_looks_like_one() -> None:
    assert is_name("file_path")
    assert is_name("filePath2")
    assert not is_name("src/main.py")
    assert not is_name("my secret")


def test_the_same_session_is_masked_in_the_same_way_and_another_seed_in_another() -> None:
    text = "Read the file, then read it again"
    assert _mask(text).text(text) == _mask(text).text(text)
    assert _mask(text, seed=1).text(text) != _mask(text).text(text)


def test_a_pseudo_word_depends_on_the_place_of_its_word_and_not_on_the_word() -> None:
    one, other = "alpha bravo alpha", "zebra quail zebra"
    assert _mask(one).text(one) == _mask(other).text(other)


def test_a_pool_that_is_used_up_gives_way_to_the_next_one() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    text = " ".join(a + b + c for a in letters for b in letters for c in letters)
    masked = _mask(text).text(text).split()
    assert len(set(masked)) == 26**3
    assert not set(masked) & set(text.split())


def test_more_words_than_there_are_letters_for_are_refused_with_a_remedy() -> None:
    text = " ".join(chr(point) for point in range(0xAC00, 0xD7A4))
    with pytest.raises(ConfigError, match="--calls"):
        _mask(text).text(text)


def test_patterns_agree_on_what_a_word_is() -> None:
    for word in [*WORDS, *OTHERS]:
        found = words_pattern().fullmatch(word)
        assert found is not None, word
        assert "".join(run[0] for run in runs_pattern().finditer(word)) == word
