"""What varies among the addresses of a kind of pages becomes a slot; what has not been seen to vary stays."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.patterns.addresses import fill, match, page_kind, page_template
from actors.patterns.matching import page_parts

SITE = "https://site.example"


@pytest.mark.parametrize(
    ("paths", "template"),
    [
        # shops
        (("/products/blue-socks-123", "/products/red-hat-77"), "/products/{slug}-{number}"),
        (("/products/blue-socks", "/products/red-hat"), "/products/{slug}"),
        (("/products/socks", "/products/red-hat"), "/products/{name}"),
        (("/p/123-blue-socks.html", "/p/77-red-hat.html"), "/p/{number}-{slug}.html"),
        (("/dp/B08N5WRWNW", "/dp/B07XJ8C8F5"), "/dp/{slug}"),
        (("/c/shoes/p/1", "/c/shoes/p/2"), "/c/shoes/p/{number}"),
        # forums, wikis, blogs
        (("/t/some-topic/123", "/t/other/9"), "/t/{name}/{number}"),
        (("/wiki/Loom", "/wiki/Spinning_wheel"), "/wiki/{slug}"),
        (("/2026/03/first-post", "/2026/04/second-post/"), "/{number=2026}/{number2}/{slug}"),
        (("/blog/2026-03-01/looms-one", "/blog/2026-03-02/looms-two"), "/blog/{date}/{slug}"),
        (("/first-post", "/second-post"), "/{slug}"),
        (("/story/a-title-a1b2c3d4e5f6", "/story/b-name-b1b2c3d4e5f7"), "/story/{slug}-{hex}"),
        (("/@alice", "/@bob"), "/@{name}"),
        (("/title/tt0111161/", "/title/tt0068646/"), "/title/tt{number}"),
        (
            (
                "/n/a-b-550e8400-e29b-41d4-a716-446655440000",
                "/n/c-650e8400-e29b-41d4-a716-446655440001",
            ),
            "/n/{name}-{uuid}",
        ),
        # languages, searches, paging, routes
        (("/de/a/x", "/en/a/x"), "/{locale}/a/x"),
        (("/de/a/1", "/de/a/2"), "/{locale=de}/a/{number}"),
        (("/search?q=red+socks&page=2", "/search?page=3&q=hats&utm_source=x"), "/search?page={number}&q={text}"),
        (("/list?sort=price&page=1", "/list?sort=price&page=2"), "/list?page={number}&sort=price"),
        (("/#/orders/17", "/#/orders/18"), "/#/orders/{number}"),
        (("/#!/orders/17", "/#!/orders/18"), "/#!/orders/{number}"),
        (("/a#part", "/a#other"), "/a"),
        # one observation
        (("/p/42",), "/p/{number=42}"),
        (("/products/blue-socks",), "/products/{slug=blue-socks}"),
        (("/search?q=red%20socks",), "/search?q={text=red%20socks}"),
        (("/about",), "/about"),
        (("/",), "/"),
    ],
)
def test_addresses_of_a_kind_have_a_template(paths: tuple[str, ...], template: str) -> None:
    urls = [SITE + path for path in paths]

    assert page_template(urls) == SITE + template
    assert all(match(SITE + template, url) is not None for url in urls)


@pytest.mark.parametrize(
    "urls",
    [
        (),
        ("mailto:a@b.c",),
        ("https://a.example/p/1", "https://b.example/p/2"),
        ("https://a.example/p/1", "http://a.example/p/2"),
        ("https://a.example/p/1", "https://a.example:8443/p/2"),
        ("https://a.example/p/1", "https://a.example/p/1/2"),
        ("https://a.example/p?a=1", "https://a.example/p?b=1"),
        ("https://a.example/p?a=1&a=2",),
        ("https://a.example/about", "https://a.example/contact"),
        ("https://a.example/u/login", "https://a.example/u/alice"),
        ("https://a.example/p/../admin",),
        ("https://a.example/p/%2e%2E/admin",),
        ("https://a.example/p/%FF",),
        ("https://user@a.example/p/1",),
        ("https://a.example/" + "a" * 3_000,),
    ],
)
def test_addresses_that_are_not_of_one_kind_have_none(urls: tuple[str, ...]) -> None:
    assert page_template(urls) == ""


@pytest.mark.parametrize(
    ("template", "path", "slots"),
    [
        ("/p/{number}", "/p/7", {"number": "7"}),
        ("/p/{number}", "/p/x", None),
        ("/p/{number}", "/p/7?ref=mail", {"number": "7"}),
        ("/p/{number}", "/p/7?sort=price", None),
        ("/p/{number=7}", "/p/7", {"number": "7"}),
        ("/p/{number=7}", "/p/8", None),
        ("/p/{slug}-{number}", "/p/a-b-c-7", {"slug": "a-b-c", "number": "7"}),
        ("/p/{number}-{slug}", "/p/7-a-b-9", {"number": "7", "slug": "a-b-9"}),
        ("/p/{name}", "/p/logout", None),
        ("/p/{name}", "/p/Settings", None),
        ("/p/{name}", "/p/a%2Fb", {"name": "a/b"}),
        ("/p/{slug}", "/p/plain", None),
        ("/{locale}/p", "/pt-BR/p", {"locale": "pt-BR"}),
        ("/{locale}/p", "/xx/p", None),
        ("/s?a={text}&b=1", "/s?b=1&a=x%26y", {"text": "x&y"}),
        ("/s?a={text}&b=1", "/s?b=2&a=x", None),
        ("/s?a={text}", "/s?a=", None),
        ("/p/{a}{b}", "/p/xy", None),
        ("/p/{a}-{a}", "/p/x-x", None),
        ("/p/{a}-{b}-{c}", "/p/x-y-z", None),
        ("/p/{broken", "/p/x", None),
        ("/s?{name}=1", "/s?a=1", None),
    ],
)
def test_an_address_is_matched_by_the_kinds_of_slots(template: str, path: str, slots: dict[str, str] | None) -> None:
    assert match(SITE + template, SITE + path) == slots


def test_a_template_of_one_host_matches_no_other() -> None:
    assert match("https://a.example/p/{number}", "https://a.example.evil.test/p/1") is None
    assert match("https://{name}.example/p/1", "https://a.example/p/1") is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("/p/1", "/p/2", True),
        ("/user/alice", "/user/bob", True),
        ("/de/p/1", "/en/p/2", True),
        ("/p/1?page=2", "/p/1", False),
        ("/about", "/contact", False),
        ("/a/1", "/b/1", False),
    ],
)
def test_pages_are_gathered_by_their_kind(one: str, other: str, same: bool) -> None:  # noqa: FBT001 - an expectation
    assert (page_kind(SITE + one) == page_kind(SITE + other)) is same


WORDS = (
    "1", "22", "007", "a", "b", "a-b", "blue-socks", "a-1", "b-22", "1-a", "x_9", "a.html", "b.html", "a-1.html",
    "de", "en-GB", "2026-03-01", "550e8400-e29b-41d4-a716-446655440000", "a1b2c3d4e5f6", "a-b1b2c3d4", "login",
    "@a", "t-550e8400-e29b-41d4-a716-446655440000", "tt1", "tt22", "..", "a/../b", "%2e", "a b", "!", "{x}", "v2",
)  # fmt: skip
Piece = st.text(max_size=4) | st.sampled_from(WORDS)
Addresses = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(Piece, min_size=width, max_size=width), min_size=1, max_size=3)
)


def address(pieces: list[str], *, query: bool) -> str:
    *path, last = [quote(one, safe="") for one in pieces]
    return f"{SITE}/{'/'.join(path)}{'?q=' if query else '/'}{last}"


@pytest.mark.slow
@settings(max_examples=80)
@given(Addresses, st.booleans())
def test_a_template_matches_its_pages_and_gives_them_back(pages: list[list[str]], query: bool) -> None:  # noqa: FBT001 - an example
    urls = [address(page, query=query) for page in pages]
    template = page_template(urls)
    if not template:
        return
    for url in urls:
        slots = match(template, url)

        assert slots is not None
        try:
            again = fill(template, slots)
        except ValueError:
            assert "." in url  # a name that would lead up
        else:
            assert page_parts(again) == page_parts(url)
