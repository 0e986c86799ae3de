"""What an actor brings to MCP of its own, held out to the gateways as long as the actor lives."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import anyio
import structlog

from bus import Bus
from bus.stores import KeyTable
from protocol.faults import FaultError
from protocol.offers.offer import OFFER_AGAIN_MS, Offer
from protocol.subjects import OFFERS

log = structlog.stdlib.get_logger()

OFFER_NOT_MADE = "offer_not_made"

_LAST_WORDS_S = 1.0


@dataclass
class LiveOffer:
    """An offer that stands under `key`."""

    table: KeyTable[Offer]
    key: str
    offer: Offer

    async def change(self, offer: Offer) -> None:
        """Offer something else; raises FaultError."""
        self.offer = offer
        await self.table.put(self.key, offer)

    async def repeat(self) -> None:
        """Say again and again that it stands."""
        while True:
            try:
                await self.table.put(self.key, self.offer)
            except FaultError as error:
                log.warning(OFFER_NOT_MADE, code=error.fault.code)
            await anyio.sleep(OFFER_AGAIN_MS / 1_000)


@asynccontextmanager
async def offering(bus: Bus, actor: str, offer: Offer) -> AsyncGenerator[LiveOffer]:
    """Offer this as `actor` while the block lasts; whoever offers has to answer OFFERED under that name.

    An actor declares OFFERS in `buckets`, and in `publishes` those of OFFER_SAID and OFFER_NEWS that it tells.
    """
    standing = LiveOffer(await bus.table(OFFERS), f"{actor}.{bus.replica}", offer)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(standing.repeat)
        try:
            yield standing
        finally:
            tasks.cancel_scope.cancel()
            with anyio.move_on_after(_LAST_WORDS_S, shield=True), suppress(FaultError):
                await standing.table.delete(standing.key)
