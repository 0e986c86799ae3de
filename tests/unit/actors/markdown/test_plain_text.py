"""Markdown read aloud: the words, and nothing of the marks."""

from __future__ import annotations

import pytest

from actors.markdown.plain_text import plain_text
from actors.markdown.structure import plain_words

MARKDOWN = [
    ("# Looms\n\nA *loom* weaves **cloth**.", "Looms\nA loom weaves cloth."),
    ('See [the guide](https://a.example/x "title") now.', "See the guide now."),
    ("![a loom](https://a.example/x.png)", ""),
    ("- one\n- two\n  - three", "one\ntwo\nthree"),
    ("| a | b |\n|---|---|\n| 1 | `2` |", "a b\n1 2"),
    ("```python\nx = 1\ny = 2\n```", "x = 1\ny = 2"),
    ("> said\n> twice", "said twice"),
    (r"1\. not a \*list\*", "1. not a *list*"),
    ("line  \nbreak", "line\nbreak"),
    ("~~gone~~ &amp; back", "gone & back"),
    ("", ""),
]


@pytest.mark.parametrize(("markdown", "text"), MARKDOWN)
def test_only_the_words_are_left(markdown: str, text: str) -> None:
    assert plain_text(markdown) == text


def test_words_of_code_are_without_the_name_of_its_language() -> None:
    assert plain_words("a\n\n```python\nx = `1`\n```\n\n~~~ts\ny\n~~~\nb") == "a x = 1 y b"
