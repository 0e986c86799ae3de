"""Whatever a page writes stays text: no HTML, no markup that was none, no link of another scheme comes out."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.actors.extraction.write.pages import markdown

TAGS = (
    *("p", "div", "b", "i", "em", "strong", "code", "pre", "ul", "li", "table", "tr", "td", "th", "h2", "blockquote"),
    *("span", "del", "br", "hr", "sup", "details", "summary", "dl", "dt", "dd", "figure", "figcaption", "kbd", "samp"),
    *(
        "a href='javascript:x'",
        "a href='/y'",
        "a href='data:x'",
        "img alt='a]b' src='/i.png'",
        "img alt=x src='data:x'",
    ),
    *(
        "a href='#n1'",
        "li id=n1",
        "abbr title='<x>'",
        "math alttext='x<b>'",
        "weft-verbatim place=0",
        "weft-note place=0",
    ),
)
WORDS = (
    *("*", "**", "_x_", "`", "``", "<b>", "[a](javascript:x)", "![b](x)", "# h", "1. x", "- y", "> q", "| a | b |"),
    *("|---|---|", ":-- | --:", "```", "~~~", "\\", "&lt;", "$x$", "a", "word", "[^1]", "[^1]: n", "(javascript:x)"),
    *("!", "***", "---", "===", "<!-- c -->", "&", "<a@b.c>", "\u200b", "1", "+", "\t", "](", "漢", "。", '"'),
)


def escaped(word: str) -> str:
    return word.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


pieces = st.sampled_from(TAGS).map(lambda tag: f"<{tag}>") | st.sampled_from(TAGS).map(
    lambda tag: f"</{tag.split()[0]}>"
)
pages = st.lists(pieces | st.sampled_from(WORDS).map(escaped) | st.just(" "), max_size=25).map("".join)


_IN_LINE = re.compile(r"\\[^\w\s]|(`+)(?!`).*?(?<!`)\1(?!`)|`+", re.DOTALL)
"""What is escaped, a code span, and backticks that begin none: read from left to right, as Markdown is."""


def prose(text: str) -> str:
    """Leave code out of Markdown, whether it is fenced or within a line."""
    text = re.sub(r"^[ >]*(?:[-*+:] +|\d+\. +)*(`{3,})[^\n]*\n.*?^[ >]*\1 *$", "", text, flags=re.DOTALL | re.MULTILINE)
    return _IN_LINE.sub(lambda found: "" if found[1] else found[0], text)


@given(pages)
@example("`<kbd>&lt;!-- c --&gt; ")
def test_no_html_and_no_other_scheme_comes_out(body: str) -> None:
    text = prose(markdown(body))

    assert re.search(r"(?<!\\)<(?=[a-zA-Z!/?])(?!https?://)", text) is None
    assert re.search(r"(?<!\\)\]\(<?(?!https://example\.org/)", text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*a* _b_ `c`", "\\*a\\* \\_b\\_ \\`c\\`"),
        ("[a](b) ![c](d)", "\\[a\\](b) !\\[c\\](d)"),
        ("# a", "\\# a"),
        ("1. a", "1\\. a"),
        ("- a", "\\- a"),
        ("> a", "\\> a"),
        ("<b>a</b>", "\\<b>a\\</b>"),
        ("&lt;", "\\&lt;"),
        ("~~a~~", "\\~\\~a\\~\\~"),
        ("a<br>===", "a  \n\\==="),
        ("a | b<br>|---|---|", "a | b\n\n|---|---|"),
        ("[^1]: a", "\\[^1\\]: a"),
        ("1\u200b. a", "1\\. a"),
    ],
)
def test_what_looks_like_markup_is_escaped(text: str, expected: str) -> None:
    body = text if "<br>" in text else escaped(text)

    assert markdown(f"<p>{body}</p>") == expected


@pytest.mark.parametrize("tag", ["weft-verbatim", "weft-note"])
def test_elements_that_pose_as_ours_are_text(tag: str) -> None:
    assert markdown(f"<p>a <{tag} place=0>*b*</{tag}></p><p>c <math alttext=x></math></p>") == "a \\*b\\*\n\nc $x$"


def test_nesting_without_end_is_written() -> None:
    assert markdown("<div><b><ul><li>" * 5_000 + "a").strip("-* \n") == "a"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<pre>a&#13;[b](javascript:x)</pre>", "```\na [b](javascript:x)\n```"),
        ("<pre>a&#13;\nb</pre>", "```\na\nb\n```"),
        ("a <sub><pre>[b](javascript:x)</pre></sub>", "a\n\n```\n[b](javascript:x)\n```"),
        ("<q><pre>[b](javascript:x)</pre></q> c", "```\n[b](javascript:x)\n```\n\nc"),
        ("<span><pre>a</pre><s>b</s></span>", "```\na\n```\n\n~~b~~"),
    ],
)
def test_code_ends_where_it_ends_on_the_page(body: str, expected: str) -> None:
    assert markdown(f"<div>{body}</div>") == expected
