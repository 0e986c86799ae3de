"""Of an address nothing is remembered but its host, and a port that is not the usual one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.navigator.hosts import SiteKey, site_key_of

KEY = re.compile(r"(?!\.)[-/_=.a-zA-Z0-9]+(?<!\.)")


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("https://user:secret@WWW.Shop.co.uk/a?q=1#f", SiteKey("www.shop.co.uk", "www.shop.co.uk", "shop.co.uk/any")),
        ("https://shop.co.uk:443/", SiteKey("shop.co.uk", "shop.co.uk", "shop.co.uk/any")),
        ("http://me.github.io/x", SiteKey("me.github.io", "me.github.io", "me.github.io/any")),
        ("http://localhost:8080/x", SiteKey("localhost", "localhost/8080", None)),
        ("http://127.0.0.1/", SiteKey("127.0.0.1", "127.0.0.1", None)),
        ("http://[::1]:3000/", SiteKey("::1", "=3a==3a=1/3000", None)),
        ("https://münchen.de/", SiteKey("xn--mnchen-3ya.de", "xn--mnchen-3ya.de", "xn--mnchen-3ya.de/any")),
    ],
)
def test_a_place_is_the_host(url: str, place: SiteKey) -> None:
    assert site_key_of(url) == place


@pytest.mark.parametrize("url", ["", "no address", "mailto:a@b.c", "ftp://example.com/", "http://", "http://[x/"])
def test_what_is_no_web_address_has_no_place(url: str) -> None:
    assert site_key_of(url) is None


@given(st.text() | st.from_regex(r"https?://[^/]{1,40}/.{0,20}"))
def test_keys_are_ones_that_the_bus_takes(url: str) -> None:
    place = site_key_of(url)

    if place is not None:
        assert KEY.fullmatch(place.key)
        assert place.domain_key is None or KEY.fullmatch(place.domain_key)
