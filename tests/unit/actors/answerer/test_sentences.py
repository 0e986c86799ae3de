"""Documents cut into sentences: of many languages, numbered, and word for word what the plain text holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.answerer.sentences import MAX_SENTENCE_CHARS, Sentence, read_sentences
from actors.markdown.plain_lines import LineKind

PAGE = """\
# Mill

It was built in 1781. Who built it? Nobody knows.

- Flour. Every day

| Day | Price |
|-----|-------|
| Mon. | 3 |
"""


def test_a_page_is_cut_into_numbered_sentences() -> None:
    source = read_sentences(PAGE)

    assert source.text == "Mill\nIt was built in 1781. Who built it? Nobody knows.\nFlour. Every day\nDay Price\nMon. 3"
    assert [(each.number, each.kind, each.text) for each in source.sentences] == [
        (1, LineKind.HEADING, "Mill"),
        (2, LineKind.PROSE, "It was built in 1781."),
        (3, LineKind.PROSE, "Who built it?"),
        (4, LineKind.PROSE, "Nobody knows."),
        (5, LineKind.ITEM, "Flour."),
        (6, LineKind.ITEM, "Every day"),
        (7, LineKind.ROW, "Day Price"),
        (8, LineKind.ROW, "Mon. 3"),
    ]
    assert source.sentences[2] == Sentence(3, "Who built it?", 27, 40, LineKind.PROSE, "Mill")


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Ada B. King met Mr. Low at 5 p.m. in the U.S. embassy.", "It cost 3.50 e.g. for two!", "Really?"],
        ['He said: "We stay."', "(They did.)", "Then... they left.[12]", "1781 was dry."],
        ["Am 21. März kam er z.B. mit dem Zug, ca. 3 Std. zu spät.", "Nr. 5 war leer."],
        ["Il est né à St. Malo.", "«Où ?»", "Élise l'ignore…", "Œuvre."],
        ["Дом построен в 1901 г. купцом.", "Кто он?"],
        ["它建于1781年。", "是谁建的？", "他说：「不知道。」", "完！"],
        ["水車は1781年に建てられた。", "誰が？"],
        ["यह १७८१ में बना।", "किसने बनाया?"],
        ["متى بُني؟", "لا أحد يعرف."],
    ],
)
def test_sentences_of_many_languages(sentences: list[str]) -> None:
    blank = "" if sentences[0].endswith("。") else " "

    assert [each.text for each in read_sentences(blank.join(sentences)).sentences] == sentences


@pytest.mark.parametrize(
    "text", ["word " * 1_000, "x" * 5_000, "字" * 5_000, "a, " * 2_000, "กข " * 2_000, "! " * 5_000]
)
def test_what_has_no_ends_is_cut_all_the_same(text: str) -> None:
    source = read_sentences(text)

    assert max(len(each.text) for each in source.sentences) <= MAX_SENTENCE_CHARS
    assert " ".join(each.text for each in source.sentences).replace(" ", "") == text.replace(" ", "")


@given(st.text(st.sampled_from(" \n#-*|`>[]()<&.!?。:1aÄ字\\_~\"'"), max_size=200))
def test_every_sentence_stands_where_it_says(markdown: str) -> None:
    source = read_sentences(markdown)

    assert [source.text[each.start : each.end] for each in source.sentences] == [each.text for each in source.sentences]
    assert all(each.text.strip() == each.text != "" for each in source.sentences)
