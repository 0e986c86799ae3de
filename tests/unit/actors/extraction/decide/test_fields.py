"""The fields of a page are decided among what its sources claim; who disagrees is heard and named."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.extraction.decide.content import Content
from actors.extraction.decide.fields import DecidedFields, decide_fields
from actors.extraction.evidence.claim import Claim, PageField
from actors.extraction.evidence.sources import sources
from actors.extraction.parse.tree import read
from protocol.confidence import Source, confidence
from protocol.page import PageFields, PageType
from tests.support.scale import sized
from tests.unit.actors.extraction.places import place

URL = "https://www.daily.example/2024/02/03/on-blue-things"

ARTICLE = """<html lang=en><head><title>On blue things | The Daily</title>
<link rel=canonical href=/2024/02/03/on-blue-things>
<meta name=author content="Ada Byron"><meta property=og:title content="On blue things">
<meta property=og:description content="What blue things are, and why they are blue.">
<meta property=og:image content=/blue.jpg><meta property=og:site_name content="The Daily">
<meta property=article:published_time content=2024-02-03T08:00:00Z>
<meta property=article:modified_time content=2024-03-01T08:00:00Z></head>
<body><header><a href=/>The Daily</a></header><main><article><h1>On blue things</h1>
<p class=byline>By <a rel=author href=/author/ada>Ada Byron</a> | <time datetime=2024-02-03>February 3, 2024</time></p>
<p>Blue things are blue.</p></article></main><footer>Copyright 2026</footer></body></html>"""


def decided(markup: str, url: str = URL, looks: dict[PageType, float] | None = None) -> DecidedFields:
    page = read(markup, url)
    claims = [claim for source in sources() for claim in source.claims(page)]
    return decide_fields(page, claims, content(looks))


def content(looks: dict[PageType, float] | None = None) -> Content:
    nothing = confidence(Source.HEURISTIC)
    return Content((), frozenset(), "", nothing, {PageType.ARTICLE: 1.0} if looks is None else looks, ())


def test_an_article_that_agrees_with_itself() -> None:
    found = decided(ARTICLE)

    assert found.title == "On blue things"
    assert found.fields == PageFields(
        description="What blue things are, and why they are blue.",
        authors=("Ada Byron",),
        published="2024-02-03",
        modified="2024-03-01",
        site_name="The Daily",
        canonical_url=URL,
        image="https://www.daily.example/blue.jpg",
        page_type=PageType.ARTICLE,
    )
    assert min(found.confidences[name].score for name in ("title", "authors", "published")) > 0.85


def test_every_field_with_a_value_has_a_confidence_and_no_other() -> None:
    found = decided(ARTICLE)

    values = msgspec.structs.asdict(found.fields)
    filled = {name for name, value in values.items() if value not in ("", (), msgspec.UNSET)}
    assert set(found.confidences) == {"title", *filled}


def test_a_page_that_says_nothing_has_its_address_for_a_title() -> None:
    found = decided("", "https://example.org/", {})

    assert (found.title, found.fields.authors, found.fields.published) == ("https://example.org/", (), "")
    assert found.confidences["title"] == confidence(Source.FALLBACK)


def test_a_title_that_others_contradict_is_less_sure() -> None:
    disputed = ARTICLE.replace('content="On blue things"', 'content="Ten colours you must see"')

    assert decided(disputed).confidences["title"].score < decided(ARTICLE).confidences["title"].score


def test_the_trace_names_every_place_and_why_it_was_skipped() -> None:
    disputed = ARTICLE.replace('content="On blue things"', 'content="Ten colours you must see"')

    attempts = {attempt.source: attempt for attempt in decided(disputed).title_attempts}

    assert [attempt.source for attempt in attempts.values() if attempt.selected] == ["h1"]
    assert attempts["title"].skip_reason == "says the same beside more, such as the name of the site"
    assert attempts["og:title"].value == "Ten colours you must see"
    assert "disagrees with h1" in str(attempts["og:title"].skip_reason)


def test_places_without_a_title_are_told() -> None:
    attempts = decided("<title>Blue</title>").title_attempts

    missing = [attempt.source for attempt in attempts if not attempt.matched]
    assert missing == ["og:title", "h1"]


@pytest.mark.parametrize(
    ("line", "published", "modified"),
    [
        ("Published February 3, 2024", "2024-02-03", ""),
        ("Updated February 3, 2024", "", "2024-02-03"),
        ("Last modified: February 3, 2024", "", "2024-02-03"),
    ],
)
def test_a_day_that_is_only_that_of_a_change_is_not_one_of_publication(
    line: str, published: str, modified: str
) -> None:
    found = decided(f"<html lang=en><h1>Blue</h1><p class=byline>{line}</p>", "https://example.org/blue").fields

    assert (found.published, found.modified) == (published, modified)


@pytest.mark.parametrize(
    ("line", "authors"),
    [
        ("Made by <a href=/brand/satin>Twill House</a>", ()),
        ("Kept by <i>Ada Byron</i>", ()),
        ("Written by <i>Ada Byron</i>", ("Ada Byron",)),
    ],
)
def test_who_made_or_keeps_a_thing_has_not_written_its_page(line: str, authors: tuple[str, ...]) -> None:
    found = decided(f"<html lang=en><h1>Blue shelf</h1><p>{line}</p>", "https://example.org/blue").fields

    assert found.authors == authors


@pytest.mark.parametrize(
    ("written", "language", "expected"),
    [("3/4/2024", "en-US", "2024-03-04"), ("3/4/2024", "en-GB", "2024-04-03"), ("3.4.2024", "de", "2024-04-03")],
)
def test_numbers_are_read_as_the_language_writes_them(written: str, language: str, expected: str) -> None:
    markup = f"<html lang={language}><h1>Blue</h1><p class=published-date>Published {written}</p>"

    assert decided(markup, "https://example.org/blue").fields.published == expected


def test_a_doubtful_order_is_settled_by_another_place() -> None:
    markup = """<html lang=en-US><meta property=article:published_time content=2024-04-03><h1>Blue</h1>
        <p class=date>Published 3/4/2024</p>"""

    assert decided(markup, "https://example.org/blue").fields.published == "2024-04-03"


@pytest.mark.parametrize(
    ("href", "worth"),
    [(URL, "full"), ("https://www.daily.example/", "less"), ("https://other.example/on-blue-things", "less")],
)
def test_a_canonical_address_of_something_else_is_doubtful(href: str, worth: str) -> None:
    found = decided(f"<link rel=canonical href='{href}'><h1>Blue</h1>").confidences["canonical_url"]

    assert (found.score >= 0.65) == (worth == "full")


def test_no_address_is_none() -> None:
    found = decided("<link rel=canonical href='javascript:void(0)'><meta property=og:image content='data:x'>").fields

    assert (found.canonical_url, found.image) == ("", "")


def test_a_description_that_repeats_the_title_is_worth_little() -> None:
    found = decided("<title>Blue things</title><meta name=description content='Blue things'>")

    assert found.confidences["description"].score < 0.4


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/", PageType.HOME),
        ("https://example.org/search?q=blue", PageType.SEARCH),
        ("https://example.org/blue", PageType.ARTICLE),
    ],
)
def test_an_address_may_tell_the_type(url: str, expected: PageType) -> None:
    looks = {PageType.ARTICLE: 0.6, PageType.SERVICE: 0.4}

    assert decided("<h1>Blue</h1>", url, looks).fields.page_type == expected


def test_structured_data_correct_what_a_page_looks_like() -> None:
    markup = '<h1>Blue</h1><script type="application/ld+json">{"@type":"Product","name":"Blue"}</script>'
    looks = {PageType.ARTICLE: 0.6, PageType.PRODUCT: 0.4}

    assert decided("<h1>Blue</h1>", looks=looks).fields.page_type is PageType.ARTICLE
    assert decided(markup, looks=looks).fields.page_type is PageType.PRODUCT


def test_the_order_of_the_sources_does_not_matter() -> None:
    page = read(ARTICLE, URL)
    answers = [list(source.claims(page)) for source in sources()]

    forwards = decide_fields(page, [claim for claims in answers for claim in claims], content())
    backwards = decide_fields(page, [claim for claims in reversed(answers) for claim in claims], content())

    assert forwards == backwards


@settings(max_examples=sized(10, 50), deadline=None)
@given(
    st.lists(
        st.builds(
            Claim,
            field=st.sampled_from(PageField),
            value=st.text(max_size=60),
            place=st.sampled_from(
                [
                    place(text)
                    for text in ("h1: only", "title", "og:title", "json-ld:Article.author", "url: date", "script: x")
                ]
            ),
            source=st.sampled_from([Source.HEURISTIC, Source.META_TAGS, Source.STRUCTURED_DATA]),
        ),
        max_size=30,
    )
)
def test_any_claims_can_be_decided_among(claims: list[Claim]) -> None:
    found = decide_fields(read("<p>Blue", URL), claims, content())

    assert found.title
    assert all(0 <= sure.score <= 1 for sure in found.confidences.values())
