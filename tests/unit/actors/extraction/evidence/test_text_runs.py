"""Many texts are searched as one, and each hit is told by the text that it is in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.evidence.text_runs import texts_containing, texts_matching

TEXTS = st.lists(st.text(alphabet="abAB İ1-"), max_size=12)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [([], []), ([""], []), (["Post-Author", "x", "author author", "byline"], [0, 2, 3]), (["aut", "hor"], [])],
)
def test_texts_with_words(texts: list[str], expected: list[int]) -> None:
    assert texts_containing(texts, ("author", "byline")) == expected


@given(TEXTS)
def test_finds_words_as_a_search_of_each_text_does(texts: list[str]) -> None:
    assert texts_containing(texts, ("ab", "b-")) == [
        at for at, text in enumerate(texts) if "ab" in text.lower() or "b-" in text.lower()
    ]


@given(TEXTS)
def test_finds_patterns_as_a_search_of_each_text_does(texts: list[str]) -> None:
    pattern = re.compile(r"1|ab?")

    assert texts_matching(texts, pattern) == [at for at, text in enumerate(texts) if pattern.search(text)]
