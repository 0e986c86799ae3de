"""Describes the APIs that a page was seen to use, beside those that its source names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, cast
from urllib.parse import parse_qsl, urlsplit

from msgspec import UNSET

from actors.fetchers.web.redact import REDACTED, is_secret
from protocol.browse import ApiPattern, NetworkRequest
from protocol.confidence import BASELINES, Source

MAX_APIS = 20
_MAX_PARAMETERS = 20
_MAX_VALUE_CHARS = 100

_HIGH, _MEDIUM = 7, 4
_OK, _MULTIPLE = 200, 300
_WITHOUT_BODY = frozenset({204, 304})
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH"})
_AUTH_HEADERS = ("authorization", "x-api-key", "x-auth-token", "x-csrf-token")

Level = Literal["high", "medium", "low"]
Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH"]
AuthType = Literal["cookie", "bearer", "header", "session"]

_ONE_LESS: dict[Level, Level] = {"high": "medium", "medium": "low", "low": "low"}
_SCORES: dict[Level, float] = {
    "high": BASELINES[Source.API_RESPONSE],
    "medium": BASELINES[Source.SELECTOR_MATCH],
    "low": BASELINES[Source.HEURISTIC],
}


def merged(seen: Iterable[NetworkRequest], named: Iterable[ApiPattern], *, by_browser: bool) -> tuple[ApiPattern, ...]:
    """Return the APIs that answered the page with JSON, then those that its source only names; each once.

    What no real browser has seen counts for one level less, and may never stand in for its page.
    """
    found: dict[tuple[str, str], ApiPattern] = {}
    for exchange in seen:
        pattern = _pattern(exchange, by_browser=by_browser)
        if pattern is not None:
            key = (pattern.method, pattern.endpoint)
            known = found.get(key)
            if known is None or (known.confidence_score or 0) < (pattern.confidence_score or 0):
                found[key] = pattern
    for pattern in named:
        found.setdefault((pattern.method, pattern.endpoint), pattern)
    return tuple(found.values())[:MAX_APIS]


def is_json(content_type: str) -> bool:
    """Whether a media type is one of JSON's."""
    media_type = content_type.partition(";")[0].strip().lower()
    return media_type in ("application/json", "text/json") or media_type.endswith("+json")


def _pattern(exchange: NetworkRequest, *, by_browser: bool) -> ApiPattern | None:
    content_type = str(exchange.content_type or "")
    if exchange.method not in _METHODS or not is_json(content_type):
        return None
    parts = urlsplit(exchange.url)
    auth_type, auth_headers = _auth(exchange)
    level, why = _weighed(exchange, auth_type)
    level = level if by_browser else _ONE_LESS[level]
    return ApiPattern(
        endpoint=f"{parts.scheme}://{parts.netloc}{parts.path}",
        method=cast("Method", exchange.method),
        confidence=level,
        can_bypass=level == "high",
        auth_type=auth_type or UNSET,
        auth_headers=auth_headers or UNSET,
        response_type=content_type.partition(";")[0].strip().lower(),
        params=_parameters(parts.query) or UNSET,
        reason=f"asked for by the page's scripts: {why}",
        confidence_score=_SCORES[level],
    )


def _weighed(exchange: NetworkRequest, auth: AuthType | None) -> tuple[Level, str]:
    """Score by status, JSON, method, body and login, as learned patterns are."""
    reads = exchange.method == "GET"
    points = {
        f"status {exchange.status}": 3 if _OK <= exchange.status < _MULTIPLE else 0,
        "JSON": 2,
        "GET": 2 if reads else 0,
        "a change with a login": 2 if not reads and auth else 0,
        "a body": 1 if exchange.status not in _WITHOUT_BODY else 0,
        "a login": 1 if auth in ("cookie", "bearer") else 0,
    }
    score = sum(points.values())
    level: Level = "high" if score >= _HIGH else "medium" if score >= _MEDIUM else "low"
    return level, ", ".join(name for name, given in points.items() if given)


def _auth(exchange: NetworkRequest) -> tuple[AuthType | None, dict[str, str]]:
    """Tell by which headers the request was let in: their names, never what they hold."""
    names = [name for name in _AUTH_HEADERS if name in exchange.request_headers]
    shown = dict.fromkeys(names, REDACTED)
    if "authorization" in names:
        return "bearer", shown
    if names:
        return "header", shown
    return ("cookie", {}) if "cookie" in exchange.request_headers else (None, {})


def _parameters(query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MAX_PARAMETERS)
    except ValueError:
        return {}
    return {name[:_MAX_VALUE_CHARS]: REDACTED if is_secret(name) else value[:_MAX_VALUE_CHARS] for name, value in pairs}
