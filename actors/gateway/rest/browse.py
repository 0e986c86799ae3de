"""The endpoints that read pages, look ahead what reading would take, and tell what is known of a domain."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, structs
from starlette.responses import Response

from actors.gateway import patterns
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import RUNTIME_CODES, http_status, to_error
from actors.gateway.http import answer
from actors.gateway.pages import (
    BatchItem,
    BatchRequest,
    BatchResult,
    ItemStatus,
    browse,
    browse_all,
    check_scope,
    summary,
    with_login,
)
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Endpoint, Tag
from actors.gateway.rest.streaming import EventStream
from actors.sites import site_of
from protocol.actions import Action
from protocol.browse import BrowseOptions, BrowseResult, contradiction
from protocol.domains import AskDomain, DomainKnowledge, Preview
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage, Url
from protocol.sessions import ListSessions
from protocol.subjects import DOMAIN, PREVIEW, SESSION_LIST

MAX_REPLY_BYTES = 8 * 1024 * 1024
"""What a batch answers with at most; pages beyond it are to be asked for again."""

VARY = {"Vary": "Accept"}
NO_PAGE_CODES = RUNTIME_CODES | {
    Code.SESSION_NOT_FOUND,
    Code.VALIDATION_UNKNOWN_CONVERSATION,
    Code.VALIDATION_UNKNOWN_COLLECTION,
    Code.VALIDATION_UNKNOWN_SOURCE,
    Code.VALIDATION_UNKNOWN_APPROVAL,
    Code.VALIDATION_UNKNOWN_FLOW,
    Code.VALIDATION_UNKNOWN_TASK,
    Code.VALIDATION_UNKNOWN_CHAT,
    Code.VALIDATION_UNKNOWN_PATTERN,
    Code.VALIDATION_TASK_OVER,
    Code.VALIDATION_CHAT_ARCHIVED,
    Code.VALIDATION_SESSION_HELD,
    Code.VALIDATION_SESSION_NOT_HELD,
    Code.CONFIG_STORAGE_FULL,
}
"""What is said of runs, browser sessions and conversations, never of a page."""
PAGE_ERRORS = frozenset(http_status(fault(code)) for code in set(Code) - NO_PAGE_CODES)
LOOK_ERRORS = frozenset({500, 501, 503, 504})
PAGE_EXAMPLE = {"url": "https://example.com/", "options": {"maxCostTier": "lightweight"}}
BATCH_EXAMPLE = {"urls": ["https://example.com/", "https://example.org/"], "concurrency": 2}

_FULL = fault(
    Code.CONTENT_TOO_LARGE,
    f"The page was read, but the answer to a batch has {MAX_REPLY_BYTES} bytes at most.",
    actions=(
        Action(action="ask_again", description="Ask for this page again: alone, or in a smaller batch."),
        Action(action="cut_pages", description="Set options.maxChars, and read on by cursor.", priority=2),
    ),
)

_INNER, _OUTER = r"[^\x00-,./:-@\[-^`{-\x7f]", r"[^\x00-/:-@\[-^`{-\x7f]"
"""What stands within a label of a host, and at its ends: of ASCII letters, digits, `_` (and `-`), and all the rest."""

_FIRST = r"[^\x00-@\[-`{-\x7f]"
_LABEL = rf"{_OUTER}(?:{_INNER}{{0,61}}{_OUTER})?"
_NAME = rf"(?:{_LABEL}\.){{0,8}}{_FIRST}(?:{_INNER}{{0,61}}{_OUTER})?"
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_PORT = r"(?::(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
_HOST = rf"(?:{_NAME}|{_BYTE}(?:\.{_BYTE}){{3}}){_PORT}"

HOST = rf"^{_HOST}$(?!\n)"
"""A host name or an IPv4 address, perhaps with a port; which letters outside ASCII name a host, UTS 46 says."""

SITE = rf"^(?:https?://)?{_HOST}(?:[/?#][!-~]*)?$(?!\n)"
"""The same, or an address there."""

DOMAIN_ERRORS = frozenset({500, 503, 504})


class BrowseRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A page to read, and how."""

    url: Url
    options: BrowseOptions = BrowseOptions()


async def read(app: AppContext, request: RequestContext, arguments: BrowseRequest) -> BrowseResult:
    """Read a page."""
    return await browse(app, request, BrowsePage(url=arguments.url, options=arguments.options))


async def read_many(app: AppContext, request: RequestContext, arguments: BatchRequest) -> BatchResult:
    """Read many pages, as many as go into one answer.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, for options that no page could be read with, or
            AUTH_INSUFFICIENT_SCOPE.
    """
    check_scope(request, arguments.options)
    if (failure := contradiction(arguments.options)) is not None:
        raise FaultError(failure)
    return fitted(await browse_all(app, request, arguments))


async def look_ahead(app: AppContext, request: RequestContext, arguments: BrowseRequest) -> Preview:
    """Return what would be done for a page."""
    page = BrowsePage(url=arguments.url, options=arguments.options)
    page = await with_login(app, request, page)
    return await app.bus.call(PREVIEW, page, wait_ms=app.grace_ms)


