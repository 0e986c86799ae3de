"""The faults of the browser tier: what an error of Playwright's means, and why an operation is refused."""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs
from playwright.async_api import Error, Request, TimeoutError  # noqa: A004 - its name

from actors.web.codings import DAMAGED
from protocol.actions import REPORT, RETRY, Action, ranked
from protocol.browsers.pageinfo import PastDialog
from protocol.faults import Code, Fault, FaultError, fault

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
_UNPACKED = "ERR_CONTENT_DECODING_FAILED"
_TLS = ("ERR_CERT_", "ERR_SSL_", "ERR_BAD_SSL_")
_CRASHES = ("Page crashed", "Target crashed", "Target closed", "has been closed", "Connection closed")
_RESTLESS, _PERFORMING = "element is not stable", "performing"
_DOWNLOAD = "Download is starting"
_ELSEWHERE = ("context was destroyed", "Cannot find context", "rame was detached", "not attached", "not connected")
_INTERRUPTED = "interrupted by another navigation"
_DETACHED = ("not attached", "not connected")
_NAVIGATED = ("context was destroyed", "Cannot find context", "navigat")

_ANSWER = Action(action="handle_dialog", description="Answer the dialog, then go on.", tool_to_use="handle_dialog")
_READ = Action(
    action="get_dialog_info", description="See what the dialog says.", tool_to_use="get_dialog_info", priority=2
)


def code_of(failure: str) -> Code:
    """Map Chromium's error text of a page that was not loaded to a code."""
    match = _NET.search(failure)
    if match is None:
        return Code.NETWORK_CONNECTION_FAILED
    if match[1].startswith(_TLS):
        return Code.NETWORK_TLS_FAILED
    return _CODES.get(match[1], Code.NETWORK_CONNECTION_FAILED)


def load_fault(failure: str) -> Fault:
    """Return the fault of a page that was not loaded, by Chromium's error text."""
    return fault(code_of(failure), DAMAGED if _UNPACKED in failure else None)


def redirects(request: Request) -> int:
    """Count the redirects that led to a request."""
    count, former = 0, request.redirected_from
    while former is not None:
        count, former = count + 1, former.redirected_from
    return count


def is_crash(error: Error) -> bool:
    """Whether the page, the browser or its driver is gone."""
    return any(sign in error.message for sign in _CRASHES)


def crashed(excess: int) -> Fault:
    """Build the fault of a page that is gone; `excess` is the limit of memory that ended it, in bytes, if one did."""
    if not excess:
        return fault(Code.PAGE_CRASHED)
    return fault(Code.PAGE_CRASHED, f"The page was ended: it took more than {excess // 1_000_000} MB of memory.")


FLOODED: Final = fault(
    Code.PAGE_CRASHED,
    "The page was ended: it floods the browser with events, such as console lines or requests.",
)


def is_timeout(error: Error) -> bool:
    """Whether the time that was given is over."""
    return isinstance(error, TimeoutError)


def is_restless(error: Error) -> bool:
    """Whether the time was over before an element stood still; nothing was done to it."""
    return is_timeout(error) and _RESTLESS in error.message and _PERFORMING not in error.message


def is_download(error: Error) -> bool:
    """Whether the address leads to a file that the browser does not show."""
    return _DOWNLOAD in error.message


def is_interrupted(error: Error) -> bool:
    """Whether another navigation of the page replaced ours."""
    return _INTERRUPTED in error.message


def is_elsewhere(error: Error) -> bool:
    """Whether the page navigated or re-rendered during the call."""
    return any(sign in error.message for sign in _ELSEWHERE)


def is_detached(error: Error) -> bool:
    """Whether the element is no longer in the page."""
    return any(sign in error.message for sign in _DETACHED)


def is_navigated(error: Error) -> bool:
    """Whether an action on an element led to another document."""
    return any(sign in error.message for sign in _NAVIGATED)


def no_room(message: str) -> Fault:
    """Build the fault of a full browser or session, with the actions that make room."""
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


def dialog_waits(dialog: PastDialog) -> FaultError:
    """Build the fault of an unanswered dialog; its message is text of the web, and not part of it."""
    message = f"A dialog ({dialog.type}) of the page waits for an answer: the page does nothing before it has one."
    return FaultError(fault(Code.EXECUTION_ERROR, message, actions=(_ANSWER, _READ)))


def invalid(field: str, message: str) -> FaultError:
    """Build the fault of an invalid argument, by its name in the tool."""
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, f"{field}: {message}", field=field))


def not_done(message: str, *, field: str | None = None) -> FaultError:
    """Build the fault of an operation that failed on the page."""
    return FaultError(fault(Code.EXECUTION_ERROR, message, field=field))


def late(failure: Fault) -> FaultError:
    """Return the fault of a page that takes too long without the advice to allow it more: no tool takes a time."""
    return FaultError(structs.replace(failure, actions=ranked((RETRY, REPORT))))


def hung() -> FaultError:
    """Build the fault of a page that does not respond, with the way out."""
    return FaultError(
        fault(
            Code.BROWSER_PAGE_HUNG,
            "The page does not answer: a script of it does not end.",
            actions=(
                Action(action="navigate", description="Go to an address: the tab begins anew.", tool_to_use="navigate"),
            ),
        )
    )
