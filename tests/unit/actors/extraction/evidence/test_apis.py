"""APIs are named where the source of a page names them, and secrets stay out."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from actors.extraction.evidence.apis import MAX_APIS, discover
from actors.extraction.parse.tree import read

URL = "https://www.news.example.com/blue/page"
SITE = "https://www.news.example.com"


def found(markup: str) -> list[tuple[str, str]]:
    return [(api.method, api.endpoint) for api in discover(read(markup, URL))]


@pytest.mark.parametrize(
    ("markup", "apis"),
    [
        ("<script>fetch('/api/posts?page=2')</script>", [("GET", f"{SITE}/api/posts")]),
        ("<script>fetch('/save', {method: 'POST', body: b})</script>", [("POST", f"{SITE}/save")]),
        ("<script>fetch(`/api/posts/${post.id}/likes`)</script>", [("GET", f"{SITE}/api/posts/{{id}}/likes")]),
        ("<script>axios.put('https://api.news.example.com/a')</script>", [("PUT", "https://api.news.example.com/a")]),
        ("<script>xhr.open('delete', '/a/1')</script>", [("DELETE", f"{SITE}/a/1")]),
        ("<script>$.post('/vote')</script>", [("POST", f"{SITE}/vote")]),
        ("<script>$.ajax({cache: false, url: '/vote', type: 'POST'})</script>", [("POST", f"{SITE}/vote")]),
        (r'<script>x={"rest":"https:\/\/www.news.example.com\/wp-json\/"}</script>', [("GET", f"{SITE}/wp-json/")]),
        ("<link rel='https://api.w.org/' href=/wp-json/>", [("GET", f"{SITE}/wp-json/")]),
        ("<link rel=preload as=fetch href=/data.json>", [("GET", f"{SITE}/data.json")]),
        ("<div data-endpoint=/api/more></div>", [("GET", f"{SITE}/api/more")]),
        ("<a href=/docs/openapi.json>API</a>", [("GET", f"{SITE}/docs/openapi.json")]),
        ("<form action=/search><input name=q></form>", [("GET", f"{SITE}/search")]),
        ("<form action=/login method=post><input name=q></form>", []),
        ("<script>fetch('https://tracker.example.net/api/x')</script>", []),
        ("<script>fetch('/app/main.js'); s='.com/api/x'</script>", []),
        ("<script src=/a.js>fetch('/api/x')</script>", []),
        ("<script>fetch('http://[broken/api/')</script>", []),
        ("", []),
    ],
)
def test_finds_what_the_source_names(markup: str, apis: list[tuple[str, str]]) -> None:
    assert found(markup) == apis


def test_says_where_and_never_more_than_is_known() -> None:
    (api,) = discover(read("<link rel=alternate type='application/json' href='/wp-json/posts/1'>", URL))

    assert api.reason == 'named by a link with rel="alternate"; the method is not said'
    assert (api.response_type, api.confidence, api.can_bypass, api.auth_type) == (
        "application/json",
        "low",
        False,
        UNSET,
    )


@pytest.mark.parametrize(
    ("query", "params"),
    [
        ("page=2&sort=new", {"page": "2", "sort": "new"}),
        ("api_key=abc&q=x", {"api_key": "***", "q": "x"}),
        ("access_token=abc&sig=1", {"access_token": "***", "sig": "***"}),
        ("v=aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ=", {"v": "***"}),
        ("q=", {"q": ""}),
    ],
)
def test_masks_secrets(query: str, params: dict[str, Any]) -> None:
    (api,) = discover(read(f"<script>fetch('/api/a?{query}')</script>", URL))

    assert api.params == params
    assert "?" not in api.endpoint


def test_masks_identities_in_paths() -> None:
    path = "/api/user/3f2504e0-4f89-11d3-9a0c-0305e82c3301/posts"

    assert found(f"<script>fetch('https://u:p@www.news.example.com{path}')</script>") == [
        ("GET", f"{SITE}/api/user/{{id}}/posts")
    ]


def test_gives_each_once_and_no_more_than_fit() -> None:
    calls = "".join(f"fetch('/api/{number % 50}');" for number in range(500))

    apis = found(f"<script>{calls}</script>")

    assert len(apis) == len(set(apis)) == MAX_APIS


@pytest.mark.parametrize("piece", ["fetch('/api/", "$.ajax({ a: b, ", "/api/", "axios.get(`${", "x.open('GET', "])
def test_bears_hostile_scripts(piece: str) -> None:
    assert len(found(f"<script>{piece * 30_000}</script>")) <= MAX_APIS
