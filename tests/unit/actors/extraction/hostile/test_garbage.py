"""Whatever looks like HTML is read, the same each time, into what can be sent."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from protocol.faults import Code
from tests.unit.actors.extraction.hostile.subject import Extraction, answered

TAGS = (
    *(
        "p",
        "div",
        "span",
        "a",
        "b",
        "ul",
        "li",
        "table",
        "tr",
        "td",
        "th",
        "h1",
        "h2",
        "pre",
        "code",
        "script",
        "style",
    ),
    *("svg", "math", "template", "noscript", "select", "option", "title", "main", "article", "details", "summary"),
    *("form", "input", "dl", "dt", "dd", "img", "br", "iframe", "textarea", "body", "html", "head", "meta", "base"),
)
VALUES = st.sampled_from(
    (
        *(
            "",
            "x",
            "javascript:alert(1)",
            "http://[",
            "//a.example",
            "//[",
            "display:none",
            "\x00",
            "'",
            "colspan",
            "1e9",
            "-1",
        ),
        *("author", "og:title", "article:published_time", "9999-99-99", "{", "price", "application/ld+json", "hidden"),
    )
)
NAMES = st.sampled_from(
    (
        *("href", "src", "class", "id", "style", "content", "property", "name", "itemprop", "itemscope", "itemtype"),
        *("colspan", "rowspan", "lang", "hidden", "type", "datetime", "rel", "srcset", "role", "aria-hidden", "span"),
    )
)
WORDS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ("weft and warp. ", "&nbsp;", "&#0;", "&#xD800;", "<!--", "-->", "<![CDATA[", "]]>", "$1.99", "404")
    ),
)


def opening(tag: str, attributes: list[tuple[str, str]]) -> str:
    return f"<{tag} {' '.join(f'{name}={value!r}' for name, value in attributes)}>"


OPENINGS = st.builds(opening, st.sampled_from(TAGS), st.lists(st.tuples(NAMES, VALUES), max_size=3))
CLOSINGS = st.sampled_from(TAGS).map(lambda tag: f"</{tag}>")
MARKUP = st.lists(st.one_of(OPENINGS, CLOSINGS, WORDS), max_size=40).map("".join)

CORPUS = (
    b"",
    b"\x00",
    b"<",
    b"</",
    b"<!",
    b"<a",
    b"<a b='",
    b"&",
    b"&#",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"<html",
    b"<frameset><frame>",
    b"<table><a><table><a>",
    b"<p><table><p></table><b></p></b>",
    b"<svg><foreignObject><p><math><mi><p></svg>",
    b"<title>x</title><title></title><body><body a=1>",
    b"<select><table><tr><td></select>x",
    b"<base href='http://['><a href='http://['>x</a><link rel=canonical href='//['>",
    b"<meta charset=utf-7>+ADw-script+AD4-",
    b'<script type=application/ld+json>[[[[{}]]], null, 1, {"@graph": {"@graph": [null]}}]</script>',
    b"<table><tr><td rowspan=0 colspan=99999999999999999999>x<tr><td rowspan=-1>y</table>",
    b"<time datetime='0000-00-00T99:99'>x</time><time datetime='+999999-01-01'>y</time>",
    b"<ol start=99999999999999999999><li value=-1>x",
    b"<details open><summary></summary></details><dialog><p>x",
    b"<div itemscope itemref='a a a' id=a itemprop=a><div id=b itemref='a b'>x",
)


@pytest.mark.parametrize("body", CORPUS)
def test_the_corpus(body: bytes) -> None:
    assert isinstance(answered(body), Extraction)


@given(MARKUP)
@example("<p>\ud800</p>")
@example("\x1f")
def test_markup_is_read_the_same_each_time_into_what_can_be_sent(markup: str) -> None:
    body = markup.encode("utf-8", "surrogatepass")
    first, second = answered(body), answered(body)

    if isinstance(first, Extraction) and isinstance(second, Extraction):
        assert msgspec.json.encode(first.summary) == msgspec.json.encode(second.summary)
    else:
        assert first is second is Code.CONTENT_UNSUPPORTED_TYPE


@given(st.binary(max_size=400))
def test_bytes_are_read_or_refused(body: bytes) -> None:
    found = answered(body, "text/html")

    assert isinstance(found, Extraction) or found is Code.CONTENT_UNSUPPORTED_TYPE
