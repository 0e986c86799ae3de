"""What of one replica of the gateway others on the bus speak to by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from actors.gateway.mcp.offers.known import Offers
from actors.gateway.mcp.transport.questions import Questions
from actors.gateway.mcp.transport.underway import Underway
from actors.gateway.request import Watchers
from protocol.subjects import OFFER_NEWS, OFFER_SAID, PROGRESS, Event


class Here:
    """A replica of the gateway, as the others know it: who waits in it for what, and what is being done."""

    def __init__(self, replica: str) -> None:
        """Begin with nothing in hand."""
        self.replica = replica
        self.watchers = Watchers(replica)
        self.questions = Questions(replica)
        self.underway = Underway()
        self.offers = Offers()

    @property
    def events(self) -> tuple[tuple[Event[Any], Callable[[Any], Awaitable[None]]], ...]:
        """Return what is told to whoever speaks MCP, and who hears it."""
        return (
            (PROGRESS, self.watchers.on_progress),
            (OFFER_SAID, self.offers.say),
            (OFFER_NEWS, self.offers.tell),
        )
