"""The APIs that a page was seen to use."""

from __future__ import annotations

from msgspec import UNSET

from actors.fetchers.lightweight import apis
from protocol.browse import ApiPattern, NetworkRequest


def exchange(
    url: str = "http://a.example/api/threads?page=2&token=abc",
    method: str = "GET",
    status: int = 200,
    content_type: str = "application/json",
    **asked: str,
) -> NetworkRequest:
    """Make an exchange; `asked` are headers of the request, with `_` for `-`."""
    return NetworkRequest(
        url=url,
        method=method,
        status=status,
        status_text="",
        headers={},
        request_headers={name.replace("_", "-"): value for name, value in asked.items()},
        timestamp=0,
        content_type=content_type,
    )


NAMED = ApiPattern(endpoint="http://a.example/api/named", method="GET", confidence="low", can_bypass=False)


def test_what_answered_with_json_comes_before_what_is_named() -> None:
    found = apis.merged([exchange()], [NAMED])

    assert [pattern.endpoint for pattern in found] == ["http://a.example/api/threads", "http://a.example/api/named"]
    assert (found[0].confidence, found[0].can_bypass, found[0].response_type) == ("medium", False, "application/json")
    assert found[0].params == {"page": "2", "token": "[redacted]"}
    assert (found[0].auth_type, found[0].auth_headers) == (UNSET, UNSET)


def test_each_is_told_once_at_its_best() -> None:
    seen = [exchange(status=500), exchange(), exchange(method="POST"), exchange(status=404)]
    found = apis.merged(seen, [ApiPattern(endpoint="http://a.example/api/threads", method="GET", confidence="low",
                                          can_bypass=False)])  # fmt: skip

    assert [(pattern.method, pattern.confidence) for pattern in found] == [("GET", "medium"), ("POST", "low")]


def test_what_is_no_json_is_none() -> None:
    assert apis.merged([exchange(content_type="text/html"), exchange(method="OPTIONS")], []) == ()


def test_a_login_is_told_by_the_names_of_its_headers() -> None:
    (bearer,) = apis.merged([exchange(authorization="[redacted]", cookie="[redacted]")], [])
    (key,) = apis.merged([exchange(x_api_key="[redacted]")], [])
    (cookie,) = apis.merged([exchange(cookie="[redacted]")], [])

    assert (bearer.auth_type, bearer.auth_headers) == ("bearer", {"authorization": "[redacted]"})
    assert (key.auth_type, key.auth_headers) == ("header", {"x-api-key": "[redacted]"})
    assert (cookie.auth_type, cookie.auth_headers) == ("cookie", UNSET)
