"""Tells what a page is no answer for by the status that its site gave."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType

from protocol.faults import Code, FaultError, fault, rate_limited

_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500
_CODES: Mapping[int, Code] = MappingProxyType(
    {
        HTTPStatus.UNAUTHORIZED: Code.AUTH_MISSING_SESSION,
        HTTPStatus.FORBIDDEN: Code.HTTP_FORBIDDEN,
        HTTPStatus.NOT_FOUND: Code.HTTP_NOT_FOUND,
        HTTPStatus.PROXY_AUTHENTICATION_REQUIRED: Code.AUTH_MISSING_SESSION,
        HTTPStatus.GONE: Code.HTTP_NOT_FOUND,
        HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS: Code.BLOCKED_GEO_RESTRICTED,
        HTTPStatus.BAD_GATEWAY: Code.HTTP_BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE: Code.HTTP_SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT: Code.HTTP_BAD_GATEWAY,
    }
)


def check_status(status: int | None) -> None:
    """Refuse a page that is an error of its site.

    Raises:
        FaultError: HTTP_*, AUTH_MISSING_SESSION, BLOCKED_GEO_RESTRICTED or RATE_LIMIT_EXCEEDED.
    """
    if status is None or status < _FIRST_ERROR:
        return
    message = f"The site answered with the status {status}."
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise FaultError(rate_limited(message, None))
    other = Code.HTTP_CLIENT_ERROR if status < _FIRST_SERVER_ERROR else Code.HTTP_SERVER_ERROR
    raise FaultError(fault(_CODES.get(status, other), message, http_status=status))
