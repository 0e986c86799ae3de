"""What a page's structured data say of its fields: the thing that the page is about speaks, its neighbours do not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.extraction.evidence.claim import PageField
from actors.extraction.evidence.sources import embedded_json, json_ld, microdata, open_graph
from actors.extraction.parse.tree import read

URL = "https://news.example/blue"


def linked(*nodes: Any) -> str:
    return f'<script type="application/ld+json">{json.dumps(nodes)}</script>'


def said(source: Any, markup: str) -> list[tuple[str, str, str]]:
    return [(claim.field.value, claim.value, str(claim.place)) for claim in source.claims(read(markup, URL))]


def test_says_what_an_article_says() -> None:
    article = {
        "@type": "NewsArticle",
        "headline": "On &amp; off\n blue",
        "description": "All of it.",
        "author": [{"@type": "Person", "name": "Ada Byron"}, {"@type": "Organization", "name": "The Desk"}],
        "datePublished": "2024-02-03T04:05:06Z",
        "dateModified": "2024-02-04",
        "inLanguage": "en",
        "image": [{"@type": "ImageObject", "url": "/blue.jpg"}],
        "publisher": {"@type": "Organization", "name": "News"},
        "mainEntityOfPage": {"@type": "WebPage", "@id": URL},
        "articleBody": "Blue.\n\nVery blue.",
    }

    assert said(json_ld, linked(article)) == [
        ("title", "On & off blue", "json-ld:Article.headline"),
        ("description", "All of it.", "json-ld:Article.description"),
        ("author", "Ada Byron", "json-ld:Article.author"),
        ("author", "The Desk", "json-ld:Article.author.organization"),
        ("published", "2024-02-03T04:05:06Z", "json-ld:Article.datePublished"),
        ("modified", "2024-02-04", "json-ld:Article.dateModified"),
        ("language", "en", "json-ld:Article.inLanguage"),
        ("image", "/blue.jpg", "json-ld:Article.image"),
        ("canonical_url", URL, "json-ld:Article.mainEntityOfPage"),
        ("site_name", "News", "json-ld:Article.publisher.name"),
        ("text", "Blue. Very blue.", "json-ld:Article.articleBody"),
        ("page_type", "article", "json-ld:Article.@type"),
    ]


@pytest.mark.parametrize(
    ("nodes", "titles"),
    [
        pytest.param(
            [
                {"@type": "Article", "headline": "Another", "url": "https://news.example/red"},
                {"@type": "Article", "headline": "On blue", "url": "http://www.news.example/blue/"},
            ],
            [("On blue", "json-ld:Article.headline")],
            id="the one that names the address",
        ),
        pytest.param(
            [{"@type": "Article", "headline": "Red"}, {"@type": "Article", "headline": "On blue"}],
            [("On blue", "json-ld:titled.Article.headline")],
            id="the one that the page is titled after",
        ),
        pytest.param(
            [{"@type": "Article", "headline": "Red"}, {"@type": "Article", "headline": "Green"}],
            [],
            id="none of a list",
        ),
        pytest.param(
            [{"@type": "Article", "headline": "Red", "url": "https://news.example/red"}],
            [("Red", "json-ld:elsewhere.Article.headline")],
            id="one that names another address",
        ),
        pytest.param(
            [{"@type": "WebPage", "mainEntity": {"@type": "Article", "headline": "On blue", "description": "b"}}],
            [("On blue", "json-ld:Article.headline")],
            id="the main entity of the page",
        ),
        pytest.param(
            [{"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Why blue?", "position": 1}]}],
            [],
            id="no question of many",
        ),
        pytest.param([{"@type": "Organization", "name": "News"}], [], id="no organisation"),
    ],
)
def test_lets_the_main_entity_speak(nodes: list[Any], titles: list[tuple[str, str]]) -> None:
    claims = said(json_ld, "<title>On blue | News</title>" + linked(*nodes))

    assert [(value, place) for field, value, place in claims if field == "title"] == titles


def test_follows_references() -> None:
    graph = {"@graph": [{"@type": "Article", "author": {"@id": "#p"}}, {"@id": "#p", "@type": "Person", "name": "Ada"}]}

    assert ("author", "Ada", "json-ld:Article.author") in said(json_ld, linked(graph))


def test_says_what_microdata_say() -> None:
    markup = """<div itemscope itemtype="https://schema.org/BlogPosting"><h1 itemprop=headline>On blue</h1>
        <span itemprop=author itemscope itemtype="https://schema.org/Person"><b itemprop=name>Ada</b></span>
        <time itemprop=datePublished datetime=2024-02-03>3 Feb</time></div>"""

    assert said(microdata, markup) == [
        ("title", "On blue", "microdata:Article.headline"),
        ("author", "Ada", "microdata:Article.author"),
        ("published", "2024-02-03", "microdata:Article.datePublished"),
        ("page_type", "article", "microdata:Article.@type"),
    ]


def test_says_what_open_graph_says() -> None:
    markup = """<meta property=og:title content=" On  blue "><meta property=og:type content=article>
        <meta property=og:author content="https://news.example/ada"><meta name=product:price:amount content=5>
        <meta property=og:empty content="">"""

    assert said(open_graph, markup) == [
        ("title", "On blue", "og:title"),
        ("page_type", "article", "og:type"),
        ("product.price", "5", "product:price:amount"),
    ]


def test_says_what_the_record_of_the_page_says() -> None:
    state = {
        "site": {"name": "News"},
        "others": [{"title": "Red is better than blue", "author": "Eve"}],
        "post": {"title": "On blue things", "byline": "Ada", "publishedAt": 1706933106000, "views": 5},
    }
    markup = f"<title>On blue things | News</title><script>window.__INITIAL_STATE__={json.dumps(state)}</script>"

    assert said(embedded_json, markup) == [
        ("title", "On blue things", "framework:redux.title"),
        ("author", "Ada", "framework:redux.byline"),
        ("published", "2024-02-03T04:05:06+00:00", "framework:redux.publishedat"),
    ]


def test_tells_known_frameworks_from_others() -> None:
    state = json.dumps({"headline": "On blue things"})
    markup = f'<title>On blue things</title><script type="application/json">{state}</script>'

    assert said(embedded_json, markup) == [(PageField.TITLE.value, "On blue things", "embedded-json:headline")]


def test_says_what_products_say() -> None:
    product = {
        "@type": "Product",
        "name": "Blue thing",
        "brand": {"@type": "Brand", "name": "Blueco"},
        "sku": "B-12",
        "gtin13": 4006381333931,
        "aggregateRating": {"ratingValue": 4.5, "reviewCount": "12"},
        "offers": {
            "@type": "AggregateOffer",
            "offers": [
                {"price": "1.00", "priceCurrency": "EUR", "url": "https://news.example/red"},
                {"price": "12.50", "priceCurrency": "EUR", "url": URL, "availability": "https://schema.org/InStock"},
            ],
        },
    }

    claims = [claim for claim in said(json_ld, linked(product)) if claim[0].startswith("product.")]

    assert [(field.removeprefix("product."), value) for field, value, _ in claims] == [
        ("name", "Blue thing"),
        ("price", "12.50"),
        ("currency", "EUR"),
        ("availability", "InStock"),
        ("brand", "Blueco"),
        ("sku", "B-12"),
        ("gtin", "4006381333931"),
        ("rating", "4.5"),
        ("reviews", "12"),
    ]
