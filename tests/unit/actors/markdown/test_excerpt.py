"""What is cut of a document for a model can be read on to its end, and what is asked of it is found."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.markdown.excerpt import MAX_TOKENS, Excerpt, excerpt, tokens
from protocol.faults import FaultError
from protocol.page import Heading

GUIDE = """\
Weft reads pages.

## Install

Run `pip install weft`.

### From source

Clone it first.

## Refunds

A refund takes five days. Write to the office.

## Contact [us](https://example.org/us)

By post only.
"""

TABLE = "\n".join(["| n | word |", "| --- | --- |", *(f"| {n} | word{n} |" for n in range(1000))])

FENCE = "Before.\n\n```py\n" + "\n".join(f"line_{n} = {n}" for n in range(100)) + "\n```\n\nAfter.\n"

LINES = [
    "# A",
    "## B *b*",
    "- item",
    "  - inner",
    "text and more text",
    "```",
    "~~~ py",
    "| a | b |",
    "",
    "> quote",
    "漢字 " * 9,
]

documents = st.lists(st.sampled_from(LINES) | st.text(max_size=60), max_size=60).map("\n".join)


def walk(document: str, max_chars: int | None) -> list[Excerpt]:
    parts = [excerpt(document, max_chars=max_chars)]
    while isinstance(cursor := parts[-1].cursor, str):
        parts.append(excerpt(document, max_chars=max_chars, cursor=cursor))
    return parts


@given(documents, st.integers(min_value=1, max_value=200))
def test_the_parts_of_all_cursors_are_the_document(document: str, max_chars: int) -> None:
    parts = walk(document, max_chars)

    assert "".join(part.part for part in parts) == document


@given(documents, st.integers(min_value=1, max_value=200))
def test_no_part_is_longer_than_asked_or_empty(document: str, max_chars: int) -> None:
    parts = walk(document, max_chars)

    assert all(0 < part.end - part.start <= max_chars for part in parts) or document == ""


def test_a_short_document_comes_whole_and_unmarked() -> None:
    assert excerpt(GUIDE) == Excerpt(markdown=GUIDE, total_chars=len(GUIDE), end=len(GUIDE))


def test_a_part_ends_at_a_block_with_what_follows_said() -> None:
    part = excerpt(GUIDE, max_chars=80)

    assert part.part == "Weft reads pages.\n\n## Install\n\nRun `pip install weft`.\n\n"
    assert part.markdown == (
        part.part + f"*[{len(GUIDE) - part.end} of {len(GUIDE)} characters follow; "
        f'continue with the cursor "{part.cursor}"]*\n\nSections that follow:\n\n'
        "  - From source\n- Refunds\n- Contact us\n"
    )
    assert part.outline == (
        Heading(level=3, text="From source"),
        Heading(level=2, text="Refunds"),
        Heading(level=2, text="Contact us"),
    )


def test_a_heading_goes_with_what_stands_below_it() -> None:
    document = "Words that fill a line.\n\nWords that fill another.\n\n## Next\n\n" + "More. " * 30

    assert excerpt(document, max_chars=70).part.endswith("Words that fill another.\n\n")


@pytest.mark.parametrize("document", [TABLE, f"Words before.\n\n{TABLE}\n\nWords after."], ids=["alone", "among words"])
def test_of_a_long_table_the_first_rows_are_shown_and_the_others_had_by_cursor(document: str) -> None:
    first = excerpt(document)
    named = re.search(
        r'\*\(1,000 rows; the first 20 are shown; rows 21 to 1,000: cursor "([\w-]+)"\)\*', first.markdown
    )
    assert named is not None

    parts = [excerpt(document, cursor=named[1], max_chars=2_000)]
    while isinstance(cursor := parts[-1].cursor, str):
        parts.append(excerpt(document, cursor=cursor, max_chars=2_000))

    assert "| 19 | word19 |" in first.markdown
    assert "| 20 | word20 |" not in first.markdown
    assert first.markdown.endswith("Words after.") or document == TABLE
    assert "".join(part.part for part in parts).strip() == TABLE[TABLE.index("| 20 |") :]
    assert parts[0].markdown.startswith("*[Rows 21 to ")
    assert all("of 1,000]*\n\n| n | word |\n| --- | --- |\n| " in part.markdown[: part.lead + 2] for part in parts)


def test_a_document_that_fits_what_is_asked_for_has_all_rows() -> None:
    assert excerpt(TABLE, max_chars=len(TABLE)).markdown == TABLE
    assert len(excerpt(TABLE, max_chars=len(TABLE) - 1).markdown) < 1_000


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("the value in row 731", ["| 730 | word730 |", "| 731 | word731 |"]),
        ("rows 999 to 1,000", ["| 998 | word998 |", "| 999 | word999 |"]),
        ("Rows 2-3", ["| 1 | word1 |", "| 2 | word2 |"]),
    ],
)
def test_a_row_is_had_by_its_number(query: str, rows: list[str]) -> None:
    found = excerpt(f"Words.\n\n{TABLE}\n\nWords.", query=query).markdown

    assert found.split("\n\n")[1].strip().split("\n") == ["| n | word |", "| --- | --- |", *rows]


@pytest.mark.parametrize("query", ["word777", "n of word777", "777"])
def test_of_a_table_the_rows_alone_are_shown_that_answer(query: str) -> None:
    found = excerpt(f"Words before.\n\n{TABLE}", query=query)

    assert found.markdown.split("\n\n")[0] == "| n | word |\n| --- | --- |\n| 777 | word777 |"


def test_a_row_that_is_not_there_is_looked_for_by_its_words() -> None:
    assert "No passage" in excerpt(TABLE, query="row 1001").markdown


def test_what_looks_like_a_table_in_code_is_none() -> None:
    code = f"```\n{TABLE}\n```"

    assert "the first 20 are shown" not in excerpt(code).markdown


def test_rows_of_a_table_stay_whole() -> None:
    wide = "\n".join(TABLE.split("\n")[:40])
    parts = walk(wide, 200)

    assert len(parts) > 1
    assert all(part.part.startswith("|") and part.part.rstrip("\n").endswith("|") for part in parts)
    assert all("| n | word |\n| --- | --- |\n" in part.markdown for part in parts)


def test_code_that_must_be_cut_is_closed() -> None:
    part = excerpt(FENCE, max_chars=400)

    assert part.part.endswith("\n")
    assert part.markdown[len(part.part) :].startswith("```\n\n*[")


def test_code_that_fits_is_not_cut() -> None:
    document = "Words. " * 20 + "\n\n```\n" + "code\n" * 20 + "```\n"

    assert "```" not in excerpt(document, max_chars=200).part


@pytest.mark.parametrize(
    "document",
    [
        "漢字を読む。" * 20_000,
        "Ein Wort gibt das andere, und so fort. " * 6_000,
        "# Ü\n\nд и т. д.\n\n" * 9_000,
    ],
    ids=["ideographs", "prose", "headings"],
)
def test_the_default_costs_a_model_at_most_four_thousand_tokens(document: str) -> None:
    part = excerpt(document)

    assert MAX_TOKENS / 2 < tokens(part.markdown) <= MAX_TOKENS


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Refunds", "## Refunds\n\nA refund takes five days. Write to the office.\n\n"),
        ("## refunds", "## Refunds\n\nA refund takes five days. Write to the office.\n\n"),
        ("Inst", "## Install\n\nRun `pip install weft`.\n\n### From source\n\nClone it first.\n\n"),
        ("source", "### From source\n\nClone it first.\n\n"),
        ("Contact us", "## Contact [us](https://example.org/us)\n\nBy post only.\n"),
    ],
)
def test_a_section_is_found_by_its_heading(name: str, found: str) -> None:
    assert excerpt(GUIDE, section=name).part == found


def test_a_cursor_within_a_section_ends_with_it() -> None:
    first = excerpt(GUIDE, section="Install", max_chars=30)
    assert isinstance(first.cursor, str)

    rest = excerpt(GUIDE, cursor=first.cursor)

    assert first.part + rest.part == "## Install\n\nRun `pip install weft`.\n\n### From source\n\nClone it first.\n\n"


@pytest.mark.parametrize("name", ["Prices", "n", ""])
def test_an_unknown_section_is_told_with_those_that_are(name: str) -> None:
    with pytest.raises(FaultError) as raised:
        excerpt(GUIDE, section=name)

    assert raised.value.fault.field == "section"
    assert raised.value.fault.message.endswith("The sections are: Install; From source; Refunds; Contact us.")


@pytest.mark.timeout(60)
def test_a_heading_full_of_brackets_costs_no_more_than_another() -> None:
    brackets = r"\[" * 100_000

    cut = excerpt(f"{'Words. ' * 100}\n\n# {brackets}\n\nMore.", max_chars=500)

    assert [heading.text[:3] for heading in cut.outline] == ["[[["]


def test_a_heading_in_code_is_none() -> None:
    with pytest.raises(FaultError, match="no headings"):
        excerpt("```\n# not this\n```\n", section="not this")


@pytest.mark.parametrize("cursor", ["", "?", "AAAA", "é"])
def test_what_is_no_cursor_is_told(cursor: str) -> None:
    with pytest.raises(FaultError, match="none that an excerpt gave") as raised:
        excerpt(GUIDE, cursor=cursor)

    assert raised.value.fault.field == "cursor"


def test_a_cursor_of_another_document_is_told_with_a_way_on() -> None:
    cursor = excerpt(TABLE, max_chars=100).cursor
    assert isinstance(cursor, str)

    with pytest.raises(FaultError, match="another document") as raised:
        excerpt(GUIDE, cursor=cursor)

    assert raised.value.fault.field == "cursor"
    assert [action.action for action in raised.value.fault.actions] == ["start_again"]


def test_a_query_gives_the_passages_that_answer_under_their_headings() -> None:
    found = excerpt(GUIDE, query="how long does a refund take")

    assert found.markdown == (
        "## Refunds\n\nA refund takes five days. Write to the office.\n\n"
        f"*[1 passages of {len(GUIDE)} characters; 0 others hold a word of the query]*\n"
    )
    assert found.passages == 1


def test_passages_stand_in_the_order_of_the_document() -> None:
    found = excerpt(GUIDE, query="clone post")

    assert found.markdown.startswith("## Install\n\n### From source\n\nClone it first.\n\n[…]\n\n## Contact")


def test_a_row_is_found_with_the_head_of_its_table() -> None:
    found = excerpt(TABLE, query="word777", max_chars=2_000)

    assert found.markdown.startswith("| n | word |\n| --- | --- |\n|")
    assert "| 777 | word777 |" in found.markdown


@pytest.mark.parametrize("query", ["zebra", "", "?!"])
def test_words_that_nowhere_stand_give_no_passage(query: str) -> None:
    found = excerpt(GUIDE, query=query)

    assert found.markdown == "*[No passage holds a word of the query.]*\n"
    assert [heading.text for heading in found.outline] == ["Install", "From source", "Refunds", "Contact us"]


@given(documents, st.text(max_size=20))
def test_any_words_may_be_asked_of_any_document(document: str, query: str) -> None:
    assert isinstance(excerpt(document, query=query, max_chars=100), Excerpt)
