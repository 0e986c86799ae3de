"""How packets travel: the bus as actors see it, over NATS or in memory."""

from __future__ import annotations

from bus.bus import Bus
from bus.context import conversation, remaining_ms
from bus.errors import BusyError, DeadlineError, DisconnectedError, NoResponderError, TransportError
from bus.tracing import span

__all__ = [
    "Bus",
    "BusyError",
    "DeadlineError",
    "DisconnectedError",
    "NoResponderError",
    "TransportError",
    "conversation",
    "remaining_ms",
    "span",
]
