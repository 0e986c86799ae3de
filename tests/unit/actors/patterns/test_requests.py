"""The requests behind pages of a kind follow from their addresses; whatever fills a slot stays where it is put."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.patterns.addresses import FillError, Observed, answers_of, fill, match, page_template, requests_of
from protocol.patterns.pattern import ApiRequest
from protocol.patterns.sample import ApiExchange

SITE = "https://site.example"
DOCUMENT = "query P($id: ID!) { product(id: $id) { name } }"


def exchange(url: str, body: Any = None, **fields: Any) -> ApiExchange:
    return ApiExchange(url=url if "://" in url else SITE + url, body={"ok": 1} if body is None else body, **fields)


def posted(url: str, sent: Any, body: Any = None) -> ApiExchange:
    return exchange(url, body, method="POST", sent=sent if isinstance(sent, str) else json.dumps(sent))


def observed(page: str, *exchanges: ApiExchange | str, logged_in: bool = False) -> Observed:
    made = tuple(exchange(one) if isinstance(one, str) else one for one in exchanges)
    return Observed(SITE + page, made, logged_in)


def learned(*pages: Observed) -> list[str]:
    """Return the requests of pages as text, after holding each to the answers of the pages themselves."""
    requests = requests_of(pages)
    if requests is None:
        return []
    template = page_template([page.page_url for page in pages])
    answers = answers_of(requests, template, pages[-1])
    assert answers is not None
    assert len(answers) == len(requests)
    return [f"{one.method} {one.url.removeprefix(SITE)} {one.body}".strip() for one in requests]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # REST: ids, slugs, parts of segments, whole paths
        (("/p/blue-socks-123", "/api/p/123"), ("/p/red-hat-77", "/api/p/77"), ["GET /api/p/{number}"]),
        (
            ("/p/blue-socks-123", "/api/by/blue-socks-123"),
            ("/p/red-hat-77", "/api/by/red-hat-77"),
            ["GET /api/by/{slug}-{number}"],
        ),
        (("/p/1", "/api/p/p-1.json"), ("/p/2", "/api/p/p-2.json"), ["GET /api/p/p-{number}.json"]),
        (
            ("/a/x-y", "/api/route?path=%2Fa%2Fx-y"),
            ("/a/z-w", "/api/route?path=%2Fa%2Fz-w"),
            ["GET /api/route?path=%2Fa%2F{slug}"],
        ),
        (("/de/p/1", "/api/p/1?lang=de"), ("/en/p/2", "/api/p/2?lang=en"), ["GET /api/p/{number}?lang={locale}"]),
        (
            ("/s?q=red+socks", "/api/s?term=red%20socks&n=9"),
            ("/s?q=b%26w", "/api/s?term=b%26w&n=9"),
            ["GET /api/s?term={text}&n=9"],
        ),
        # programs that many sites have
        (
            ("/products/socks", "/products/socks.json"),
            ("/products/hats", "/products/hats.json"),
            ["GET /products/{name}.json"],
        ),
        (("/t/some-topic/123", "/t/123.json"), ("/t/other-one/9", "/t/9.json"), ["GET /t/{number}.json"]),
        (
            ("/2026/03/first-post", "/wp-json/wp/v2/posts?slug=first-post&_embed"),
            ("/2026/04/second-post", "/wp-json/wp/v2/posts?slug=second-post&_embed"),
            ["GET /wp-json/wp/v2/posts?slug={slug}&_embed"],
        ),
        (
            ("/wiki/Loom", "/w/api.php?action=parse&page=Loom&format=json"),
            ("/wiki/Spinning_wheel", "/w/api.php?action=parse&page=Spinning_wheel&format=json"),
            ["GET /w/api.php?action=parse&page={slug}&format=json"],
        ),
        (
            ("/de/p/1", "/_next/data/Ab1/de/p/1.json?id=1"),
            ("/en/p/2", "/_next/data/Zz9/en/p/2.json?id=2"),
            ["GET /_next/data/Zz9/{locale}/p/{number}.json?id={number}"],
        ),
        (
            ("/r/a-b", "/r/a-b?_data=routes%2Fr.%24slug"),
            ("/r/c-d", "/r/c-d?_data=routes%2Fr.%24slug"),
            ["GET /r/{slug}?_data=routes%2Fr.%24slug"],
        ),
        # pages of lists that are asked for by their first item, or counted from another number on
        (
            ("/list?page=1", "/api/list?limit=6&offset=0"),
            ("/list?page=3", "/api/list?limit=6&offset=12"),
            ["GET /api/list?limit=6&offset={number*6-6}"],
        ),
        (("/list/2", "/api/list?from=40"), ("/list/5", "/api/list?from=100"), ["GET /api/list?from={number*20}"]),
        (("/list/1", "/api/list/0"), ("/list/4", "/api/list/3"), ["GET /api/list/{number-1}"]),
        (("/list/1", "/api/list?from=7"), ("/list/2", "/api/list?from=20"), []),
        # against caches
        (("/p/1", "/api/p/1?_=1699999999999"), ("/p/2", "/api/p/2?_=1700000000000"), ["GET /api/p/{number}"]),
        # what the page does not say
        (("/p/1", "/api/p/1?visit=a7"), ("/p/2", "/api/p/2?visit=b9"), []),
        (("/p/1", "/api/config"), ("/p/2", "/api/config"), []),
        (("/p/1", "/api/p/1"), ("/p/2", "/api/p/3"), []),
    ],
)
def test_requests_follow_from_the_addresses_of_pages(
    first: tuple[str, str], second: tuple[str, str], expected: list[str]
) -> None:
    assert learned(observed(*first), observed(*second)) == expected


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (
            posted("/graphql", {"query": DOCUMENT, "variables": {"id": "1", "n": 20}}),
            posted("/graphql", {"query": DOCUMENT, "variables": {"id": "2", "n": 20}}),
            (
                'POST /graphql {{"query":"query P($id: ID!) {{ product(id: $id) {{ name }} }}",'
                '"variables":{{"id":"{number}","n":20}}}}'
            ),
        ),
        (
            posted("/graphql", {"query": "{p(id:1){name}}"}),
            posted("/graphql", {"query": "{p(id:2){name}}"}),
            'POST /graphql {{"query":"{{p(id:{number}){{name}}}}"}}',
        ),
        (
            exchange("/graphql?query=" + quote(DOCUMENT) + "&variables=" + quote('{"id":1}')),
            exchange("/graphql?query=" + quote(DOCUMENT) + "&variables=" + quote('{"id":2}')),
            f"GET /graphql?query={quote(DOCUMENT)}&variables=%7B%22id%22%3A{{number}}%7D",
        ),
        (
            posted("/api/search", {"id": 1, "size": 20}),
            posted("/api/search", {"id": 2, "size": 20}),
            'POST /api/search {{"id":{number},"size":20}}',
        ),
        (posted("/api/search", "id=1&n=5"), posted("/api/search", "id=2&n=5"), "POST /api/search id={number}&n=5"),
    ],
)
def test_queries_and_searches_are_templates_too(first: ApiExchange, second: ApiExchange, expected: str) -> None:
    assert learned(observed("/p/1", first), observed("/p/2", second)) == [expected]


def test_a_search_is_sent_again_only_where_pages_repeat_it() -> None:
    assert learned(observed("/p/1234", posted("/api/search", {"id": 1234}))) == []


def test_values_of_earlier_answers_lead_on() -> None:
    pages = [
        observed(
            f"/p/{slug}",
            "/api/config",
            exchange(f"/api/by-slug/{slug}", {"data": {"id": number, "rank": 5}}),
            exchange(f"/api/reviews/{number}?n=5", {"reviews": ["long text" * 20]}),
        )
        for slug, number in (("a-b", 55), ("c-d", 56))
    ]

    assert learned(*pages) == [
        "GET /api/by-slug/{slug}",
        "GET /api/reviews/{0:data.id}?n=5",
        "GET /api/config",
    ]


def test_one_page_gives_requests_of_its_own() -> None:
    assert learned(observed("/p/1234", "/api/p/1234")) == ["GET /api/p/{number}"]


def test_requests_that_some_pages_do_not_make_are_left_out() -> None:
    pages = [observed("/p/1", "/api/p/1", "/api/offers/1"), observed("/p/2", "/api/p/2")]

    assert learned(*pages) == ["GET /api/p/{number}"]


def test_four_requests_are_kept_those_first_that_the_page_decides() -> None:
    pages = [
        observed(f"/p/{page}", *(f"/api/always{number}" for number in range(6)), f"/api/p/{page}") for page in (1, 2)
    ]

    requests = learned(*pages)
    assert len(requests) == 4
    assert requests[0] == "GET /api/p/{number}"


def test_headers_are_kept_that_never_vary_and_credentials_by_name_alone() -> None:
    def page(number: int) -> Observed:
        headers = {"X-Version": "3", "X-Seen": str(number), "Authorization": "[redacted]", "Accept": "application/json"}
        return observed(
            f"/p/{number}", exchange(f"/api/p/{number}", headers=headers, with_cookies=True), logged_in=True
        )

    assert requests_of([page(1), page(2)]) == (
        ApiRequest(
            url=f"{SITE}/api/p/{{number}}",
            headers={"x-version": "3", "accept": "application/json"},
            auth="bearer",
            auth_headers=("authorization",),
        ),
    )


def test_no_other_site_hears_of_a_login() -> None:
    def pages(*, logged_in: bool) -> list[Observed]:
        asked = "https://other.example/p/{}"
        return [observed(f"/p/{one}", asked.format(one), f"/api/{one}", logged_in=logged_in) for one in (1, 2)]

    assert learned(*pages(logged_in=False)) == ["GET https://other.example/p/{number}", "GET /api/{number}"]
    assert learned(*pages(logged_in=True)) == ["GET /api/{number}"]


def test_a_credential_that_no_login_holds_is_not_asked_with() -> None:
    pages = [
        observed(f"/p/{number}", exchange(f"/api/p/{number}", headers={"authorization": "[redacted]"}))
        for number in (1, 2)
    ]

    assert requests_of(pages) is None


def test_what_the_same_question_is_answered_with_each_time_anew_makes_no_address() -> None:
    def page(number: int) -> Observed:
        ticket = f"t{number * 7919}"
        return observed(f"/p/{number}", exchange("/api/ticket", {"ticket": ticket}), f"/api/once/{ticket}?p={number}")

    assert learned(page(1), page(2)) == []


def test_a_page_without_one_of_the_requests_has_no_answers() -> None:
    pages = [observed("/p/1", "/api/p/1"), observed("/p/2", "/api/p/2")]
    requests = requests_of(pages)
    assert requests is not None

    template = page_template([page.page_url for page in pages])
    assert answers_of(requests, template, observed("/p/3", "/api/p/4")) is None
    assert answers_of(requests, template, observed("/q/3", "/api/p/3")) is None


# -- what fills a slot -------------------------------------------------------------------------------------------------

HOSTILE = st.text(max_size=5) | st.sampled_from(
    [
        "..",
        ".",
        "../x",
        "a/../b",
        "..\\x",
        "%2e%2e",
        "%2e%2e%2fx",
        "a/b",
        "?x=1",
        "&x=1",
        "#",
        "@evil.test",
        "//evil.test",
        '"',
        '"}}',
        "\\",
        '\\"',
        "\r\nx: y",
        "{number}",
        "{{",
        "}}",
        "a b",
        "ü",
        "\ud800",
        "\x00",
        "a=b;c",
        "+",
        "7",
        "0",
        "007",
    ]
)


def count(url: str) -> tuple[str, int, list[str], str]:
    parts = urlsplit(url)
    return parts.netloc, parts.path.count("/"), [name for name, _ in parse_qsl(parts.query)], parts.fragment


@settings(max_examples=80)
@given(HOSTILE, HOSTILE, st.booleans())
@example(value="a/../b", other="x", chained=True)
@example(value='"}}', other="\\", chained=False)
def test_what_fills_a_slot_changes_nothing_else(value: str, other: str, chained: bool) -> None:  # noqa: FBT001 - an example
    one, two = ("{0:a}", "{0:b.0}") if chained else ("{first}", "{second}")
    slots, answers = {"first": value, "second": other}, ({"a": value, "b": [other]},)
    url = f"{SITE}/api/x-{one}/list?q={two}&n=1"
    nested = f"{SITE}/graphql?variables=%7B%22a%22%3A%22{one}%22%7D&n=1"
    body = f'{{{{"a":"<{one}>","b":["{two}"],"c":{{{{"d":1}}}}}}}}'
    try:
        filled, inner, sent = (fill(template, slots, answers) for template in (url, nested, body))
    except FillError:
        return

    assert count(filled) == ("site.example", 3, ["q", "n"], "")
    assert filled.isascii()
    assert not {".", ".."} & set(unquote(unquote(urlsplit(filled).path)).replace("\\", "/").split("/"))
    assert dict(parse_qsl(urlsplit(filled).query)) == {"q": other, "n": "1"}
    assert json.loads(dict(parse_qsl(urlsplit(inner).query))["variables"]) == {"a": value}
    assert json.loads(sent) == {"a": f"<{value}>", "b": [other], "c": {"d": 1}}


@given(HOSTILE)
def test_a_number_is_filled_with_a_number_alone(value: str) -> None:
    template = '{{"query":"{{p(id:{number})}}","n":{free}}}'
    try:
        sent = fill(template, {"number": value, "free": value})
    except FillError:
        return

    assert value.isdecimal()
    assert json.loads(sent) == {"query": f"{{p(id:{value})}}", "n": int(value)}


@pytest.mark.parametrize("value", ["0", "007", "9" * 18, "x", "-3"])
def test_a_number_that_follows_from_none_is_not_filled(value: str) -> None:
    template = f"{SITE}/api?offset={{number*6-6}}"

    assert fill(template, {"number": "3"}) == f"{SITE}/api?offset=12"
    assert match(f"{SITE}/list/{{number*6-6}}", f"{SITE}/list/12") is None
    with pytest.raises(FillError):
        fill(template, {"number": value})


@pytest.mark.parametrize(
    "template",
    [
        "https://{first}/api",
        "https://site.example{first}",
        "https://site.example:{first}/",
        "https://{first}@site.example/",
        "https://site.example/?{first}=1",
        "https://site.example/{first",
        "https://site.example/}",
        "https://site.example/{}",
        "https://site.example/{a b}",
    ],
)
def test_a_slot_stands_in_no_host_and_in_no_name(template: str) -> None:
    with pytest.raises(ValueError, match=r"template|slot|brace"):
        fill(template, {"first": ".evil.test"}, ())


@pytest.mark.parametrize("value", [None, True, 1.5, {}, [], "", "x" * 501, 10**18])
def test_what_an_answer_does_not_have_fills_no_slot(value: Any) -> None:
    with pytest.raises(FillError):
        fill(f"{SITE}/api/{{0:a}}", {}, ({"a": value},))
