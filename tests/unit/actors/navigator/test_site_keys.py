"""Of an address nothing is remembered but its host, a port that is not the usual one, and a hash of its shape."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.address_shapes import address_shape
from actors.navigator.hosts import site_key_of

KEY = re.compile(r"(?!\.)[-/_=.a-zA-Z0-9]+(?<!\.)")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://WWW.Shop.co.uk/a?q=1#f", ("www.shop.co.uk", "www.shop.co.uk", "shop.co.uk/any")),
        ("https://shop.co.uk:443/", ("shop.co.uk", "shop.co.uk", "shop.co.uk/any")),
        ("http://me.github.io/x", ("me.github.io", "me.github.io", "me.github.io/any")),
        ("http://localhost:8080/x", ("localhost", "localhost/8080", None)),
        ("http://127.0.0.1/", ("127.0.0.1", "127.0.0.1", None)),
        ("http://[::1]:3000/", ("::1", "=3a==3a=1/3000", None)),
        ("https://münchen.de/", ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de/any")),
    ],
)
def test_a_place_is_the_host(url: str, place: tuple[str, str, str | None]) -> None:
    found = site_key_of(url)

    assert found is not None
    assert (found.host, found.key, found.domain_key) == place
    assert re.fullmatch(re.escape(found.key) + "/shape/[0-9a-f]{12}", found.shape_key)


@pytest.mark.parametrize("url", ["", "no address", "mailto:a@b.c", "ftp://example.com/", "http://", "http://[x/"])
def test_what_is_no_web_address_has_no_place(url: str) -> None:
    assert site_key_of(url) is None


@pytest.mark.parametrize(
    ("urls", "shape"),
    [
        (("/article/123-foo", "/article/77-bar", "/article/Weaving", "/article/%C3%BCber"), "/article/{name}"),
        (("/2024/05/17/looms", "/1999/1/2/looms"), "/{number}/{number}/{number}/looms"),
        (("/item?id=7", "/item?id=8&"), "/item?id"),
        (("/c0ffee-0badf00d/view.HTML", "/d41d8cd98f00b204e9800998ecf8427e/view.html"), "/{name}/view.html"),
        (("/p/4711.html", "/p/1.html"), "/p/{number}.html"),
        (("/en-us/v2/docs/", "/en-us//v2/docs"), "/en-us/v2/docs"),
        (("/#/orders/17", "/?#/orders/18"), "/#/orders/{number}"),
        (("", "/", "/#part"), "/"),
    ],
)
def test_addresses_that_are_made_alike_share_a_shape(urls: tuple[str, ...], shape: str) -> None:
    assert {address_shape(f"https://shop.example{url}") for url in urls} == {shape}


def test_sections_have_shapes_of_their_own() -> None:
    paths = ("/", "/about", "/article/{name}", "/product/7", "/product/7?view", "/api/v1/x", "/api/v2/x")

    assert len({address_shape(f"https://shop.example{path}") for path in paths}) == len(paths)


@given(st.text() | st.from_regex(r"https?://[^/]{1,40}/.{0,20}"))
def test_keys_are_ones_that_the_bus_takes(url: str) -> None:
    place = site_key_of(url)

    if place is not None:
        assert KEY.fullmatch(place.key)
        assert KEY.fullmatch(place.shape_key)
        assert place.domain_key is None or KEY.fullmatch(place.domain_key)
