"""How packets travel: the bus as actors see it, over NATS or in memory."""

from __future__ import annotations

from bus.bus import Bus, Directory, Publisher, Requester, Tables, follow
from bus.context import conversation, remaining_ms
from bus.errors import BusyError, DeadlineError, DisconnectedError, NoResponderError, TransportError
from bus.tracing import span

__all__ = [
    "Bus",
    "BusyError",
    "DeadlineError",
    "Directory",
    "DisconnectedError",
    "NoResponderError",
    "Publisher",
    "Requester",
    "Tables",
    "TransportError",
    "conversation",
    "follow",
    "remaining_ms",
    "span",
]
