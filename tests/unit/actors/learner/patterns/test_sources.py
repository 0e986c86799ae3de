"""The contract of all sources of patterns, and what each of them finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec import structs

from actors.learner.patterns.sources.graphql_introspection import GraphQlIntrospection
from actors.learner.patterns.sources.known import KnownApi
from actors.learner.patterns.sources.source import MAX_HINTS, HintSource
from actors.learner.patterns.sources.table import all_sources
from actors.learner.patterns.sources.user_feedback import UserFeedback
from protocol.documents import WebObservationSummary
from protocol.patterns.pattern import ApiRequest, PagePattern, PatternSource
from protocol.patterns.sample import ApiExchange, PageHints, PageSample
from protocol.tiers import RenderTier

NOW = 1_800_000_000_000
SITE = "https://shop.example"
PAGE = f"{SITE}/products/red-hat"


@dataclass
class Answers:
    """A site that answers what is written down, and counts what it is asked."""

    documents: Mapping[str, Any] = field(default_factory=dict[str, Any])
    asked: list[str] = field(default_factory=list[str])

    async def json(self, url: str) -> Any | None:
        self.asked.append(url)
        return self.documents.get(url.partition("?")[0])


def sample(url: str = PAGE, *, markdown: str = "", **more: Any) -> PageSample:
    page = WebObservationSummary(url=url, title="Red hat", markdown=markdown)
    return PageSample(url=url, final_url=url, tier=RenderTier.PLAYWRIGHT, page=page, at_ms=NOW, **more)


def pattern(domain: str, page: str, url: str, **more: Any) -> PagePattern:
    request = ApiRequest(url=url)
    source = PatternSource.API_EXTRACTION
    fixed: dict[str, Any] = {"pattern_id": "pat_1", "domain": domain, "source": source, "score": 0.9}
    return PagePattern(page=page, requests=(request,), **{**fixed, **more})


OPENAPI: dict[str, Any] = {
    "openapi": "3.1.0",
    "servers": [{"url": "/v1"}, {"url": "https://elsewhere.example/"}],
    "components": {
        "parameters": {"Page": {"in": "query", "name": "page"}, "Loop": {"$ref": "#/components/parameters/Loop"}},
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}, "key": {"type": "apiKey", "in": "query"}},
    },
    "paths": {
        "/hats/{hat-id}": {"get": {"summary": "One hat", "responses": {"200": {"content": {"application/json": {}}}}}},
        "/hats": {
            "parameters": [{"$ref": "#/components/parameters/Page"}, {"$ref": "#/components/parameters/Loop"}],
            "get": {"parameters": [{"in": "query", "name": "form", "required": True, "schema": {"default": "full"}}]},
            "post": {},
        },
        "/mine": {"get": {"security": [{"token": []}]}},
        "/keyed": {"get": {"security": [{"key": []}]}},
        "/picture": {"get": {"responses": {"200": {"content": {"image/png": {}}}}}},
        "/far": {"get": {"parameters": [{"$ref": "https://elsewhere.example/x#/y"}]}},
        "/order": {"delete": {}, "put": {}},
    },
}
ASYNCAPI: dict[str, Any] = {
    "asyncapi": "3.0.0",
    "servers": {
        "live": {"protocol": "ws", "host": "shop.example"},
        "web": {"protocol": "https", "host": "shop.example"},
    },
    "channels": {"hats": {"address": "/events/hats"}, "bids": {"address": "/events/bids"}},
    "operations": {
        "read": {"channel": {"$ref": "#/channels/hats"}, "bindings": {"http": {"method": "GET"}}},
        "bid": {"channel": {"$ref": "#/channels/bids"}, "bindings": {"http": {"method": "POST"}}},
    },
}
ID = {"kind": "NON_NULL", "ofType": {"kind": "SCALAR", "name": "ID"}}
WORD = {"kind": "SCALAR", "name": "String"}
SCHEMA: dict[str, Any] = {
    "queryType": {"name": "Query"},
    "types": [
        {
            "kind": "OBJECT",
            "name": "Query",
            "fields": [
                {"name": "hat", "args": [{"name": "id", "type": ID}], "type": {"kind": "OBJECT", "name": "Hat"}},
                {"name": "x}mutation{drop", "args": [], "type": WORD},
            ],
        },
        {"kind": "OBJECT", "name": "Hat", "fields": [{"name": "id", "type": ID}, {"name": "name", "type": WORD}]},
        {"kind": "SCALAR", "name": "ID"},
        {"kind": "SCALAR", "name": "String"},
    ],
}
DOCS = """
Base: one of our hosts. `GET /hats/:hat` and **GET /hats**; POST /hats makes one.
    curl -H "Authorization: Bearer $TOKEN" https://api.shop.example/orders/12
    curl -X POST https://api.shop.example/orders
    curl https://elsewhere.example/orders
