"""The same bytes are extracted once, and say truly when they were had."""

from __future__ import annotations

from datetime import UTC, datetime

from msgspec import structs

from actors.extraction.page import extract
from actors.fetchers.extractor import ExtractionCache, PageSource

PAGE = PageSource(
    body=b"<title>Looms</title><main><h1>Looms</h1><p>They weave.</p></main>",
    content_type="text/html",
    url="http://a.example/",
    include_html=False,
)
BEFORE, NOW = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 1, 2, tzinfo=UTC)


def test_the_same_page_is_known() -> None:
    extracted, found = ExtractionCache(1_000_000), extract(PAGE.body, PAGE.content_type, PAGE.url, captured_at=BEFORE)
    extracted.keep(PAGE, found)

    again = extracted.get(PAGE, NOW)

    assert again == extract(PAGE.body, PAGE.content_type, PAGE.url, captured_at=NOW)
    assert again is not None
    assert again.summary.captured_at == NOW
    assert found.summary.captured_at == BEFORE


def test_whatever_it_depends_on_tells_pages_apart() -> None:
    extracted = ExtractionCache(1_000_000)
    extracted.keep(PAGE, extract(PAGE.body, PAGE.content_type, PAGE.url))

    others = (
        structs.replace(PAGE, body=PAGE.body + b" "),
        structs.replace(PAGE, content_type="text/plain"),
        structs.replace(PAGE, url="http://b.example/"),
        structs.replace(PAGE, include_html=True),
    )
    assert [extracted.get(other, NOW) for other in others] == [None] * 4


def test_it_is_bounded() -> None:
    found = extract(PAGE.body, PAGE.content_type, PAGE.url)
    pages = [structs.replace(PAGE, url=f"http://a.example/{number}") for number in range(20)]
    extracted = ExtractionCache(len(PAGE.body) * 4 * 10)
    for page in pages:
        extracted.keep(page, found)
        extracted.get(pages[0], NOW)

    assert [extracted.get(page, NOW) is not None for page in pages] == [True, *[False] * 10, *[True] * 9]


def test_what_is_too_large_is_not_remembered() -> None:
    extracted = ExtractionCache(len(PAGE.body) * 4 * 7)
    extracted.keep(PAGE, extract(PAGE.body, PAGE.content_type, PAGE.url))

    assert extracted.get(PAGE, NOW) is None