def fitted(result: BatchResult, max_bytes: int = MAX_REPLY_BYTES) -> BatchResult:
    """Leave out the pages for which there is no room, and say how they are to be had."""
    if len(msgspec.json.encode(result)) <= max_bytes:
        return result
    room, items = max_bytes, list[BatchItem]()
    for item in result.items:
        size = len(msgspec.json.encode(item))
        if size > room and item.result is not UNSET:
            item = structs.replace(item, status=ItemStatus.ERROR, result=UNSET, error=to_error(_FULL.at(url=item.url)))  # noqa: PLW2901 - the item as it is told
            size = len(msgspec.json.encode(item))
        room -= size
        items.append(item)
    return structs.replace(result, items=tuple(items), summary=summary(items))


async def _browse(app: AppContext, request: RequestContext, arguments: BrowseRequest) -> Response:
    return answer(await read(app, request, arguments), headers=VARY)


async def _browse_events(app: AppContext, request: RequestContext, arguments: BrowseRequest) -> Response:
    return EventStream(app, request, lambda watched: read(app, watched, arguments))


async def _batch(app: AppContext, request: RequestContext, arguments: BatchRequest) -> Response:
    return answer(await read_many(app, request, arguments), headers=VARY)


async def _batch_events(app: AppContext, request: RequestContext, arguments: BatchRequest) -> Response:
    return EventStream(app, request, lambda watched: read_many(app, watched, arguments))


async def _preview(app: AppContext, request: RequestContext, arguments: BrowseRequest) -> Response:
    return answer(await look_ahead(app, request, arguments))


class DomainRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which domain is meant."""

    domain: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=253,
            pattern=HOST,
            description="Host name in letters of any kind, with its port where that is not the usual one.",
        ),
    ]


async def know(app: AppContext, request: RequestContext, arguments: DomainRequest) -> DomainKnowledge:
    """Return what is known of a domain.

    Logins are counted for whoever may look after them; when and how often it was visited is the operator's to know.
    """
    question = AskDomain(domain=arguments.domain, visits=Scope.OPERATE in request.caller.scopes)
    known = await app.bus.call(DOMAIN, question, wait_ms=app.grace_ms)
    known = structs.replace(known, patterns=await patterns.of_domain(app, request, arguments.domain))
    if Scope.SESSIONS not in request.caller.scopes:
        return known
    logins = await app.bus.call(SESSION_LIST, ListSessions(caller=request.caller.name), wait_ms=app.grace_ms)
    site = site_of(arguments.domain)
    return structs.replace(known, saved_logins=sum(one.domain == site for one in logins.sessions))


async def _domain(app: AppContext, request: RequestContext, arguments: DomainRequest) -> Response:
    return answer(await know(app, request, arguments))


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/api/browse",
        name="browse",
        summary="Read a web page as Markdown, with a confidence on every field.",
        about="Takes the cheapest tier that works, and climbs to a real browser where the page needs one.",
        run=_browse,
        events=_browse_events,
        body=BrowseRequest,
        answer=BrowseResult,
        errors=PAGE_ERRORS,
        tag=Tag.PAGES,
        example=PAGE_EXAMPLE,
        mends=True,
    ),
    Endpoint(
        method="POST",
        path="/api/browse/batch",
        name="browseBatch",
        summary="Read many pages; each has an outcome of its own.",
        about="The robots.txt of each site is obeyed. One page that fails never ends the batch. The answer has "
        f"{MAX_REPLY_BYTES // 1024 // 1024} MiB at most: a page beyond that is an error that says how to get it.",
        run=_batch,
        events=_batch_events,
        body=BatchRequest,
        answer=BatchResult,
        errors=LOOK_ERRORS,
        tag=Tag.PAGES,
        example=BATCH_EXAMPLE,
    ),
    Endpoint(
        method="POST",
        path="/api/browse/preview",
        name="previewBrowse",
        summary="Tell what reading a page would take and cost, without fetching anything.",
        about="The tiers in the order in which they would be tried, with the reason, the expected latency and the cost "
        "units of each; whether a stored answer would do; and what stands in the way: robots.txt as far as it is known "
        "already, the pace at which the site is asked, tiers that do not run.",
        run=_preview,
        body=BrowseRequest,
        answer=Preview,
        errors=LOOK_ERRORS,
        tag=Tag.PAGES,
        example=PAGE_EXAMPLE,
    ),
)
DOMAIN_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/domains/{domain}",
        name="getDomain",
        summary="Tell what is known of a domain.",
        about="The tiers that worked there, how often and when, where a visit would begin and why, the pace at which "
        "it is asked, its robots.txt as far as it is known, the APIs that were learned with how far each is trusted, "
        "and how many logins are saved for it (for keys with the scope `sessions`). `known` is false where nobody has "
        "visited it.",
        run=_domain,
        params=DomainRequest,
        answer=DomainKnowledge,
        errors=DOMAIN_ERRORS,
        tag=Tag.DOMAINS,
        example={"domain": "example.com"},
    ),
)
