"""Which replica of the learner acts: one at a time, on all hosts together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bus.stores import KeyTable
from protocol.codec import MalformedError
from protocol.models import LearnerTurn

_KEY: Final = "turn"


@dataclass(frozen=True)
class ReplicaTurn:
    """The turn of a replica, which lasts `lease_ms` from when it was last taken; nobody waits for a dead one longer."""

    table: KeyTable[LearnerTurn]
    replica: str
    lease_ms: int
    clock: Callable[[], int]

    async def take(self) -> bool:
        """Take the turn, or keep it; returns whether this replica has it."""
        try:
            entry = await self.table.get(_KEY)
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
        entry = await self.table.get(_KEY)
        if entry is not None and entry.value is not None and entry.value.replica == self.replica:
            await self._put(0, entry.revision)

    async def _put(self, until: int, revision: int) -> bool:
        try:
            await self.table.put(_KEY, LearnerTurn(replica=self.replica, until=until), revision=revision)
        except ValueError:  # another was faster
            return False
        return True
