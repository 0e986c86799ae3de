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
_METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH"})
_AUTH_HEADERS = ("authorization", "x-api-key", "x-auth-token", "x-csrf-token")

Level = Literal["high", "medium", "low"]
Method = Literal["GET", "POST", "PUT", "DELETE", "PATCH"]
AuthType = Literal["cookie", "bearer", "header", "session"]

_ONE_LESS: dict[Level, Level] = {"high": "medium", "medium": "low", "low": "low"}
"""What only this tier has seen counts for one level less than what a browser has seen."""

_SCORES: dict[Level, float] = {
    "high": BASELINES[Source.API_RESPONSE],
    "medium": BASELINES[Source.SELECTOR_MATCH],
    "low": BASELINES[Source.HEURISTIC],
}


def merged(seen: Iterable[NetworkRequest], named: Iterable[ApiPattern]) -> tuple[ApiPattern, ...]:
    """Give the APIs that answered the page with JSON, then those that its source only names; each once."""
    found: dict[tuple[str, str], ApiPattern] = {}
    for exchange in seen:
        pattern = _pattern(exchange)
        if pattern is not None:
            key = (pattern.method, pattern.endpoint)
            known = found.get(key)
            if known is None or (known.confidence_score or 0) < (pattern.confidence_score or 0):
                found[key] = pattern
    for pattern in named:
        found.setdefault((pattern.method, pattern.endpoint), pattern)
    return tuple(found.values())[:MAX_APIS]


def _pattern(exchange: NetworkRequest) -> ApiPattern | None:
    media_type = str(exchange.content_type or "").partition(";")[0].strip().lower()
    if exchange.method not in _METHODS or not _is_json(media_type):
        return None
    parts = urlsplit(exchange.url)
    auth_type, auth_headers = _auth(exchange)
    level, why = _weighed(exchange, auth_type)
    level = _ONE_LESS[level]
    return ApiPattern(
        endpoint=f"{parts.scheme}://{parts.netloc}{parts.path}",
        method=cast("Method", exchange.method),
        confidence=level,
        can_bypass=False,  # 1.B: only what is high, and nothing is that only this tier has seen
        auth_type=auth_type or UNSET,
        auth_headers=auth_headers or UNSET,
        response_type=media_type,
        params=_parameters(parts.query) or UNSET,
        reason=f"asked for by the page's scripts: {why}",
        confidence_score=_SCORES[level],
    )


def _weighed(exchange: NetworkRequest, auth: AuthType | None) -> tuple[Level, str]:
    """Score as the notes on learned patterns say: status, JSON, method, body and login."""
    succeeded = 200 <= exchange.status < 300  # noqa: PLR2004 - the 2xx
    reads = exchange.method == "GET"
    points = {
        f"status {exchange.status}": 3 if succeeded else 0,
        "JSON": 2,
        "GET": 2 if reads else 0,
        "a change with a login": 2 if not reads and auth else 0,
        "a body": 1 if exchange.status not in (204, 304) else 0,
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


def _is_json(media_type: str) -> bool:
    return media_type in ("application/json", "text/json") or media_type.endswith("+json")
