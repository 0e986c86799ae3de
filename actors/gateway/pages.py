"""Reads pages for a client, one or many: in a batch each has an outcome of its own, and one failure never ends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

import anyio
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.errors import to_error
from actors.gateway.recovery import MAX_PROFILES, FailedCall, reachable, recovered, site_or_nothing
from actors.gateway.request import RequestContext
from actors.gateway.translate import to_result
from actors.logins import PAGE_MS, login_pass
from bus.clock import now_ms
from protocol.actions import USE_SAVED, Action
from protocol.browse import SCHEMA_VERSION, BrowseOptions, BrowseResult, Freshness, StructuredError
from protocol.faults import Code, Fault, FaultError, fault
from protocol.pages import BrowsePage, Url
from protocol.sessions import ListSessions, NamedSession, SessionHealth
from protocol.subjects import BROWSE, SESSION_HEALTH, SESSION_LIST
from protocol.tools.web import DEFAULT_AT_ONCE, MAX_AT_ONCE, MAX_URLS
from protocol.urls import without_userinfo

OPTIONS = "options."
"""What stands before the name of an option where options have a place of their own."""

_TELL_MS = 500
"""What the navigator gets beyond the time of a page, to say what came of it."""

_LOOK_MS = 2_000
"""What looking for saved logins may take, once a page was not to be had."""

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000


class ItemStatus(StrEnum):
    """What became of one address of a batch."""

    SUCCESS = "success"
    ERROR = "error"
    SKIPPED = "skipped"
    """It was not asked for: robots.txt forbids it, or the time was over before its turn came."""
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"


STATUS_OF: Mapping[Code, ItemStatus] = MappingProxyType(
    {
        Code.RATE_LIMIT_EXCEEDED: ItemStatus.RATE_LIMITED,
        Code.BLOCKED_RATE_LIMITED: ItemStatus.RATE_LIMITED,
        Code.BLOCKED_BY_ROBOTS: ItemStatus.SKIPPED,
        Code.NETWORK_TIMEOUT: ItemStatus.TIMEOUT,
        Code.INTERNAL_DEADLINE: ItemStatus.TIMEOUT,
    }
)
"""How an item stands that failed with one of these codes; all others are errors."""


class BatchRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The pages to read, how each is read, how many at once, and how long all of it may take.

    The robots.txt of each site is obeyed. An address that stands there twice is asked for once.
    """

    urls: Annotated[tuple[Url, ...], Meta(min_length=1, max_length=MAX_URLS, description="Full addresses.")]
    options: Annotated[BrowseOptions, Meta(description="For each page, as browse takes them.")] = BrowseOptions()
    concurrency: Annotated[int, Meta(ge=1, le=MAX_AT_ONCE, description="Pages at once.")] = DEFAULT_AT_ONCE
    timeout_ms: Annotated[int, Meta(ge=1, le=MAX_TIMEOUT_MS, description="Milliseconds for the whole batch.")] = (
        DEFAULT_TIMEOUT_MS
    )


class BatchItem(Struct, frozen=True, kw_only=True, rename="camel"):
    """One address of a batch: its page, or why there is none. `same_as` is the place of an equal one, which tells."""

    url: str
    status: ItemStatus
    result: BrowseResult | UnsetType = UNSET
    error: StructuredError | UnsetType = UNSET
    same_as: int | UnsetType = UNSET


class BatchSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """How many items stand how."""

    total: int
    success: int = 0
    error: int = 0
    skipped: int = 0
    rate_limited: int = 0
    timeout: int = 0


class BatchResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """The items of a batch, in the order of their addresses."""

    items: tuple[BatchItem, ...]
    summary: BatchSummary
    schema_version: str = SCHEMA_VERSION


async def browse(
    app: AppContext, request: RequestContext, page: BrowsePage, *, for_model: bool = False
) -> BrowseResult:
    """Get a page within its budget; an actor that is being restarted gets the time to come back.

    A model gets as much of the page at once as it can take, unless a length was asked for. Whoever watches the request
    hears how far it is.

    Raises:
        FaultError: why there is none, with the address.
    """
    if page.watch is None and request.watch is not None:
        page = structs.replace(page, watch=request.watch)
    try:
        page = await with_login(app, request, page)
        most_ms = page.options.max_latency_ms + _TELL_MS
        browsed = await app.bus.call(BROWSE, _continued(page), timeout_ms=most_ms, wait_ms=app.grace_ms)
    except FaultError as error:
        raise FaultError(await advised(app, request, error.fault, page)) from None
    request.usage.page_read(browsed.page.tier, browsed.pages)
    try:
        return to_result(browsed, page.options, for_model=for_model)
    except FaultError as error:
        raise FaultError(error.fault.of_field(f"{OPTIONS}{error.fault.field}")) from None


def check_scope(request: RequestContext, options: BrowseOptions) -> None:
    """Let a saved login be used by those alone who may look after them.

    Raises:
        FaultError: AUTH_INSUFFICIENT_SCOPE.
    """
    if options.session_profile is not None:
        request.caller.require(Scope.SESSIONS)


