"""What a page leads to, for who walks through its site: by its markup and its headers."""

from __future__ import annotations

from typing import Any

import pytest

from actors.extraction.page import extract, extract_html
from actors.fetchers.page_answer import fetched
from protocol.pages import Outlinks
from protocol.tiers import RenderTier

URL = "https://example.com/guide/looms"
PAGE = """<!doctype html><html lang="en"><head><title>Looms</title><meta name="Robots" content="noindex, follow">
<link rel="alternate" hreflang="de" href="/de/"><link rel="next" href="?page=2">
<link rel="stylesheet" href="/a.css"></head>
<body><nav><a href="/">Home</a> <a href="/">Again</a></nav><main><h1>Looms</h1><p>Some words of a
<a href="warp#part">warp</a>, a <a rel="sponsored nofollow" href="/paid">loom</a>
and <a href="mailto:me@example.com">me</a>.
</p><map><area href="/map"></map><a style="display:none" href="/trap">x</a>
<a href="javascript:void(0)">y</a></main></body>"""


def outlinks(headers: tuple[tuple[str, str], ...] = ()) -> Outlinks:
    extraction = extract_html(PAGE, URL)
    answer = fetched(
        RenderTier.INTELLIGENCE, extraction, headers=headers, outlinks=True, status=200, content_type="text/html"
    )
    assert answer.outlinks is not None
    return answer.outlinks


def test_a_page_leads_to_what_a_reader_can_follow() -> None:
    assert outlinks() == Outlinks(
        links=(
            "https://example.com/",
            "https://example.com/guide/warp#part",
            "https://example.com/map",
            f"{URL}?page=2",
        ),
        alternates={"de": "https://example.com/de/"},
        noindex=True,
    )


@pytest.mark.parametrize(
    ("said", "nofollow"), [("nofollow", True), ("none", True), ("otherbot: nofollow", False), ("noarchive", False)]
)
def test_a_header_says_it_too(said: str, *, nofollow: bool) -> None:
    assert outlinks((("X-Robots-Tag", said),)).nofollow is nofollow


def test_a_document_that_is_no_page_leads_to_its_links_and_nobody_pays_who_did_not_ask() -> None:
    feed = (
        b"<rss><channel><title>F</title><item><title>A</title><link>https://example.com/a</link></item></channel></rss>"
    )
    extraction = extract(feed, "application/rss+xml", URL)
    fields: dict[str, Any] = {"status": 200, "content_type": "application/rss+xml"}

    asked = fetched(RenderTier.INTELLIGENCE, extraction, outlinks=True, **fields)
    unasked = fetched(RenderTier.INTELLIGENCE, extraction, **fields)

    assert (asked.outlinks, unasked.outlinks) == (Outlinks(links=("https://example.com/a",)), None)
