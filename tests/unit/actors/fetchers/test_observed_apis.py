"""What is said of the APIs that a page was seen to use."""

from __future__ import annotations

import pytest
from msgspec import structs

from actors.fetchers.page_answer import is_json, merge_apis
from protocol.browse import ApiPattern, NetworkRequest


def call(
    url: str = "https://site.example/api/items", method: str = "GET", status: int = 200, **more: str
) -> NetworkRequest:
    return NetworkRequest(
        url=url,
        method=method,
        status=status,
        status_text="",
        headers={},
        request_headers=more,
        timestamp=0,
        content_type="application/json; charset=utf-8",
    )


NAMED = ApiPattern(
    endpoint="https://site.example/api/items", method="GET", confidence="low", can_bypass=False, confidence_score=0.3
)


@pytest.mark.parametrize(
    ("seen", "by_browser", "confidence", "can_bypass"),
    [
        (call(), True, "high", True),
        (call(), False, "medium", False),
        (call(status=500), True, "medium", False),
        (call(method="POST"), True, "medium", False),
        (call(method="POST", authorization="x"), True, "high", True),
    ],
)
def test_what_a_browser_saw_counts_for_more(
    seen: NetworkRequest, confidence: str, *, by_browser: bool, can_bypass: bool
) -> None:
    (found,) = merge_apis([seen], (), by_browser=by_browser)

    assert (found.confidence, found.can_bypass) == (confidence, can_bypass)


def test_what_was_seen_goes_before_what_is_only_named() -> None:
    (found,) = merge_apis([call("https://site.example/api/items?page=2&token=hush")], (NAMED,), by_browser=True)

    assert (found.confidence, found.params) == ("high", {"page": "2", "token": "[redacted]"})


def test_credentials_are_named_and_never_shown() -> None:
    (found,) = merge_apis([call(authorization="Bearer hush")], (), by_browser=True)

    assert (found.auth_type, found.auth_headers) == ("bearer", {"authorization": "[redacted]"})


def test_only_json_is_an_api() -> None:
    assert [is_json(kind) for kind in ("application/json", "application/hal+json;x=1", "text/html", "")] == [
        True,
        True,
        False,
        False,
    ]


def test_each_is_told_once_at_its_best() -> None:
    seen = [call(status=500), call(), call(method="POST"), call(status=404)]

    found = merge_apis(seen, (NAMED,), by_browser=False)

    assert [(pattern.method, pattern.confidence) for pattern in found] == [("GET", "medium"), ("POST", "low")]


def test_what_is_no_call_for_json_is_none() -> None:
    page = structs.replace(call(), content_type="text/html")

    assert merge_apis([page, call(method="OPTIONS")], (), by_browser=True) == ()
