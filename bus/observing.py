"""A look at the whole bus, for its operator: what passes on it, and how that stands which is kept.

Whoever looks takes part under a name of its own (`permissions.observer`), which hears everything and says nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import anyio
from msgspec import Struct

from bus.clock import now_ms
from bus.transport import BusMessage, LineSignal, StreamFigures, Transport

MAX_HELD: Final = 2_000
"""Messages that a reader of a tap may be behind, before it loses some."""

MAX_HELD_BYTES: Final = 8 * 1024 * 1024

_END_S: Final = 1.0


class TappedMessage(NamedTuple):
    """A message, and when it passed (ms since the epoch)."""

    message: BusMessage
    at: int


@dataclass
class Tap:
    """What passes on a subject, for one reader; what there is no room for is lost, and counted."""

    _transport: Transport
    _held: deque[TappedMessage] = field(default_factory=deque[TappedMessage])
    _bytes: int = 0
    _lost: int = 0
    _signal: LineSignal = field(default_factory=LineSignal)

    async def hear(self, message: BusMessage) -> None:
        """Hold a message, if there is room."""
        if len(self._held) >= MAX_HELD or self._bytes + len(message.payload) > MAX_HELD_BYTES:
            self._lost += 1
        else:
            self._held.append(TappedMessage(message, now_ms()))
            self._bytes += len(message.payload)
        self._signal.set()

    @property
    def lost(self) -> int:
        """How many messages were lost since the start, before they reached us included."""
        return self._lost + self._transport.slow

    async def take(self, most: int) -> list[TappedMessage]:
        """Return the next messages in their order, `most` at most, as soon as there is one."""
        while not self._held:
            await self._signal.wait()
        taken = [self._held.popleft() for _ in range(min(most, len(self._held)))]
        self._bytes -= sum(len(one.message.payload) for one in taken)
        return taken


class Observer(Struct, frozen=True):
    """One who looks, over a connection of its own."""

    transport: Transport

    async def streams(self) -> tuple[StreamFigures, ...]:
        """Return how all that is kept stands, by name.

        Raises:
            TransportError: it cannot be had.
        """
        return await self.transport.streams()

    @asynccontextmanager
    async def tap(self, subject: str) -> AsyncGenerator[Tap]:
        """Hold what passes on a subject, which may have wildcards, while the block lasts."""
        tap = Tap(self.transport)
        subscription = await self.transport.subscribe(subject, tap.hear)
        try:
            yield tap
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_END_S):
                await subscription.drain()
