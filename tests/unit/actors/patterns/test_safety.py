"""Nothing is learned nor replayed that changes something, holds a secret, is good once, or leads to another site."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from actors.patterns.acceptance import pattern_refusal, replay_refusal
from actors.patterns.graphql import is_query
from actors.patterns.safety import headers_worth_asking, refusal
from protocol.patterns.pattern import ApiRequest, PagePattern, PatternSource
from protocol.patterns.sample import ApiExchange

PAGE = "https://www.shop.example/p/1"


def exchange(url: str = "/api/p/1", **fields: Any) -> ApiExchange:
    sent = fields.pop("sent", "")
    given: dict[str, Any] = {"body": {"ok": 1}} | fields
    return ApiExchange(
        url=url if "://" in url else f"https://www.shop.example{url}",
        sent=sent if isinstance(sent, str) else json.dumps(sent),
        **given,
    )


def posted(url: str, sent: Any, **fields: Any) -> ApiExchange:
    return exchange(url, method="POST", sent=sent, **fields)


@pytest.mark.parametrize(
    "allowed",
    [
        exchange(),
        exchange(method="HEAD"),
        exchange("https://api.shop.example/v1/p/1", with_cookies=True),
        exchange("https://cdn.other.example/p/1.json"),
        exchange("/api/p?country_code=DE&state=CA&key=colour&code=A-17"),
        exchange("/api/tracks/5"),
        exchange("/api/track/5"),
        exchange("/api/events?from=2026-03-01"),
        exchange("/api/posts/how-to-delete-a-file"),
        exchange("/api/addresses/5"),
        exchange("/w/api.php?action=parse&page=Loom"),
        exchange("/api/p/1?after=Y3Vyc29yOjIwMjYtMDMtMDFUMDA6MDA6MDBa"),
        exchange("/graphql?query=%7Bp(id:1)%7Bname%7D%7D"),
        exchange("/graphql?extensions=%7B%22persistedQuery%22%3A%7B%22sha256Hash%22%3A%22ab%22%7D%7D&operationName=P"),
        posted("/graphql", {"query": "query P { p { name } }", "operationName": "P"}),
        posted("/graphql", [{"query": "{a}"}, {"query": "query B {b} fragment F on X {c}"}]),
        posted("/api/search", {"q": "socks", "filters": {"size": [1, 2]}}),
        posted("/indexes/products/query", {"params": "query=socks"}),
        posted("/api/search", "q=socks&page=2"),
    ],
)
def test_what_only_reads_may_be_learned(allowed: ApiExchange) -> None:
    assert refusal(allowed, PAGE) == ""


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        # what changes something
        (structs.replace(exchange(), method="PUT"), "may change"),
        (exchange(headers={"X-HTTP-Method-Override": "DELETE"}), "may change"),
        (exchange("/api/p/1?_method=DELETE"), "may change"),
        (exchange("/api/cart/add?id=1"), "may change"),
        (exchange("/api/addToCart/1"), "may change"),
        (exchange("/logout"), "may change"),
        (exchange("/index.php?action=delete&id=1"), "may change"),
        (exchange("/?wc-ajax=get_refreshed_fragments"), "may change"),
        (exchange("/graphql?query=mutation%20%7Bbuy%7D"), "may change"),
        (posted("/api/search/save", {"q": "x"}), "may change"),
        (posted("/api/orders", {"id": 1}), "no search"),
        (posted("/api/search", ""), "no search"),
        (posted("/api/search", "<xml/>"), "no search"),
        (posted("/rpc", {"method": "product.get", "params": [1]}), "no search"),
        (posted("/graphql", {"query": "mutation M { buy(id: 1) { ok } }"}), "no query"),
        (posted("/graphql", {"query": "query A {a} mutation B {b}", "operationName": "A"}), "no query"),
        (posted("/graphql", [{"query": "{a}"}, {"query": "mutation {b}"}]), "no query"),
        (posted("/graphql", {"extensions": {"persistedQuery": {"sha256Hash": "ab"}}}), "no query"),
        (posted("/graphql", {"query": '{a(t: """ \\""" """)} mutation {b #"""\n}'}), "no query"),
        (exchange(sent="x=1"), "a body"),
        # what is signed, good once, or a credential
        (exchange("/f?X-Amz-Signature=ab&X-Amz-Date=2026"), "signed"),
        (exchange("/f?Expires=1700000000&id=1"), "signed"),
        (exchange("/f?nonce=5"), "signed"),
        (exchange("/f?_csrf=5"), "signed"),
        (exchange("/f?sv=2022&sig=ab%3D"), "signed"),
        (exchange("/f?access_token=ab"), "credential"),
        (exchange("/f?token=ab"), "credential"),
        (exchange("/f?api_key=abc"), "credential"),
        (exchange("/f?sessionId=abc"), "credential"),
        (exchange("/f?code=4/0AX4XfWh8Q9dZ-kq0pRtBvN3xLm"), "credential"),
        (exchange("/f?token=%5Bredacted%5D"), "credential"),
        (exchange("/f/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc/x"), "token"),
        (posted("/api/search", {"q": "x", "meta": {"authToken": "abc"}}), "credential"),
        (posted("/api/search", {"q": "x"}, headers={"X-CSRF-Token": "[redacted]"}), "forgery"),
        # what tells of the visitor
        (exchange("https://www.google-analytics.com/g/collect?v=2"), "visitor"),
        (exchange("/api/beacon"), "visitor"),
        (posted("/api/events", {"query": "{a}"}), "visitor"),
        # what leads elsewhere
        (posted("https://other.example/graphql", {"query": "{a}"}), "another site"),
        (exchange("https://other.example/p/1", with_cookies=True), "another site"),
        (exchange("https://other.example/p/1", headers={"Authorization": "[redacted]"}), "another site"),
        (exchange("https://other.example/p/1", headers={"X-Api-Key": "abc"}), "another site"),
        (exchange("https://shop.example.evil.test/p/1", with_cookies=True), "another site"),
        (exchange("http://www.shop.example/api/p/1"), "encrypted"),
        (exchange("https://127.0.0.1/api/p/1"), "private"),
        (exchange("https://router.local/api"), "private"),
        (exchange("https://u:p@www.shop.example/api"), "none of the web"),
        (exchange("ftp://www.shop.example/api"), "none of the web"),
        (exchange("https://[::1/api"), "cannot be read"),
        # what is no answer
        (exchange(status=404), "JSON"),
        (exchange(body=None), "JSON"),
        (exchange(from_state="__NEXT_DATA__"), "in the page"),
        (exchange("/api/" + "a" * 5_000), "too long"),
    ],
)
def test_what_may_do_harm_is_never_learned(refused: ApiExchange, why: str) -> None:
    assert why in refusal(refused, PAGE)


