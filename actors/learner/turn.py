"""Which replica of the learner acts: one at a time, on all hosts together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from bus.stores import KeyTable
from protocol.codec import MalformedError
from protocol.models import LearnerTurn

ROUTES_TURN: Final = "turn"
PATTERNS_TURN: Final = "patterns"


class ReplicaTurn(Struct, frozen=True):
    """The turn of a replica at what `key` names: it lasts `lease_ms` from when it was last taken.

    Nobody waits for a dead one longer.
    """

    table: KeyTable[LearnerTurn]
    replica: str
    lease_ms: int
    clock: Callable[[], int]
    key: str = ROUTES_TURN

    async def take(self) -> bool:
        """Take the turn, or keep it; returns whether this replica has it."""
        try:
            entry = await self.table.get(self.key)
        except MalformedError:
            return False
        now_ms = self.clock()
        if entry is not None and entry.value is not None:
            other = entry.value.replica != self.replica
            if other and entry.value.until > now_ms:
                return False
        return await self._put(now_ms + self.lease_ms, 0 if entry is None else entry.revision)

    async def leave(self) -> None:
        """Release the turn to another replica at once, if this one has it."""
        entry = await self.table.get(self.key)
        if entry is not None and entry.value is not None and entry.value.replica == self.replica:
            await self._put(0, entry.revision)

    async def _put(self, until: int, revision: int) -> bool:
        try:
            await self.table.put(self.key, LearnerTurn(replica=self.replica, until=until), revision=revision)
        except ValueError:  # another was faster
            return False
        return True
