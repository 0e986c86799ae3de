"""The site of an address, and its key."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.sites import host_key, key_of, of_profile, site_of
from protocol.faults import Code, FaultError

KEY = re.compile(r"[-/_=a-zA-Z0-9]+(?:\.[-/_=a-zA-Z0-9]+)*")
PROFILE = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}", fullmatch=True)


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("https://www.example.com/a?b#c", "example.com"),
        ("http://WWW.Example.CO.UK:8080/", "example.co.uk"),
        ("shop.example.com", "example.com"),
        ("me.github.io", "me.github.io"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("example.com.", "example.com"),
        ("localhost", "localhost"),
        ("http://localhost:3000/x", "localhost"),
        ("127.0.0.1:8080", "127.0.0.1"),
        ("http://[::1]:80/", "::1"),
        ("co.uk", "co.uk"),
    ],
)
def test_every_address_has_a_site(address: str, site: str) -> None:
    assert site_of(address) == site


@pytest.mark.parametrize(
    "address", ["", "   ", "a b", "ftp://example.com/", "http://", "a..b", "javascript:alert(1)", "*"]
)
def test_what_has_none_is_refused(address: str) -> None:
    with pytest.raises(FaultError) as caught:
        site_of(address, "url")

    assert (caught.value.fault.code, caught.value.fault.field) == (Code.VALIDATION_INVALID_REQUEST, "url")


@given(st.lists(PROFILE, min_size=2, max_size=2, unique=True), st.sampled_from(["example.com", "::1", "127.0.0.1"]))
def test_a_key_is_one_that_a_bucket_takes_and_tells_profiles_apart(profiles: list[str], site: str) -> None:
    one, other = profiles
    key = key_of(one, site)

    assert KEY.fullmatch(key)
    assert (of_profile(key, one), of_profile(key, other)) == (True, False)
    assert key != key_of(other, site)


@pytest.mark.parametrize("host", ["bücher.example", "例え.example", "[::1]", "a b"])
def test_the_key_of_any_host_is_one_that_nats_takes(host: str) -> None:
    assert KEY.fullmatch(host_key(host))
    assert host_key(host) != host_key(host.translate(str.maketrans("üえ:b", "uれ_c")))