@pytest.mark.parametrize(
    ("document", "reads"),
    [
        ("{a}", True),
        ('query mutation($a: X = {b: ["mutation"]}) @d(c: "}") { a # mutation\n }', True),
        ("fragment mutation on X {a} {b}", True),
        ('"""mutation""" query {a}', True),
        ("\ufeff query Q { a(b: $c) { ...F ... on X @include(if: $d) { e } } }", True),
        ("mutation {a}", False),
        ("subscription {a}", False),
        ("{a} mutation {b}", False),
        ("query Q {a} subscription {b}", False),
        ("{a} type X {b: String}", False),
        ("fragment F on X {a}", False),
        ("{a", False),
        ("{a)}", False),
        ("a}", False),
        ('{a(b: "c)}', False),
        ("{a} § mutation {b}", False),
        ("", False),
        ("query", False),
        ('{a(b: """' + '\\"""' * 4_000, False),
        ("{" * 16_000, False),
    ],
)
def test_a_document_reads_if_all_of_it_does(document: str, reads: bool) -> None:  # noqa: FBT001 - an expectation
    assert is_query(document) is reads


Word = st.sampled_from(
    [
        "{",
        "}",
        "(",
        ")",
        '"',
        '"""',
        '\\"""',
        "#",
        "\n",
        " ",
        "query",
        "mutation",
        "a",
        ":",
        "$",
        "\\",
        "fragment F on X",
    ]
)


@given(st.lists(Word, max_size=12).map("".join))
def test_no_mutation_hides_before_a_text(noise: str) -> None:
    assert not is_query(f"mutation M {{a}} {noise}")
    assert not is_query(f"query Q {{a}} mutation M {{b}} {noise}")


def test_headers_that_a_script_set_are_worth_asking_about() -> None:
    headers = {
        "X-Requested-With": "XMLHttpRequest",
        "Accept": "application/vnd.api+json",
        "X-Api-Version": "3",
        "X-Shop-Locale": "de",
        "Content-Type": "application/json",
        "Authorization": "[redacted]",
        "Cookie": "[redacted]",
        "X-CSRF-Token": "abc",
        "X-Api-Key": "abc",
        "X-Custom": "[redacted]",
        "X-Bearer": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
        "X-Request-Id": "550e8400",
        "traceparent": "00-ab-cd-01",
        "Sec-Fetch-Mode": "cors",
        "Referer": "https://www.shop.example/",
        "User-Agent": "x",
        "X-Forwarded-For": "10.0.0.1",
        "X-HTTP-Method-Override": "GET",
        "X-Split": "a\r\nb: c",
        "X Bad": "1",
    }

    assert headers_worth_asking(exchange(headers=headers)) == (
        "accept",
        "x-api-version",
        "x-requested-with",
        "x-shop-locale",
    )
    assert headers_worth_asking(exchange(headers={"Accept": "*/*"})) == ()


