"""Whatever a page says, its sections and what is written of it keep to their bounds and their place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.runner.page_items import SectionTold, cut
from actors.runner.page_markdown import MAX_SECTIONS, markdown_of, quoted, sections, words
from protocol.browsers.pageinfo import MAX_SECTION_CHARS

MARKUP = st.text(alphabet=st.sampled_from("ab \n\r#>-*`|[]()!\\~_<&;1.:\t"), max_size=200)


def section(tag: str, text: str) -> SectionTold:
    return SectionTold(tag=tag, text=text, heading="")


def test_each_kind_of_block_is_a_section() -> None:
    markdown = (
        "# A [loom](https://a.example)\n\nIt `holds` **threads**.\n\n- one\n  - two\n\n> said\n\n```py\ncode\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | \\[2\\] |\n"
    )

    told = [(one.tag, one.text, one.heading) for one in sections(markdown)]

    assert told == [
        ("h1", "A loom", ""),
        ("p", "It holds threads.", "A loom"),
        ("li", "one", "A loom"),
        ("li", "two", "A loom"),
        ("blockquote", "said", "A loom"),
        ("pre", "code", "A loom"),
        ("tr", "a | b", "A loom"),
        ("tr", "1 | [2]", "A loom"),
    ]


@given(MARKUP)
def test_any_text_has_sections_within_their_bounds(markdown: str) -> None:
    told = sections(markdown * 20)

    assert len(told) <= MAX_SECTIONS
    assert all(0 < len(one.text) <= MAX_SECTION_CHARS and one.text.strip() for one in told)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("part", ["[", "\\[", "*a ", "> ", "- ", "`a", "![", "[a](", "|\\["])
def test_no_text_costs_the_square_of_its_length(part: str) -> None:
    assert len(sections(part * (50_000 // len(part)))) <= MAX_SECTIONS


@given(MARKUP)
def test_a_quote_is_one_block(markdown: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(f"# Ours\n\n{quoted(markdown)}\n\n# Ours too\n")

    assert [token.type for token in tokens if token.level == 0 and token.type != "inline"] == [
        "heading_open",
        "heading_close",
        "blockquote_open",
        "blockquote_close",
        "heading_open",
        "heading_close",
    ]


@given(MARKUP)
def test_words_are_one_paragraph_of_plain_words(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(words(text))

    kinds = {child.type for token in tokens for child in token.children or ()}
    assert [token.type for token in tokens if token.level == 0] in (["paragraph_open", "paragraph_close"], [])
    assert kinds <= {"text", "text_special"}


@given(st.lists(st.builds(section, st.sampled_from(["h1", "h3", "p", "li", "pre", "td"]), MARKUP), max_size=8))
def test_sections_written_stay_words(parts: list[SectionTold]) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown_of(parts))

    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special", "softbreak"}
    assert not {token.type for token in tokens} & {"html_block", "table_open", "blockquote_open", "hr"}


@given(st.text(max_size=300), st.integers(1, 300))
def test_a_cut_text_is_a_beginning_that_fits(text: str, most: int) -> None:
    told = cut(text, most)

    assert text.startswith(told)
    assert len(told) <= most
