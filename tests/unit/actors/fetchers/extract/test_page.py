"""Title, content, links and HTML of pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml.html import document_fromstring
from msgspec import UNSET

from actors.fetchers.extract import dom, title
from actors.fetchers.extract.extraction import Extraction, clean
from actors.fetchers.extract.page import extract, extract_html, sanitised
from protocol.browse import TitleAttempt
from protocol.confidence import Source, confidence
from protocol.documents import ExtractedLink, Signal

PAGES = Path(__file__).parents[4] / "site" / "pages"
URL = "https://notes.example/loom/"


def page(name: str) -> Extraction:
    return extract((PAGES / name).read_bytes(), "text/html", URL)


def test_an_article() -> None:
    found = page("article.html")

    text = found.summary.markdown
    assert text.startswith("# How a loom is warped\n\nBefore a single row of cloth")
    assert "## What can go wrong\n\n- Two threads are crossed" in text
    assert "[shuttle](https://notes.example/notes/shuttle)" in text
    assert "All notes" not in text
    assert (found.content, found.title) == (confidence(Source.SELECTOR_MATCH), confidence(Source.STRUCTURED_DATA))
    assert (found.summary.title, found.summary.language, found.summary.signals) == ("How a loom is warped", "en", ())
    assert (found.evidence.semantic, found.evidence.scripts) == (("main", "article"), 1)
    assert found.evidence.content_length == len(str(found.summary.text))


def test_the_ways_that_were_tried_are_told() -> None:
    rows = page("article.html").selectors

    assert [(row.selector, row.source, row.matched, row.selected) for row in rows] == [
        ("main", "main", True, True),
        ("article", "article", True, False),
        ('[role="main"]', "role_main", False, False),
        ("trafilatura", "heuristic", True, False),
        ("body", "body", True, False),
    ]


@pytest.mark.parametrize("tag", ["main", "article", "section"])
def test_a_body_needs_no_tag_of_its_own(tag: str) -> None:
    found = extract_html(f"<!doctype html><title>T</title><{tag}><p>One &amp; only.</{tag}>and <p>more</p>", URL)

    assert (found.summary.title, str(found.summary.text).split()) == ("T", ["One", "&", "only.", "and", "more"])


def test_plain_text_has_no_link_in_it() -> None:
    text = str(page("article.html").summary.text)

    assert ("through it the shuttle carries" in text, "](" in text) == (True, False)


def test_links_of_the_content() -> None:
    (link,) = page("article.html").summary.extracted_links

    assert (link.url, link.text) == ("https://notes.example/notes/shuttle", "shuttle")
    assert link.context.startswith("Each thread then goes through")


def test_links_are_absolute_by_base_and_bounded() -> None:
    anchors = "".join(f"<a href='{number}'>n{number}</a> " for number in range(300))
    found = extract_html(f"<base href='/b/'><main><p>{anchors}<a href='javascript:1'>x</a></main>", URL)

    assert len(found.summary.extracted_links) == 200
    assert found.summary.extracted_links[0] == ExtractedLink(
        url="https://notes.example/b/0", text="n0", context=found.summary.extracted_links[0].context
    )


def test_hidden_words_are_left_out() -> None:
    found = page("hidden.html")

    assert "IGNORE" not in repr(found.summary)
    assert "A word with a zero width space, a turned one and a tag end the visible part." in found.summary.markdown


@pytest.mark.parametrize(
    ("name", "incomplete", "challenge", "login", "signals"),
    [
        ("spa.html", ("empty_root", "enable_javascript"), (), False, (Signal.SPARSE_TEXT, Signal.SCRIPT_REQUIRED)),
        (
            "challenge.html",
            ("enable_javascript",),
            ("cf-chl", "challenge-platform", "just a moment"),
            False,
            (Signal.CAPTCHA_OR_ROBOT_CHECK, Signal.SPARSE_TEXT, Signal.SCRIPT_REQUIRED),
        ),
        ("login.html", (), (), True, (Signal.PAYWALL_OR_LOGIN, Signal.SPARSE_TEXT)),
        ("soft404.html", (), (), False, (Signal.SPARSE_TEXT,)),
    ],
)
def test_pages_that_are_none(
    name: str,
    incomplete: tuple[str, ...],
    challenge: tuple[str, ...],
    login: bool,  # noqa: FBT001 - a parameter of the test
    signals: tuple[Signal, ...],
) -> None:
    found = page(name)

    seen = found.evidence
    assert (seen.incomplete, seen.challenge, seen.login_form, found.summary.signals) == (
        incomplete,
        challenge,
        login,
        signals,
    )


@pytest.mark.parametrize(
    ("html", "expected", "source"),
    [
        ("<meta property=og:title content=' A&amp;B '><title>T</title><h1>H</h1>", "A&B", Source.STRUCTURED_DATA),
        ("<title>T</title><h1></h1><h1>H <b>x</b></h1>", "H x", Source.SELECTOR_MATCH),
        ("<title>T | Site</title><p>x", "T | Site", Source.META_TAGS),
        ("<svg><title>icon</title></svg><p>x", "loom", Source.FALLBACK),
        ("<h1>Side</h1><main><h1>Main</h1></main>", "Main", Source.SELECTOR_MATCH),
    ],
)
def test_titles(html: str, expected: str, source: Source) -> None:
    found = title.choose(dom.parse(f"<html><head></head><body>{html}</body></html>"), URL)

    assert (found.text, found.confidence) == (expected, confidence(source))


def test_title_attempts() -> None:
    found = title.choose(dom.parse("<title>T</title><p>x"), URL)

    assert found.attempts[2:] == (
        TitleAttempt(source="title", matched=True, confidence_score=0.65, selected=True, value="T"),
        TitleAttempt(
            source="url",
            matched=True,
            confidence_score=0.30,
            selected=False,
            value="loom",
            skip_reason="a surer source has a title",
        ),
    )


@pytest.mark.parametrize(
    ("html", "language"),
    [
        ("<html lang='de-DE'>", "de-DE"),
        ("<html lang=''><meta http-equiv=Content-Language content='fr, en'>", "fr"),
        ("<html lang='x'>", UNSET),
        ("<p>", UNSET),
    ],
)
def test_languages(html: str, language: object) -> None:
    assert extract_html(html, URL).summary.language == language


def test_html_only_when_asked() -> None:
    source = (
        "<main onclick=x()><p style='color:red'>a<script>1</script><a href='java\tscript:1'>b</a>"
        "<img src=x onerror=1></main>"
    )
    found = extract_html(source, URL, include_html=True)

    assert found.summary.html == '<html><body><main><p>a<a>b</a><img src="x"></p></main></body></html>'
    assert extract_html(source, URL).summary.html is UNSET


FRAGMENTS = st.sampled_from(
    [
        *("<svg><script>alert(1)</script></svg>", "<a href='javascript:alert(1)'>", "<img src=x onerror=alert(1)>"),
        *("<math><mtext><style>", "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>", "<form action=x>"),
        *("<iframe srcdoc='<script>1</script>'>", "<base href=//evil>", "<meta http-equiv=refresh content='0;url=x'>"),
        *(
            "<p>",
            "</p>",
            "text & more",
            "<table><td>",
            "<style>@import x</style>",
            "<!--",
            "-->",
            "<textarea>",
            "<title>",
        ),
        *(
            "<a href='data:text/html,x'>",
            "<a href=' vbscript:x'>",
            "<embed src=x>",
            "<object data=x>",
            "<xmp>",
            "<template>",
        ),
    ]
)


@given(st.lists(FRAGMENTS | st.text(max_size=10), max_size=12).map("".join))
@settings(max_examples=300, deadline=None)
def test_sanitised_html_runs_nothing(source: str) -> None:
    html = sanitised(dom.parse(source))

    again = document_fromstring(html or "<p>")
    names = {str(element.tag) for element in again.iter()}
    attributes = {name for element in again.iter() for name in element.attrib}
    links = [value for element in again.iter() for name, value in element.attrib.items() if name in ("href", "src")]
    assert not names & {"script", "style", "iframe", "object", "embed", "svg", "math", "base", "meta", "form", "link"}
    assert not {name for name in attributes if name.startswith("on") or name in ("style", "srcdoc", "action")}
    assert not [link for link in links if link.strip().lower().startswith(("javascript:", "data:", "vbscript:"))]


@pytest.mark.parametrize(
    "unseen", ["&#8;", "&#x1;", "\x08", "\x0c", "&#xfffe;", "&#xd800;", "&#0;", "\ufffe", "&#08", "&#xB;", "&#31;"]
)
def test_characters_that_xml_does_not_have(unseen: str) -> None:
    source = f"<main><p>a{unseen}<b hidden>x</b>{unseen}z</main>"

    assert "z" in str(extract_html(source, URL, include_html=True).summary.text)


@given(st.lists(FRAGMENTS | st.text(max_size=10), max_size=8).map("".join))
@settings(max_examples=60, deadline=None)
def test_no_page_is_too_broken(source: str) -> None:
    found = extract(source.encode("utf-8", "replace"), "text/html", URL)

    assert found.summary.title


@pytest.mark.parametrize("tag", ["div", "b", "span", "font", "blockquote"])
def test_a_deep_page_loses_no_words(tag: str) -> None:
    found = extract_html(f"<body>{f'<{tag}>' * 1_500}deep words{f'</{tag}>' * 1_500}<p>tail", URL)

    assert ("deep words" in str(found.summary.text), "tail" in str(found.summary.text)) == (True, True)


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("a\u200bb\u202ec\ufeff", "abc"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u200db", "ab"),
        ("می\u200c\u200d\u200cخواهم", "میخواهم"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("soft\u00adhyphen", "softhyphen"),
        ("line\nand\ttab", "line\nand\ttab"),
        ("plain", "plain"),
    ],
)
def test_unseen_characters(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@pytest.mark.parametrize("attribute", ["a{}=1 ", 'a{}=">" ', 'a{}="1"', "a{}/"])
def test_a_flood_of_attributes_is_dropped(attribute: str) -> None:
    flood = "".join(attribute.format(number) for number in range(2_000))
    root = dom.parse(f"<body><div {flood}>x</div><p title='{'long ' * 1_000}'>kept</p>")

    assert [len(element.attrib) for element in root.iter("div", "p")] == [0, 1]
