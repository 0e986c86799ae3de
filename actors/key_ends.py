"""Which keys have ended, as the gateway says: whoever works for a key on its own learns from here when to stop."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog

from bus import Tables, follow
from bus.clock import now_ms
from protocol.access import KeyEnd
from protocol.faults import Code, Fault, FaultError, fault
from protocol.subjects import KEY_ENDS

log = structlog.stdlib.get_logger()

ENDS_NOT_READ = "ends_of_keys_not_read"

FIRST_READ_S: Final = 5.0
"""What reading the ends may take before work begins; those that come later are heard of."""

KEY_ENDED: Final = "The key that this was asked with is no longer good."


def key_ended() -> Fault:
    """Return why nothing is done any more that a key has asked for."""
    return fault(Code.AUTH_INVALID_CREDENTIALS, KEY_ENDED)


@dataclass
class KeyEnds:
    """When keys end or have ended, by caller; a key that has ended does not begin anew, so what is known stays."""

    clock: Callable[[], int] = now_ms
    _ends: dict[str, int] = field(default_factory=dict[str, int], init=False, repr=False)

    def has_ended(self, caller: str) -> bool:
        """Return whether the key of a caller was good, and is so no more."""
        end = self._ends.get(caller)
        return end is not None and end <= self.clock()

    def update(self, caller: str, end: KeyEnd | None, _revision: int) -> None:
        """Take in when a key ends; whose end the gateway has cleared away has ended long ago."""
        if end is not None:
            self._ends[caller] = end.at

    @asynccontextmanager
    async def watching(self, bus: Tables) -> AsyncGenerator[None]:
        """Know the ends when the block begins, unless the bus is broken, and hear of more as long as it lasts."""
        with anyio.move_on_after(FIRST_READ_S):
            await self._read(bus)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow, bus, KEY_ENDS, self.update, ENDS_NOT_READ)
            yield
            tasks.cancel_scope.cancel()

    async def _read(self, bus: Tables) -> None:
        try:
            table = await bus.table(KEY_ENDS)
            for caller in await table.names():
                if (entry := await table.get(caller)) is not None:
                    self.update(entry.key, entry.value, entry.revision)
        except FaultError as error:
            log.warning(ENDS_NOT_READ, code=error.fault.code)
