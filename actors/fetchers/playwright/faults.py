"""Says in Weft's codes what the browser calls an error."""

from __future__ import annotations

import re

from playwright.async_api import Error, Request, TimeoutError  # noqa: A004 - its name

from protocol.faults import Action, Code, Fault, fault

_NET = re.compile(r"net::(ERR_[A-Z0-9_]+)")
_CODES = {
    "ERR_NAME_NOT_RESOLVED": Code.NETWORK_DNS_FAILED,
    "ERR_NAME_RESOLUTION_FAILED": Code.NETWORK_DNS_FAILED,
    "ERR_TIMED_OUT": Code.NETWORK_TIMEOUT,
    "ERR_CONNECTION_TIMED_OUT": Code.NETWORK_TIMEOUT,
    "ERR_TOO_MANY_REDIRECTS": Code.HTTP_TOO_MANY_REDIRECTS,
    "ERR_UNSAFE_PORT": Code.SECURITY_URL_BLOCKED,
    "ERR_UNKNOWN_URL_SCHEME": Code.SECURITY_URL_BLOCKED,
    "ERR_DISALLOWED_URL_SCHEME": Code.SECURITY_URL_BLOCKED,
    "ERR_UNSAFE_REDIRECT": Code.SECURITY_URL_BLOCKED,
    "ERR_INVALID_REDIRECT": Code.SECURITY_URL_BLOCKED,
    "ERR_BLOCKED_BY_CLIENT": Code.SECURITY_URL_BLOCKED,
    "ERR_INVALID_URL": Code.SECURITY_URL_BLOCKED,
    "ERR_INSUFFICIENT_RESOURCES": Code.PAGE_CRASHED,
}
_TLS = ("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL_")
_CRASHES = ("Page crashed", "Target crashed", "Target closed", "has been closed", "Connection closed")
_DOWNLOAD = "Download is starting"
_ELSEWHERE = ("context was destroyed", "Cannot find context", "rame was detached", "not attached", "not connected")
_INTERRUPTED = "interrupted by another navigation"


def code_of(failure: str) -> Code:
    """Name what kept a page from being loaded, by the browser's words for it."""
    found = _NET.search(failure)
    if found is None:
        return Code.NETWORK_CONNECTION_FAILED
    if found[1].startswith(_TLS):
        return Code.NETWORK_TLS_FAILED
    return _CODES.get(found[1], Code.NETWORK_CONNECTION_FAILED)


def redirects(request: Request) -> int:
    """Count the redirects that led to a request."""
    count, former = 0, request.redirected_from
    while former is not None:
        count, former = count + 1, former.redirected_from
    return count


def is_crash(error: Error) -> bool:
    """Whether the page, the browser or its driver is gone."""
    return any(sign in error.message for sign in _CRASHES)


def is_timeout(error: Error) -> bool:
    """Whether the time that was given is over."""
    return isinstance(error, TimeoutError)


def is_download(error: Error) -> bool:
    """Whether the address leads to a file that the browser does not show."""
    return _DOWNLOAD in error.message


def is_interrupted(error: Error) -> bool:
    """Whether the page went elsewhere by itself meanwhile."""
    return _INTERRUPTED in error.message


def is_elsewhere(error: Error) -> bool:
    """Whether the page has gone elsewhere, or drawn itself again, under what was done to it."""
    return any(sign in error.message for sign in _ELSEWHERE)


def no_room(message: str) -> Fault:
    """Say that there are as many tabs as there may be, and what makes room."""
    actions = (
        Action(action="close_tab", description="Close a tab that is not needed any more.", tool_to_use="close_tab"),
        Action(
            action="close_session",
            description="Or end a session that is not needed any more.",
            tool_to_use="close_session",
            priority=2,
        ),
    )
    return fault(Code.INTERNAL_BUSY, message, actions=actions)
