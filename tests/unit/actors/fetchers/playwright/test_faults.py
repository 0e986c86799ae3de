"""Which code an error of the browser has."""

from __future__ import annotations

import pytest
from playwright.async_api import Error

from actors.fetchers.playwright import faults
from actors.fetchers.playwright.browser import user_agent
from protocol.faults import Code


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("Page.goto: net::ERR_NAME_NOT_RESOLVED at http://x/", Code.NETWORK_DNS_FAILED),
        ("Page.goto: net::ERR_CERT_AUTHORITY_INVALID at https://x/", Code.NETWORK_TLS_FAILED),
        ("Page.goto: net::ERR_SSL_PROTOCOL_ERROR at https://x/", Code.NETWORK_TLS_FAILED),
        ("Page.goto: net::ERR_TOO_MANY_REDIRECTS at http://x/", Code.HTTP_TOO_MANY_REDIRECTS),
        ("Page.goto: net::ERR_CONNECTION_TIMED_OUT at http://x/", Code.NETWORK_TIMEOUT),
        ("Page.goto: net::ERR_UNSAFE_PORT at http://x:22/", Code.SECURITY_URL_BLOCKED),
        ("Page.goto: net::ERR_EMPTY_RESPONSE at http://x/", Code.NETWORK_CONNECTION_FAILED),
        ("something else", Code.NETWORK_CONNECTION_FAILED),
    ],
)
def test_each_error_has_a_code(said: str, code: Code) -> None:
    assert faults.code_of(said) is code


@pytest.mark.parametrize(
    "said",
    [
        "Page.goto: Page crashed",
        "Page.evaluate: Target crashed ",
        "Target page, context or browser has been closed",
        "Connection closed while reading from the driver",
    ],
)
def test_what_is_gone_is_a_crash(said: str) -> None:
    assert faults.is_crash(Error(said))


def test_the_browser_says_what_it_is_and_who_drives_it() -> None:
    assert user_agent("Mozilla/5.0 HeadlessChrome/1", "Weft/0.1") == "Mozilla/5.0 HeadlessChrome/1 Weft/0.1"
    assert user_agent("Mozilla/5.0 HeadlessChrome/1", "Mozilla/5.0 (Bot)") == "Mozilla/5.0 (Bot)"