# -- whole patterns, wherever they come from ---------------------------------------------------------------------------


def pattern(*requests: ApiRequest, **fields: Any) -> PagePattern:
    made = PagePattern(
        pattern_id="p",
        domain="shop.example",
        page="https://www.shop.example/p/{slug}-{number}",
        requests=requests or (ApiRequest(url="https://api.shop.example/p/{number}?lang=de"),),
        source=PatternSource.API_EXTRACTION,
        score=0.8,
    )
    return structs.replace(made, **fields)


GRAPHQL = '{{"query":"query P($id: ID!) {{ p(id: $id) {{ name }} }}","variables":{{"id":{number}}}}}'


@pytest.mark.parametrize(
    "allowed",
    [
        pattern(),
        pattern(ApiRequest(url="https://cdn.other.example/{number}.json")),
        pattern(ApiRequest(method="POST", url="https://www.shop.example/graphql", body=GRAPHQL)),
        pattern(
            ApiRequest(url="https://www.shop.example/a/{number}"),
            ApiRequest(url="https://www.shop.example/b/{0:data.id}"),
        ),
        pattern(
            ApiRequest(url="https://www.shop.example/a", auth="bearer", auth_headers=("authorization",)), profile="p"
        ),
        pattern(
            ApiRequest(url="https://www.shop.example/pets/{petId}"), page="", source=PatternSource.OPENAPI_DISCOVERY
        ),
    ],
)
def test_patterns_of_a_site_may_be_used(allowed: PagePattern) -> None:
    assert pattern_refusal(allowed) == ""


@pytest.mark.parametrize(
    "refused",
    [
        pattern(domain="other.example"),
        pattern(domain=""),
        pattern(page="https://www.other.example/p/{number}"),
        pattern(page="https://{name}.shop.example/p/{slug}-{number}"),
        pattern(requests=()),
        pattern(*[ApiRequest(url="https://www.shop.example/a")] * 5),
        pattern(ApiRequest(url="https://{number}.shop.example/a")),
        pattern(ApiRequest(url="https://www.shop.example{number}/a")),
        pattern(ApiRequest(url="https://www.shop.example/a/{unknown}")),
        pattern(ApiRequest(url="https://www.shop.example/a/{0:data.id}")),
        pattern(ApiRequest(url="https://www.shop.example/a?{number}=1")),
        pattern(ApiRequest(url="https://www.shop.example/delete/{number}")),
        pattern(ApiRequest(url="https://www.shop.example/a", headers={"authorization": "abc"})),
        pattern(ApiRequest(url="https://www.shop.example/a", headers={"x-a": "b\r\nc: d"})),
        pattern(ApiRequest(url="https://www.shop.example/a", headers={"x-http-method": "DELETE"})),
        pattern(ApiRequest(method="POST", url="https://www.shop.example/orders", body="{{}}")),
        pattern(ApiRequest(method="POST", url="https://www.shop.example/graphql", body='{{"query":"mutation {{a}}"}}')),
        pattern(ApiRequest(method="POST", url="https://cdn.other.example/graphql", body=GRAPHQL)),
        pattern(ApiRequest(url="https://cdn.other.example/a", auth="cookie")),
        pattern(ApiRequest(url="https://cdn.other.example/a", auth_headers=("x-token",))),
        pattern(ApiRequest(url="https://cdn.other.example/a"), source=PatternSource.OPENAPI_DISCOVERY),
        pattern(ApiRequest(url="https://cdn.other.example/a"), profile="work", caller="key"),
        pattern(ApiRequest(url="https://127.0.0.1/a")),
        pattern(ApiRequest(url="http://www.shop.example/a")),
    ],
)
def test_a_pattern_that_leads_astray_is_never_used(refused: PagePattern) -> None:
    assert pattern_refusal(refused) != ""


def test_a_request_is_judged_as_it_is_filled() -> None:
    request = ApiRequest(url="https://www.shop.example/api/{name}")

    assert replay_refusal(request, "https://www.shop.example/api/socks", "", PAGE) == ""
    assert replay_refusal(request, "https://www.shop.example/api/delete-account", "", PAGE) != ""
