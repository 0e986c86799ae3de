"""What a reader sees of a page's title, author and date is claimed, with where it stands."""

from __future__ import annotations

from typing import Any

import pytest

from actors.extraction.evidence.claim import PageField
from actors.extraction.evidence.sources import (
    address,
    document_title,
    embedded_json,
    head_links,
    heading,
    meta,
    signature,
)
from actors.extraction.parse.tree import read

URL = "https://www.example.org/blog/blue-things.html"


def said(source: Any, markup: str, field: PageField, url: str = URL) -> list[tuple[str, str]]:
    return [(claim.value, str(claim.place)) for claim in source.claims(read(markup, url)) if claim.field is field]


def test_headings_are_told_with_where_they_stand() -> None:
    markup = "<header><h1 class=logo>Site</h1></header><article><h1>Blue<a href='#b'>¶</a></h1><h2>Why</h2></article>"

    assert said(heading, markup, PageField.TITLE) == [
        ("Site", "h1: first logo in-header"),
        ("Blue", "h1: later in-article"),
        ("Why", "h2: only in-article"),
    ]


def test_a_drawing_has_no_title_of_the_page() -> None:
    markup = "<body><svg><title>Arrow</title></svg><title>Blue\n things</title>"

    assert said(document_title, markup, PageField.TITLE) == [("Blue things", "title")]


def test_links_in_the_head() -> None:
    page = read("<link rel=canonical href=/blue><link rel='image_src' href=/b.jpg><link rel=icon href=/i.png>", URL)

    assert [(claim.field, claim.value) for claim in head_links.claims(page)] == [
        (PageField.CANONICAL_URL, "/blue"),
        (PageField.IMAGE, "/b.jpg"),
    ]


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("author", PageField.AUTHOR),
        ("dc.creator", PageField.AUTHOR),
        ("article:published_time", PageField.PUBLISHED),
        ("pubdate", PageField.PUBLISHED),
        ("article:modified_time", PageField.MODIFIED),
        ("twitter:title", PageField.TITLE),
        ("description", PageField.DESCRIPTION),
        ("twitter:image", PageField.IMAGE),
        ("application-name", PageField.SITE_NAME),
        ("content-language", PageField.LANGUAGE),
    ],
)
def test_names_of_meta_elements(name: str, field: PageField) -> None:
    assert said(meta, f"<meta name='{name}' content=x>", field) == [("x", f"meta: {name}")]


@pytest.mark.parametrize(
    "name", ["expires", "generator", "author-image", "msapplication-title", "viewport", "og:title"]
)
def test_meta_elements_that_say_nothing_of_a_field(name: str) -> None:
    assert list(meta.claims(read(f"<meta name='{name}' content=x>", URL))) == []


def test_a_card_may_name_its_writer() -> None:
    markup = "<meta name=twitter:label1 content='Written by'><meta name=twitter:data1 content='Ada Byron'>"

    assert said(meta, markup, PageField.AUTHOR) == [("Ada Byron", "meta: twitter:data")]


@pytest.mark.parametrize(
    ("url", "field", "value"),
    [
        ("https://example.org/2024/02/03/blue", PageField.PUBLISHED, "2024-02-03"),
        (
            "https://web.archive.org/web/20200101000000/http://example.org/2024-02-03-blue",
            PageField.PUBLISHED,
            "2024-02-03",
        ),
        ("https://example.org/blog/on-blue-things-12345.html", PageField.TITLE, "on blue things"),
        ("https://www.example.org/x", PageField.SITE_NAME, "example.org"),
        ("https://example.org/", PageField.PAGE_TYPE, "home"),
        ("https://example.org/search?q=blue", PageField.PAGE_TYPE, "search"),
    ],
)
def test_addresses(url: str, field: PageField, value: str) -> None:
    assert [found for found, _ in said(address, "", field, url)] == [value]


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>Blue</h1><p>By Ada Byron</p>",
        "<h1>Blue</h1><p>By <a href=/x>Ada Byron</a></p>",
        "<h1>Blue</h1><a rel=author href=/x>Ada Byron</a>",
        "<h1>Blue</h1><div class=post-author><span>Ada Byron</span></div>",
        "<h1>Blue</h1><a href=/author/ada>Ada Byron</a>",
        "<h1>Blue</h1><span>Ada Byron</span><span>3 February 2024</span>",
        "<h1>Blue</h1><p>3.2.2024 | Ada Byron</p>",
        "<h1>Blau</h1><p>Von Ada Byron</p>",
    ],
)
def test_who_signed_is_found(markup: str) -> None:
    values = [value for value, _ in said(signature, markup, PageField.AUTHOR)]

    assert values
    assert all("Ada Byron" in value for value in values)


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("<h1>Blue</h1><time datetime=2024-02-03>today</time>", {"time:", "near", "first"}),
        ("<h1>Blue</h1><p>Published February 3, 2024</p>", {"text:", "near", "label-published"}),
        ("<h1>Blue</h1><p>Updated February 3, 2024</p>", {"text:", "near", "label-updated"}),
        ("<h1>Blue</h1><p class=post-date>3 Feb 2024</p>", {"text:", "near", "dated", "alone"}),
        ("<p>3 February 2024</p><h1>Blue</h1>", {"text:", "above"}),
        ("<h1>Blue</h1><b>3</b> <b>Feb</b> <b>2024</b>", {"text:", "near"}),
        ("<h1>Blue</h1><footer>© 3.2.2024 Example</footer>", {"text:", "in-footer"}),
        ("<h1>Blue</h1><div class=comment><p>3 February 2024</p></div>", {"text:", "remark"}),
    ],
)
def test_when_it_was_signed_is_found_with_where_it_stands(markup: str, words: set[str]) -> None:
    (_, place), *_ = said(signature, markup, PageField.PUBLISHED)

    assert words <= set(place.split())


@pytest.mark.parametrize(
    "markup",
    [
        "<h1>Blue</h1><script>var x = '2024-02-03'</script>",
        "<h1>Blue</h1><p style='display:none'>3 February 2024</p>",
        "<h1>Blue</h1><p>Call 555 2024</p>",
    ],
)
def test_what_nobody_reads_is_no_date(markup: str) -> None:
    assert said(signature, markup, PageField.PUBLISHED) == []


def test_days_under_telling_keys_of_scripts() -> None:
    markup = r"""<script>x = {"publishedAt": "2024-02-03T10:00", other: "2020-01-01"}</script>
        <script>push("{\"datePublished\":\"2024-02-04\"}")</script>"""

    assert said(embedded_json, markup, PageField.PUBLISHED) == [
        ("2024-02-03", "script: first"),
        ("2024-02-04", "script: later"),
    ]
