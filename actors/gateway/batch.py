"""Reads many pages for one request: each has an outcome of its own, and one failure never ends the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

import anyio
from msgspec import UNSET, Meta, Struct, UnsetType

from actors.gateway.asking import Desk, browse
from actors.gateway.translate import to_error
from actors.gateway.watching import in_parts, report
from protocol.browse import SCHEMA_VERSION, BrowseOptions, BrowseResult, StructuredError
from protocol.faults import Action, Code, Fault, FaultError, fault
from protocol.pages import BrowsePage, Url

MAX_URLS = 50
DEFAULT_AT_ONCE = 4
MAX_AT_ONCE = 8
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


async def browse_all(desk: Desk, asked: BatchRequest) -> BatchResult:
    """Get every page within the time that the batch has; whoever watches hears of each that is done."""
    batch = _Batch(desk, asked, anyio.CapacityLimiter(asked.concurrency))
    with anyio.move_on_after(asked.timeout_ms / 1_000):
        async with anyio.create_task_group() as tasks:
            for url in dict.fromkeys(asked.urls):
                tasks.start_soon(batch.get, url)
    items = tuple(batch.item(index, url) for index, url in enumerate(asked.urls))
    return BatchResult(items=items, summary=summary(items))


def summary(items: Sequence[BatchItem]) -> BatchSummary:
    """Count how items stand."""
    counts = {status.value: sum(item.status is status for item in items) for status in ItemStatus}
    return BatchSummary(total=len(items), **counts)


def status_of(told: Fault) -> ItemStatus:
    """Return how an item stands that failed so."""
    return STATUS_OF.get(told.code, ItemStatus.ERROR)


@dataclass
class _Batch:
    """A batch under way; `outcomes` holds what is done, by address."""

    desk: Desk
    asked: BatchRequest
    room: anyio.CapacityLimiter
    begun: set[str] = field(default_factory=set[str])
    outcomes: dict[str, BrowseResult | Fault] = field(default_factory=dict[str, BrowseResult | Fault])

    async def get(self, url: str) -> None:
        """Get one page when there is room for it."""
        page = BrowsePage(url=url, options=self.asked.options, obey_robots=True)
        async with self.room:
            self.begun.add(url)
            try:
                with in_parts():
                    self.outcomes[url] = await browse(self.desk.bus, page, self.desk.grace_ms)
            except FaultError as error:
                self.outcomes[url] = error.fault
        done, total = sum(url in self.outcomes for url in self.asked.urls), len(self.asked.urls)
        report(done, f"{done} of {total} pages", total)

    def item(self, index: int, url: str) -> BatchItem:
        """Return what became of one address."""
        outcome = self.outcomes.get(url)
        status = ItemStatus.SUCCESS
        if outcome is None:
            outcome = _TOO_LATE.at(url=url)
            status = ItemStatus.TIMEOUT if url in self.begun else ItemStatus.SKIPPED
        elif isinstance(outcome, Fault):
            status = status_of(outcome)
        first = self.asked.urls.index(url)
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