"""
GRAPHQL = ApiExchange(url=f"{SITE}/graphql", method="POST", sent='{"query":"{hat{id}}"}', body={"data": {}})
SHOPIFY = PageHints(headers={"X-ShopId": "1"}, scripts=("https://cdn.shopify.com/s/theme.min.js",))
OWN = KnownApi(page=f"{SITE}/products/{{name}}", url="https://api.shop.example/products/{name}")


def page_for(name: PatternSource) -> tuple[PageSample, Answers]:
    """Return a page that a source finds something on, and the site that it may ask."""
    links = ((("alternate", f"{PAGE}.json", "application/json")),)
    examples: dict[PatternSource, tuple[PageSample, Answers]] = {
        PatternSource.BOOTSTRAP: (sample("https://pypi.org/project/msgspec/"), Answers()),
        PatternSource.OPENAPI_DISCOVERY: (sample(), Answers({f"{SITE}/openapi.json": OPENAPI})),
        PatternSource.GRAPHQL_INTROSPECTION: (
            sample(exchanges=(GRAPHQL,)),
            Answers({f"{SITE}/graphql": {"data": {"__schema": SCHEMA}}}),
        ),
        PatternSource.API_EXTRACTION: (
            sample(exchanges=(ApiExchange(url=f"{SITE}/api/hats/12?lang=en", body={"id": 12}),)),
            Answers(),
        ),
        PatternSource.ASYNCAPI_DISCOVERY: (sample(), Answers({f"{SITE}/asyncapi.json": ASYNCAPI})),
        PatternSource.DOCS_PAGE_DETECTION: (sample(markdown=DOCS), Answers()),
        PatternSource.LINK_DISCOVERY: (sample(hints=PageHints(links=links)), Answers()),
        PatternSource.BACKEND_FINGERPRINTING: (sample(hints=SHOPIFY), Answers()),
    }
    return examples.get(name, (sample(hints=SHOPIFY), Answers()))


async def table() -> dict[PatternSource, HintSource]:
    """Return all sources, each with something to find on its example."""
    proven = pattern(
        "hats.example", "https://www.hats.example/p/{id}", "https://www.hats.example/api/p/{id}", reproduced=("1", "2")
    )
    feedback = UserFeedback()
    feedback.correct(pattern("shop.example", PAGE, f"{SITE}/api/x"), f"{SITE}/api/y", NOW)
    sources = {one.name: one for one in all_sources(feedback, lambda: (OWN,), lambda: (proven,))}
    await sources[PatternSource.CROSS_SITE_TRANSFER].find(
        sample("https://www.hats.example/p/1", hints=SHOPIFY), Answers()
    )
    return sources


async def found(name: PatternSource, page: PageSample, site: Answers) -> list[str]:
    source = (await table())[name]
    return [one.requests[0].url for one in await source.find(page, site)]


@pytest.mark.parametrize("name", PatternSource)
async def test_a_source_finds_safe_hints_of_its_page(name: PatternSource) -> None:
    source = (await table())[name]
    page, site = page_for(name)

    hints = await source.find(page, site)

    assert 0 < len(hints) <= MAX_HINTS
    assert len({one.pattern_id for one in hints}) == len(hints)
    for one in hints:
        assert (one.source, one.mapping, one.reproduced, one.verified_at) == (name, None, (), 0)
        assert 0 <= one.score <= 0.9
        assert {request.method for request in one.requests} == {"GET"}
        assert all(request.url.startswith("https://") for request in one.requests)
    assert await source.find(page, site) == hints
    assert all(url.startswith(SITE) for url in site.asked)


@pytest.mark.parametrize("name", PatternSource)
async def test_what_is_found_with_a_login_belongs_to_it(name: PatternSource) -> None:
    page, site = page_for(name)
    source = (await table())[name]
    with_login = structs.replace(page, profile="work", caller="key_1")

    hints = await source.find(with_login, site)

    assert {(one.profile, one.caller) for one in hints} <= {("work", "key_1")}
    assert not {one.pattern_id for one in hints} & {one.pattern_id for one in await source.find(page, site)}


_NAMES = [
    "openapi",
    "swagger",
    "asyncapi",
    "paths",
    "get",
    "/x",
    "servers",
    "url",
    "$ref",
    "channels",
    "data",
    "__schema",
    "types",
    "fields",
    "name",
    "queryType",
    "linkset",
    "security",
    "_links",
    "self",
    "parameters",
]
_VALUES = ("3.0", "2.0", "#/paths", "//[", "https://x:y/", "{", "\udcff", f"{SITE}/a?b")
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(_VALUES),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=4),
    max_leaves=12,
)


@example("\udcff", [])
@given(_JSON, st.lists(st.sampled_from(["//[::", "https://x:99999999/", "{a}", "", "/\\..", "javascript:1", PAGE])))
async def test_nothing_that_a_site_says_breaks_a_source(answer: Any, links: list[str]) -> None:
    @dataclass
    class Hostile:
        async def json(self, url: str) -> Any:
            return answer

    marks = PageHints(links=tuple(("alternate service-desc", link, "application/json") for link in links))
    exchanges = (GRAPHQL, ApiExchange(url=f"{SITE}/api/a", body=answer))
    page = sample(hints=marks, exchanges=exchanges, markdown=f"GET /a{answer}\nGET /b{links}\ncurl {links} {answer}")

    for source in (await table()).values():
        hints = await source.find(page, Hostile())

        assert all("shop.example" in one.requests[0].url for one in hints)


async def test_operations_are_read_as_they_are_described() -> None:
    page, site = page_for(PatternSource.OPENAPI_DISCOVERY)

    hints = await (await table())[PatternSource.OPENAPI_DISCOVERY].find(page, site)

    assert [(one.requests[0].url, one.requests[0].auth) for one in hints] == [
        (f"{SITE}/v1/hats/{{hat_id}}", None),
        (f"{SITE}/v1/hats?form=full&page={{page}}", None),
        (f"{SITE}/v1/mine", "bearer"),
        (f"{SITE}/v1/far", None),
    ]


@pytest.mark.parametrize(
    ("links", "documents"),
    [
        ((), {f"{SITE}/swagger.json": {"swagger": "2.0", "basePath": "/v2", "paths": {"/a": {"get": {"x": 1}}}}}),
        (
            (("service-desc", "/docs/api", "application/yaml"),),
            {f"{SITE}/docs/api": "openapi: 3.0.0\nservers: [{url: /v2}]\npaths: {/a: {get: {x: 1}}}"},
        ),
        (
            (),
            {
                f"{SITE}/.well-known/api-catalog": {"linkset": [{"service-desc": [{"href": f"{SITE}/spec"}]}]},
                f"{SITE}/spec": {"openapi": "3.0.0", "servers": [{"url": "/v2"}], "paths": {"/a": {"get": {"x": 1}}}},
            },
        ),
    ],
)
async def test_descriptions_are_found_where_they_may_lie(
    links: tuple[tuple[str, str, str], ...], documents: dict[str, Any]
) -> None:
    page = sample(hints=PageHints(links=links))

    assert await found(PatternSource.OPENAPI_DISCOVERY, page, Answers(documents)) == [f"{SITE}/v2/a"]


async def test_another_site_is_never_asked_nor_named() -> None:
    links = (("service-desc", "https://elsewhere.example/openapi.json", ""),)
    far = {"openapi": "3.0.0", "servers": [{"url": "https://elsewhere.example"}], "paths": {"/a": {"get": {"x": 1}}}}
    site = Answers({f"{SITE}/openapi.json": far})

    assert await found(PatternSource.OPENAPI_DISCOVERY, sample(hints=PageHints(links=links)), site) == []
    assert not any("elsewhere" in url for url in site.asked)


async def test_a_schema_is_asked_for_once_and_only_where_the_page_speaks_graphql() -> None:
    silent, speaking = Answers(), page_for(PatternSource.GRAPHQL_INTROSPECTION)
    await GraphQlIntrospection().find(sample(), silent)
    hints = await GraphQlIntrospection().find(*speaking)

    assert (silent.asked, len(speaking[1].asked)) == ([], 1)
    assert [one.requests[0].url for one in hints] == [
        f"{SITE}/graphql?query=query%28%24id%3AID%21%29%7Bhat%28id%3A%24id%29%7Bid%20name%7D%7D&variables={{variables}}"
    ]


async def test_exchanges_of_one_kind_are_one_hint() -> None:
    asked = [ApiExchange(url=f"{SITE}/api/hats/{number}?lang=en", body={}) for number in (1, 2)]

    urls = await found(PatternSource.API_EXTRACTION, sample(exchanges=tuple(asked)), Answers())

    assert urls == [f"{SITE}/api/hats/{{id}}?lang={{lang}}"]


async def test_documentation_names_what_is_asked_by_get() -> None:
    page, site = page_for(PatternSource.DOCS_PAGE_DETECTION)

    hints = await (await table())[PatternSource.DOCS_PAGE_DETECTION].find(page, site)

    assert [(one.requests[0].url, one.requests[0].auth_headers) for one in hints] == [
        ("https://api.shop.example/hats/{hat}", ()),
        ("https://api.shop.example/hats", ()),
        ("https://api.shop.example/orders/{id}", ("Authorization",)),
    ]


async def test_the_json_of_a_page_is_a_template_of_its_kind() -> None:
    page, site = page_for(PatternSource.LINK_DISCOVERY)

    (hint,) = await (await table())[PatternSource.LINK_DISCOVERY].find(page, site)

    assert (hint.page, hint.requests[0].url) == (f"{SITE}/products/{{slug}}", f"{SITE}/products/{{slug}}.json")


async def test_a_program_is_told_by_its_marks() -> None:
    links = (("https://api.w.org/", f"{SITE}/blog/wp-json/", ""), ("EditURI", f"{SITE}/mw/api.php?action=rsd", ""))

    urls = await found(PatternSource.BACKEND_FINGERPRINTING, sample(hints=PageHints(links=links)), Answers())

    assert f"{SITE}/blog/wp-json/wp/v2/posts?slug={{slug}}" in urls
    assert f"{SITE}/mw/api.php?action=parse&format=json&formatversion=2&page={{title}}" in urls


async def test_a_hint_is_kept_beside_the_patterns_of_its_site() -> None:
    exchange = ApiExchange(url="https://www.shop.example:8443/api/hats/12", body={"id": 12})
    page = sample("https://www.shop.example:8443/hats/12", exchanges=(exchange,))

    (hint,) = await (await table())[PatternSource.API_EXTRACTION].find(page, Answers())

    assert hint.domain == "shop.example"


async def test_only_what_is_proven_is_moved_to_a_site_with_the_same_marks() -> None:
    sources = await table()
    transfer = sources[PatternSource.CROSS_SITE_TRANSFER]

    (hint,) = await transfer.find(sample(hints=SHOPIFY), Answers())
    unlike = await transfer.find(sample("https://other.example/", hints=PageHints(generator="Hugo 1")), Answers())

    assert (hint.page, hint.requests[0].url) == (f"{SITE}/p/{{id}}", f"{SITE}/api/p/{{id}}")
    assert hint.score < 0.5
    assert unlike == ()
