"""What a failure of a provider is, by its status and the words of its protocol; its own text is never passed on.

Providers quote prompts and beginnings of keys in what they say of an error, so nothing of that leaves this module.
"""

from __future__ import annotations

import email.utils
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final, cast

import msgspec

from actors.router.provider import ProviderError
from protocol.models import CallErrorKind, Provider

MAX_RETRY_AFTER_MS: Final = 86_400_000

_OF_STATUS: Mapping[int, CallErrorKind] = MappingProxyType(
    {
        HTTPStatus.UNAUTHORIZED: CallErrorKind.AUTH,
        HTTPStatus.PAYMENT_REQUIRED: CallErrorKind.QUOTA,
        HTTPStatus.FORBIDDEN: CallErrorKind.AUTH,
        HTTPStatus.REQUEST_TIMEOUT: CallErrorKind.TIMEOUT,
        HTTPStatus.CONFLICT: CallErrorKind.OVERLOADED,
        HTTPStatus.TOO_EARLY: CallErrorKind.OVERLOADED,
        HTTPStatus.TOO_MANY_REQUESTS: CallErrorKind.RATE_LIMIT,
        HTTPStatus.GATEWAY_TIMEOUT: CallErrorKind.TIMEOUT,
    }
)

_WORDS: Mapping[CallErrorKind, frozenset[str]] = MappingProxyType(
    {
        CallErrorKind.QUOTA: frozenset(
            {"insufficient_quota", "billing_hard_limit_reached", "billing_error", "insufficient_credits"}
        ),
        CallErrorKind.REFUSED: frozenset(
            {"content_filter", "content_policy_violation", "responsibleaipolicyviolation", "safety"}
        ),
        CallErrorKind.AUTH: frozenset(
            {"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "unauthenticated"}
        ),
        CallErrorKind.RATE_LIMIT: frozenset({"rate_limit_exceeded", "rate_limit_error", "resource_exhausted"}),
        CallErrorKind.OVERLOADED: frozenset(
            {
                "overloaded_error",
                "server_error",
                "api_error",
                "server_overloaded",
                "internal_server_error",
                "unavailable",
            }
        ),
        CallErrorKind.TIMEOUT: frozenset({"timeout", "timeout_error", "request_timeout", "deadline_exceeded"}),
        CallErrorKind.UNSUPPORTED: frozenset(
            {
                "model_not_found",
                "invalid_request_error",
                "context_length_exceeded",
                "unsupported_parameter",
                "not_found",
            }
        ),
    }
)
"""Codes, types and states of errors as the protocols name them, the most telling first."""

_SAID: Mapping[CallErrorKind, str] = MappingProxyType(
    {
        CallErrorKind.RATE_LIMIT: "takes no more calls for now",
        CallErrorKind.OVERLOADED: "cannot answer now",
        CallErrorKind.TIMEOUT: "took too long",
        CallErrorKind.NETWORK: "could not be reached, or broke off",
        CallErrorKind.AUTH: "does not accept the credentials",
        CallErrorKind.QUOTA: "says that the credit is used up",
        CallErrorKind.UNSUPPORTED: "does not take such a request, or has no such model",
        CallErrorKind.CANCELLED: "was told to stop",
        CallErrorKind.MALFORMED: "answered in no readable form",
        CallErrorKind.SCHEMA: "did not keep to the schema",
        CallErrorKind.REFUSED: "refused to answer",
    }
)


def failure(
    provider: Provider, kind: CallErrorKind, *, status: int | None = None, retry_after_ms: int | None = None
) -> ProviderError:
    """Make the error of a kind, in words of ours."""
    answered = f" (HTTP {status})" if status is not None else ""
    return ProviderError(kind, f"{provider} {_SAID[kind]}{answered}", retry_after_ms=retry_after_ms, status=status)


def failure_of_response(
    provider: Provider, status: int, headers: Mapping[str, str], body: bytes, now_s: float
) -> ProviderError:
    """Make the error of a response that is none; `now_s` is the time since the epoch, for a Retry-After by date."""
    kind = kind_of_body(body) or kind_of_status(status)
    return failure(provider, kind, status=status, retry_after_ms=retry_after_ms(headers, now_s))


def kind_of_status(status: int) -> CallErrorKind:
    """Return the kind of a status."""
    if status in _OF_STATUS:
        return _OF_STATUS[status]
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return CallErrorKind.OVERLOADED
    return CallErrorKind.UNSUPPORTED if status >= HTTPStatus.BAD_REQUEST else CallErrorKind.NETWORK


def kind_of_body(body: bytes) -> CallErrorKind | None:
    """Return the kind that the body of an error names in the words of its protocol, if any."""
    try:
        return kind_of_error(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def kind_of_error(error: object) -> CallErrorKind | None:
    """Return the kind of an error object, whatever it is wrapped in; None where it says nothing that is known."""
    words = set(_words(error))
    named = next((kind for kind, known in _WORDS.items() if words & known), None)
    # "invalid_request_error" goes with most other codes, and with nearly every status
    if named is not None and named is not CallErrorKind.UNSUPPORTED:
        return named
    status = next((int(word) for word in words if re.fullmatch("[45][0-9][0-9]", word)), None)
    return named if status is None else kind_of_status(status)


def retry_after_ms(headers: Mapping[str, str], now_s: float) -> int | None:
    """Read after how long a provider may be asked again: Retry-After (RFC 9110 10.2.3), or retry-after-ms of some."""
    after_ms: float | None = None
    try:
        if text := headers.get("retry-after-ms"):
            after_ms = float(text)
        elif text := headers.get("retry-after"):
            is_number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text.strip())
            after_s = float(text) if is_number else email.utils.parsedate_to_datetime(text).timestamp() - now_s
            after_ms = 1_000 * after_s
    except ValueError:
        return None
    return None if after_ms is None else int(min(max(after_ms, 0), MAX_RETRY_AFTER_MS))


def _words(error: object, depth: int = 0) -> Iterator[str]:
    """Yield codes, types and states of an error and of what it wraps, in lower case; never its message."""
    if not isinstance(error, dict) or depth > 3:  # noqa: PLR2004 - deeper than any protocol has it
        return
    fields = cast("dict[str, Any]", error)
    for name in ("code", "type", "status"):
        if isinstance(fields.get(name), str | int):
            yield str(fields[name]).lower()
    for name in ("error", "innererror"):
        yield from _words(fields.get(name), depth + 1)
