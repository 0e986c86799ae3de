"""The twin of the NATS transport in one process, for unit tests: same promises, same limits, no kinder."""

from __future__ import annotations

from bus.memory.broker import MAX_PAYLOAD, PENDING_LIMIT, Broker, MemoryTransport

__all__ = ["MAX_PAYLOAD", "PENDING_LIMIT", "Broker", "MemoryTransport"]
