"""What is recorded of an exchange holds no credentials."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from actors import redact


@pytest.mark.parametrize(
    ("address", "recorded"),
    [
        ("https://a.example/x?page=2&token=abc", "https://a.example/x?page=2&token=[redacted]"),
        ("https://a.example/x?access_token=abc&q=monkey", "https://a.example/x?access_token=[redacted]&q=monkey"),
        (
            "https://a.example/x?apiKey=1&X-Amz-Signature=2",
            "https://a.example/x?apiKey=[redacted]&X-Amz-Signature=[redacted]",
        ),
        ("https://a.example/x?monkey=1&encode=2&keyboard=3", "https://a.example/x?monkey=1&encode=2&keyboard=3"),
        ("https://u:p@a.example/x", "https://a.example/x"),
        (
            "https://a.example/cb?code=1&state=2#id_token=3",
            "https://a.example/cb?code=[redacted]&state=[redacted]#id_token=[redacted]",
        ),
        (
            "https://a.example/x?sig=&session=1;password=2",
            "https://a.example/x?sig=[redacted]&session=[redacted];password=[redacted]",
        ),
        ("http://[::1", "[redacted]"),
    ],
)
def test_urls(address: str, recorded: str) -> None:
    assert redact.url(address) == recorded


def test_headers() -> None:
    pairs = [
        ("Authorization", "Bearer x"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Proxy-Authenticate", "Basic"),
        ("X-Api-Key", "k"),
        ("Location", "/next?token=1"),
        ("Vary", "Accept"),
        ("vary", "Cookie"),
    ]

    assert redact.headers(pairs) == {
        "authorization": "[redacted]",
        "set-cookie": "[redacted]",
        "proxy-authenticate": "[redacted]",
        "x-api-key": "[redacted]",
        "location": "/next?token=[redacted]",
        "vary": "Accept, Cookie",
    }


@pytest.mark.parametrize(
    "name",
    [
        *("x-access-token", "Api-Key", "X-Amz-Security-Token", "x-csrftoken", "X-XSRF-TOKEN", "x-gitlab-token"),
        *("X-Goog-Iam-Authorization-Token", "cf-access-jwt-assertion", "x-auth", "X-Session-Id", "cookie2"),
        *("x-client-secret", "x-hub-signature-256", "authentication", "X-Functions-Key", "x-accesstoken"),
    ],
)
def test_a_header_whose_name_says_so_is_a_secret(name: str) -> None:
    assert redact.headers([(name, "s3cr3t")]) == {name.lower(): "[redacted]"}


def test_headers_that_say_nothing_stay_and_lose_what_an_address_in_them_holds() -> None:
    kept = [("content-type", "text/html"), ("x-monkey", "1"), ("etag", '"a"'), ("x-request-id", "7")]

    assert redact.headers([*kept, ("Link", "<https://u:p@a.example/x>; rel=next")]) == {
        **dict(kept),
        "link": "<https://a.example/x>; rel=next",
    }


@pytest.mark.parametrize(
    ("body", "content_type", "recorded"),
    [
        (b'{"a": 1}', "application/json; charset=utf-8", {"a": 1}),
        (b"[1]", "application/ld+json", [1]),
        (b"{", "application/json", UNSET),
        (b"{}", "text/html", UNSET),
        (b"1" * (redact.MAX_RECORDED_BODY_BYTES + 1), "application/json", UNSET),
        (b"[" * 60_000, "application/json", UNSET),
    ],
)
def test_bodies(body: bytes, content_type: str, recorded: object) -> None:
    assert redact.json_body(body, content_type) == recorded


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("https://a.example/x?token=[redacted]&q=1 and", None),
        ("See https://a.example/x?token=abc#top.", "See https://a.example/x?token=[redacted]#top."),
        ("[a](https://u:p@a.example/x)", "[a](https://a.example/x)"),
        ("use sk-proj-abcdefghijklmnop1234 now", "use [redacted] now"),
        ("ghp_0123456789abcdefghij0123456789abcdef", "[redacted]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def_1", "[redacted]"),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: [redacted]"),
        ("Set-Cookie: sid=31d4d96e407aad42; Path=/", "Set-Cookie: [redacted]"),
        ("send bearer 31d4d96e407aad42", "send bearer [redacted]"),
        ("password=swordfish", "password=[redacted]"),
        ('"api_key": "k3y0fm1ne"', '"api_key": "[redacted]"'),
        ("x:token=4b5f8a2c", "x:token=[redacted]"),
        ("key=0ne0ne1 a = {'password' : 'hunter22'}", "key=[redacted] a = {'password' : '[redacted]'}"),
        (f"{'long-' * 20}.token=\n4b5f8a2c", f"{'long-' * 20}.token=\n[redacted]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END", "-----BEGIN RSA PRIVATE KEY-----[redacted]-----END"),
        ("MIICXAIBAAKBgQCqGKukO1De7zhZj6H0qtjTkVxwTCpvKe4eCZ0FPqri0cb2", "[redacted]"),
        # What only speaks of credentials stays as it is.
        (
            "Cookie: a small file. Basic understanding of tokens.",
            "Cookie: a small file. Basic understanding of tokens.",
        ),
        ("Password: must have eight characters", "Password: must have eight characters"),
        ("state = 1889; code: 200", "state = 1889; code: 200"),
        ("https://a.example/A-Long-Title-Of-An-Article-2024-With-Words/", None),
        ("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", None),
        ("monkey=abc123def", None),
    ],
)
def test_words(words: str, shown: str | None) -> None:
    assert redact.text(words) == (words if shown is None else shown)
