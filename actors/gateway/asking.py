"""What the gateway needs of the bus, and the question that every way in asks."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import anyio
from msgspec import structs

from actors.gateway.access.caller import Scope, require
from actors.gateway.access.ring import KeyRing
from actors.gateway.access.usage import Ledger, page_read
from actors.gateway.translate import to_result
from actors.gateway.watching import Watchers, watch
from actors.sites import site_of
from bus.ids import new_id
from bus.objects import Store
from bus.seal import Seal
from bus.stats import Meter, Replica
from bus.table import Table
from protocol.browse import BrowseOptions, BrowseResult, Freshness
from protocol.faults import Code, Fault, FaultError
from protocol.pages import BrowsePage
from protocol.subjects import BROWSE, Bucket, Call, Event, Objects

REFRESH_SESSION = "refresh_session"
"""The action that renews a login, and the tool that does it."""

NAMING_BYTES = 32

A = TypeVar("A")
R = TypeVar("R")


class Asking(Protocol):
    """What the gateway needs of the bus."""

    @property
    def seal(self) -> Seal | None:
        """What encrypts a login before it travels, for a gateway that was given the key."""
        ...

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        """Ask, and return the answer; raises FaultError."""
        ...

    async def table(self, bucket: Bucket[A]) -> Table[A]:
        """Return the values of a bucket; raises FaultError."""
        ...

    async def objects(self, entry: Objects) -> Store:
        """Return the files of an object store."""
        ...

    async def tell(self, event: Event[A], args: A) -> None:
        """Tell whoever listens; raises FaultError."""
        ...

    def meter(self, subject: str) -> Meter:
        """Return a meter for what comes in here."""
        ...

    async def replicas(
        self, wait_ms: int = 200, *, enough: Callable[[list[Replica]], bool] | None = None
    ) -> tuple[Replica, ...]:
        """Find every live replica that answers within `wait_ms`; `enough` ends the wait earlier. Raises FaultError."""
        ...


@dataclass(frozen=True)
class Desk:
    """What the endpoints and the tools work with; `grace_ms` is what an actor that is being restarted gets.

    `naming` is the secret by which a caller's own browser session gets its id: one that all replicas have, so that each
    finds the session. `closing` is set when this replica ends what it has in hand: no client has left then.
    """

    bus: Asking
    grace_ms: int
    version: str
    watchers: Watchers = field(default_factory=lambda: Watchers(new_id()))
    naming: bytes = field(default_factory=lambda: secrets.token_bytes(NAMING_BYTES), repr=False)
    keys: KeyRing = field(default_factory=KeyRing)
    ledger: Ledger = field(default_factory=Ledger)
    closing: anyio.Event = field(default_factory=anyio.Event)


async def browse(bus: Asking, page: BrowsePage, grace_ms: int, *, for_model: bool = False) -> BrowseResult:
    """Get a page within its budget; an actor that is being restarted gets `grace_ms` to come back.

    A model gets as much of the page at once as it can take, unless a length was asked for. Whoever watches the work in
    hand hears how far it is.

    Raises:
        FaultError: why there is none, told with the address.
    """
    may_use(page.options)
    if page.watch is None and (who := watch()) is not None:
        page = structs.replace(page, watch=who)
    try:
        browsed = await bus.call(BROWSE, _going_on(page), timeout_ms=page.options.max_latency_ms, wait_ms=grace_ms)
    except FaultError as error:
        told = with_login(error.fault, page)
        raise FaultError(told if told.context is not None else told.at(url=page.url)) from None
    page_read(browsed.page.tier, browsed.pages)
    return to_result(browsed, page.options, for_model=for_model)


def may_use(options: BrowseOptions) -> None:
    """Let a saved login be used by those alone who may look after them.

    Raises:
        FaultError: AUTH_INSUFFICIENT_SCOPE.
    """
    if options.session_profile is not None:
        require(Scope.SESSIONS)


def with_login(told: Fault, page: BrowsePage) -> Fault:
    """Say which login is to be renewed, where that is what a fault advises."""
    profile = page.options.session_profile
    if told.code is not Code.AUTH_SESSION_EXPIRED or profile is None:
        return told
    parameters = {"domain": site_of(page.url, "url"), "profile": profile}
    return structs.replace(
        told,
        actions=tuple(
            structs.replace(action, parameters=parameters) if action.action == REFRESH_SESSION else action
            for action in told.actions
        ),
    )


def _going_on(page: BrowsePage) -> BrowsePage:
    """Whoever goes on reading wants the page that was begun, not a newer one."""
    options = page.options
    if options.cursor is None or options.freshness_requirement is not Freshness.ANY:
        return page
    return structs.replace(page, options=structs.replace(options, freshness_requirement=Freshness.CACHED))
