"""Summaries of our own passages: sentences that stand in them, in their order, a share of each source."""

from __future__ import annotations

import pytest

from actors.answerer.local import summarize
from actors.answerer.sentences import read_sentences
from protocol.answers import SummaryStyle
from tests.unit.actors.answerer.local.passages import MILL, MUEHLE, SHUICHE, source


@pytest.mark.parametrize(("style", "number"), [(SummaryStyle.CONCISE, 3), (SummaryStyle.DETAILED, 5)])
@pytest.mark.parametrize("passage", [MILL, SHUICHE])
def test_a_summary_quotes_as_much_as_its_style_says(passage: str, style: SummaryStyle, number: int) -> None:
    summary = summarize([source(passage)], style)

    text = read_sentences(passage).text
    places = [text.index(each.quote) for each in summary.quotes]
    assert len(places) == number
    assert places == sorted(places)
    assert all(0 <= each.score <= 1 for each in summary.quotes)


def test_each_source_has_its_share_and_code_has_none() -> None:
    summary = summarize([source(MILL), source(MUEHLE, doc_id="doc_2")], SummaryStyle.DETAILED)

    assert [each.doc_id for each in summary.quotes] == ["doc_1"] * 3 + ["doc_2"] * 3
    assert "the flood of 1866 killed 12 people" not in {each.quote for each in summary.quotes}


def test_what_was_said_is_not_said_again() -> None:
    passage = "The mill was built in 1781. The mill was built in the year 1781. A flood carried its wheel away."

    assert [each.quote for each in summarize([source(f"{passage} {passage}")]).quotes][:2] != [
        "The mill was built in 1781.",
        "The mill was built in 1781.",
    ]


def test_a_page_of_rows_is_summarised_by_its_rows() -> None:
    rows = "".join(f"| thread number {number} | {number} metres of cotton |\n" for number in range(5))

    assert summarize([source(rows)]).quotes[0].quote == "thread number 0 0 metres of cotton"


def test_nothing_is_summarised_by_nothing() -> None:
    summary = summarize([source("![a picture](a.png)")])

    assert (summary.quotes, summary.supported, summary.confidence) == ((), False, 0.0)
