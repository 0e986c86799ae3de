"""What the gateway needs of the bus, and the one question that it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from actors.gateway.translate import to_result
from bus.stats import Meter, Replica
from protocol.browse import BrowseResult
from protocol.faults import FaultError
from protocol.pages import BrowsePage
from protocol.subjects import BROWSE, Call

A = TypeVar("A")
R = TypeVar("R")


class Asking(Protocol):
    """What the gateway needs of the bus."""

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        """Ask, and return the answer; raises FaultError."""
        ...

    def meter(self, subject: str) -> Meter:
        """Give a meter for what comes in here."""
        ...

    async def replicas(
        self, wait_ms: int = 200, *, enough: Callable[[list[Replica]], bool] | None = None
    ) -> tuple[Replica, ...]:
        """Find every live replica that answers within `wait_ms`; `enough` ends the wait earlier. Raises FaultError."""
        ...


async def browse(bus: Asking, page: BrowsePage, grace_ms: int) -> BrowseResult:
    """Get a page within its budget; an actor that is being restarted gets `grace_ms` to come back.

    Raises:
        FaultError: why there is none, told with the address.
    """
    try:
        browsed = await bus.call(BROWSE, page, timeout_ms=page.options.max_latency_ms, wait_ms=grace_ms)
    except FaultError as error:
        if error.fault.context is not None:
            raise
        raise FaultError(error.fault.at(url=page.url)) from None
    return to_result(browsed, page.options)
