"""What must be written or read although the server of the bus is away for a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import stamina

from bus.errors import StorageFullError, TransportError

T = TypeVar("T")


async def wait_out(call: Callable[[], Awaitable[T]], limit_s: float) -> T:
    """Call, and call again until the bus is back; what may have been done by a call that failed must bear a second.

    Raises:
        TransportError: the bus is still away after `limit_s`, or there is no room on its disk.
    """
    async for attempt in stamina.retry_context(
        on=_passes, attempts=None, timeout=limit_s, wait_initial=0.02, wait_max=1.0, wait_jitter=0.05
    ):
        with attempt:
            return await call()
    raise AssertionError  # pragma: no cover - it returns or raises


def _passes(error: Exception) -> bool:
    """Return whether it is worth to wait: room on a disk is made by people."""
    return isinstance(error, TransportError) and not isinstance(error, StorageFullError)
