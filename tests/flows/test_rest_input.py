"""Requests that REST refuses: each with an error that names what is at fault."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import msgspec
import pytest
from msgspec import UNSET

from protocol.faults import Category, Code
from tests.flows.system import System, refused
from tests.requirements import requirement

pytestmark = pytest.mark.nats

BODY_LIMIT = 4 * 1024 * 1024
PIECE = b" " * 65_536
JSON = {"Content-Type": "application/json"}
URL = "http://127.0.0.1/"


@requirement("000.3.structured-error")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": URL, "option": {}}, "option"),
        ({"url": URL, "options": {"maxLatency": 5}}, "options.maxLatency"),
        ({"url": URL, "options": {"maxLatencyMs": "soon"}}, "options.maxLatencyMs"),
        ({"url": URL, "options": {"maxLatencyMs": 0}}, "options.maxLatencyMs"),
        ({"url": URL, "options": {"maxCostTier": "cloud"}}, "options.maxCostTier"),
        ({"url": URL, "options": {"freshnessRequirement": "stale"}}, "options.freshnessRequirement"),
        ({"url": URL, "options": {"sessionProfile": "../other"}}, "options.sessionProfile"),
        ({"url": URL, "options": {"includeHtml": 1}}, "options.includeHtml"),
        ({"url": URL, "options": {"forceTier": "playwright", "maxCostTier": "intelligence"}}, "options.forceTier"),
        ({"url": URL, "options": None}, "options"),
        ({"url": 7}, "url"),
        ({"url": ""}, "url"),
        ({"url": f"{URL}{'x' * 9_000}"}, "url"),
        ({"options": {}}, "url"),
        ({}, "url"),
    ],
)
def test_a_request_that_breaks_the_contract_is_told_where(weft: System, body: object, field: str) -> None:
    answer = weft.http.post("/api/browse", json=body)

    error = refused(answer)
    assert (answer.status_code, error.code, error.field) == (400, Code.VALIDATION_INVALID_REQUEST, field)
    assert (error.category, field in error.error) == (Category.VALIDATION, True)
    assert error.retryable is (error.recommended_actions[0].tool_to_use == "browse")
    assert error.retryable is (field not in ("url", "options.sessionProfile"))


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://files.example/",
        "javascript:alert(1)",
        "http://ada:secret@127.0.0.1/",
        "ada:secret@127.0.0.1/",
        "http:\\\\ada:secret@127.0.0.1\\",
        "http://127.0.0.1:22/",
        "http://[::1/",
        "http://127.0.0.1/\n",
    ],
)
def test_an_address_that_is_never_fetched_names_its_field(weft: System, url: str) -> None:
    answer = weft.browse(url)

    error = refused(answer)
    assert (answer.status_code, error.code, error.field) == (403, Code.SECURITY_URL_BLOCKED, "url")
    assert "secret" not in answer.text


@pytest.mark.parametrize("url", ["htp://example.com/", "http://a b/", "/page", "http://a℀b.example/"])
def test_what_is_no_address_is_no_danger(weft: System, url: str) -> None:
    answer = weft.browse(url)

    error = refused(answer)
    assert (answer.status_code, error.code, error.field) == (400, Code.VALIDATION_INVALID_REQUEST, "url")


@pytest.mark.parametrize("url", ["127.0.0.1/", "//127.0.0.1:1024/", "１２７.0.0.1"])
def test_an_address_without_a_scheme_means_https(weft: System, url: str) -> None:
    error = refused(weft.browse(url))

    assert error.context is not UNSET
    assert str(error.context.url).startswith("https://127.0.0.1")


@pytest.mark.parametrize(
    ("url", "shown"),
    [("http://BÜCHER.invalid/a b", "bücher.invalid"), ("http://xn--pple-43d.invalid/", "xn--pple-43d.invalid")],
)
def test_a_host_of_other_letters_is_looked_up_and_told_as_it_is_written(weft: System, url: str, shown: str) -> None:
    error = refused(weft.browse(url))

    assert (error.code, error.context is not UNSET and error.context.domain) == (Code.NETWORK_DNS_FAILED, shown)


@pytest.mark.parametrize("body", [b"", b"{nope", b"[]", b'"url"', b"\xff\xfe", b'{"url":' * 5_000, b"[" * 100_000])
def test_a_body_that_is_no_object_is_refused(weft: System, body: bytes) -> None:
    answer = weft.http.post("/api/browse", content=body, headers=JSON)

    assert (answer.status_code, refused(answer).code) == (400, Code.VALIDATION_INVALID_REQUEST)


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-json"}])
def test_a_body_of_another_type_is_refused(weft: System, headers: dict[str, str]) -> None:
    answer = weft.http.post("/api/browse", content=msgspec.json.encode({"url": URL}), headers=headers)

    error = refused(answer)
    assert (answer.status_code, error.code) == (415, Code.VALIDATION_INVALID_REQUEST)
    assert error.error == "The body has to be application/json"


def _pieces() -> Iterator[bytes]:
    for _ in range(BODY_LIMIT // len(PIECE) + 1):
        yield PIECE


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_beyond_the_limit_is_refused(weft: System, *, announced: bool) -> None:
    content = b"".join(_pieces()) if announced else _pieces()
    answer = weft.http.post("/api/browse", content=content, headers=JSON)

    error = refused(answer)
    assert (answer.status_code, error.code) == (413, Code.VALIDATION_INVALID_REQUEST)
    assert str(BODY_LIMIT) in error.error


@pytest.mark.parametrize(
    ("method", "path", "status", "allow"),
    [
        ("GET", "/api/browse", 405, "POST"),
        ("DELETE", "/api/browse", 405, "POST"),
        ("POST", "/healthz", 405, "GET, HEAD"),
        ("GET", "/mcp", 405, "POST"),
        ("GET", "/nowhere", 404, None),
        ("GET", "/api/browse/", 404, None),
        ("POST", "/api", 404, None),
    ],
)
def test_a_way_that_does_not_exist(weft: System, method: str, path: str, status: int, allow: str | None) -> None:
    answer = weft.http.request(method, path)

    error = refused(answer)
    assert (answer.status_code, answer.headers.get("allow")) == (status, allow)
    assert (error.code, error.field) == (Code.VALIDATION_INVALID_REQUEST, UNSET)


@pytest.mark.parametrize("path", ["/api/browse", "/mcp", "/metrics", "/nowhere"])
@pytest.mark.parametrize(
    ("headers", "challenge"),
    [
        ({}, 'Bearer realm="weft"'),
        ({"Authorization": "Bearer wrong"}, 'Bearer realm="weft", error="invalid_token"'),
        ({"Authorization": "Bearer"}, 'Bearer realm="weft", error="invalid_token"'),
        ({"Authorization": "Basic d2VmdDp3ZWZ0"}, 'Bearer realm="weft", error="invalid_token"'),
    ],
)
def test_nobody_gets_in_without_the_key(weft: System, path: str, headers: dict[str, str], challenge: str) -> None:
    answer = httpx2.post(f"{weft.ready.rest}{path}", json={}, headers=headers, trust_env=False, timeout=90)

    error = refused(answer)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, challenge)
    assert (error.code, error.recommended_actions[0].action) == (Code.AUTH_INVALID_CREDENTIALS, "send_api_key")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/openapi.json"])
def test_who_asks_for_health_needs_no_key(weft: System, path: str) -> None:
    assert httpx2.get(f"{weft.ready.rest}{path}", trust_env=False, timeout=90).status_code == 200


@pytest.mark.parametrize("path", ["/api/browse", "/mcp", "/healthz"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "weft.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_pages_of_others_are_kept_out(weft: System, path: str, headers: dict[str, str], status: int) -> None:
    answer = weft.http.post(path, json={}, headers=headers)

    error = refused(answer)
    (name,) = headers
    assert (answer.status_code, error.code) == (status, Code.SECURITY_ORIGIN_REFUSED)
    assert (name in error.error, "access-control-allow-origin" in answer.headers) == (True, False)


def test_a_page_of_our_own_may_ask_first(weft: System) -> None:
    asked = {
        "Origin": weft.ready.rest,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type, mcp-protocol-version, x-evil",
    }
    answer = httpx2.options(f"{weft.ready.rest}/api/browse", headers=asked, trust_env=False)

    allowed = {name.removeprefix("access-control-"): text for name, text in answer.headers.items() if "-allow-" in name}
    assert (answer.status_code, answer.content, answer.headers["vary"]) == (204, b"", "Origin")
    assert allowed == {
        "allow-origin": weft.ready.rest,
        "allow-methods": "DELETE, GET, HEAD, PATCH, POST, PUT",
        "allow-headers": "authorization, content-type, mcp-protocol-version",
    }


def test_a_page_of_others_may_not_even_ask(weft: System) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = httpx2.options(f"{weft.ready.rest}/api/browse", headers=asked, trust_env=False)

    assert (answer.status_code, refused(answer).code) == (403, Code.SECURITY_ORIGIN_REFUSED)
    assert "access-control-allow-origin" not in answer.headers