async def with_login(app: AppContext, request: RequestContext, page: BrowsePage) -> BrowsePage:
    """Return a page with the right to the login that it is to be read with, whether the page wants one or not.

    Raises:
        FaultError: AUTH_INSUFFICIENT_SCOPE or AUTH_MISSING_SESSION.
    """
    check_scope(request, page.options)
    profile, site = page.options.session_profile, site_or_nothing(page.url)
    caller = request.caller.name
    if profile is None or not site:
        return structs.replace(page, reader=caller if profile is None else "")
    named = NamedSession(domain=site, profile=profile, caller=caller)
    if (await app.bus.call(SESSION_HEALTH, named, wait_ms=app.grace_ms)).health is SessionHealth.NOT_FOUND:
        message = f"No session is saved for {site} in the profile {profile}."
        raise FaultError(fault(Code.AUTH_MISSING_SESSION, message, field=f"{OPTIONS}sessionProfile"))
    passed = login_pass(app.bus.seal, caller, profile, page.url, now_ms() + PAGE_MS)
    return structs.replace(page, caller=caller, login=passed)


async def advised(app: AppContext, request: RequestContext, failure: Fault, page: BrowsePage) -> Fault:
    """Return why a page was not to be had, with the next calls as a whole, in the form of REST."""
    failure = failure if failure.context is not None else failure.at(url=page.url)
    profiles: tuple[str, ...] = ()
    if any(action.action == USE_SAVED.action for action in failure.actions):
        profiles = await _saved_profiles(app, request, page.url)
    failure = recovered(FailedCall(without_userinfo(page.url), page.options, failure, profiles))
    failure = reachable(failure, local=request.caller.local)
    if failure.code is Code.AUTH_MISSING_SESSION and profiles:
        names = ", ".join(profiles[:MAX_PROFILES])
        failure = structs.replace(failure, message=f"{failure.message.removesuffix('.')}. Saved for this site: {names}")
    return failure


async def _saved_profiles(app: AppContext, request: RequestContext, url: str) -> tuple[str, ...]:
    """Return the profiles with a login for the site of an address, as far as the caller may use them; the best first.

    What goes wrong here is no reason to say less of the page.
    """
    site = site_or_nothing(url)
    if not site or Scope.SESSIONS not in request.caller.scopes:
        return ()
    try:
        logins = await app.bus.call(SESSION_LIST, ListSessions(caller=request.caller.name), timeout_ms=_LOOK_MS)
    except FaultError:
        return ()
    there = [one for one in logins.sessions if one.domain == site]
    return tuple(one.profile for one in sorted(there, key=lambda one: (one.health is SessionHealth.EXPIRED, -one.used)))


def _continued(page: BrowsePage) -> BrowsePage:
    """Ask for the page that was begun, not for a newer one, where a cursor goes on reading it."""
    options = page.options
    if options.cursor is None or options.freshness_requirement is not Freshness.ANY:
        return page
    return structs.replace(page, options=structs.replace(options, freshness_requirement=Freshness.CACHED))


async def browse_all(app: AppContext, request: RequestContext, pages: BatchRequest) -> BatchResult:
    """Get every page within the time that the batch has; whoever watches hears of each that is done."""
    batch = _Batch(app, request, pages, anyio.CapacityLimiter(pages.concurrency))
    with anyio.move_on_after(pages.timeout_ms / 1_000):
        async with anyio.create_task_group() as tasks:
            for url in dict.fromkeys(pages.urls):
                tasks.start_soon(batch.get, url)
    items = tuple(batch.item(index, url) for index, url in enumerate(pages.urls))
    return BatchResult(items=items, summary=summary(items))


def summary(items: Sequence[BatchItem]) -> BatchSummary:
    """Count how items stand."""
    counts = {status.value: sum(item.status is status for item in items) for status in ItemStatus}
    return BatchSummary(total=len(items), **counts)


def status_of(failure: Fault) -> ItemStatus:
    """Return how an item stands that failed so."""
    return STATUS_OF.get(failure.code, ItemStatus.ERROR)


@dataclass
class _Batch:
    """A batch in flight; `outcomes` holds what is done, by address."""

    app: AppContext
    request: RequestContext
    pages: BatchRequest
    at_once: anyio.CapacityLimiter
    begun: set[str] = field(default_factory=set[str])
    outcomes: dict[str, BrowseResult | Fault] = field(default_factory=dict[str, BrowseResult | Fault])

    async def get(self, url: str) -> None:
        """Get one page when there is room for it."""
        page = BrowsePage(url=url, options=self.pages.options, obey_robots=True)
        async with self.at_once:
            self.begun.add(url)
            try:
                part = self.request.watched_by(None)  # what is reported are whole pages
                self.outcomes[url] = await browse(self.app, part, page)
            except FaultError as error:
                self.outcomes[url] = error.fault
        done, total = sum(url in self.outcomes for url in self.pages.urls), len(self.pages.urls)
        self.request.report(done, f"{done} of {total} pages", total)

    def item(self, index: int, url: str) -> BatchItem:
        """Return what became of one address."""
        outcome = self.outcomes.get(url)
        status = ItemStatus.SUCCESS
        if outcome is None:
            outcome = _TOO_LATE.at(url=url)
            status = ItemStatus.TIMEOUT if url in self.begun else ItemStatus.SKIPPED
        elif isinstance(outcome, Fault):
            status = status_of(outcome)
        first, url = self.pages.urls.index(url), without_userinfo(url)
        if first != index:
            return BatchItem(url=url, status=status, same_as=first)
        if isinstance(outcome, Fault):
            return BatchItem(url=url, status=status, error=to_error(outcome))
        return BatchItem(url=url, status=status, result=outcome)


_TOO_LATE = fault(
    Code.INTERNAL_DEADLINE,
    "The time for the whole batch was over.",
    actions=(Action(action="ask_again", description="Ask again for what is missing, or give the batch more time."),),
)
