"""The room that each key has in collections and texts: one that has filled its share leaves the rest to the others."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import anyio
from msgspec import structs

from bus import Bus
from protocol.actions import OPERATOR, Action
from protocol.collection_views import AskKeptBytes, KeptBytes
from protocol.faults import KINDS, Code, FaultError, fault
from protocol.subjects import COLLECTION_BYTES

LOOK_S: Final = 2.0
LOOK_BYTES: Final = 1024 * 1024
"""How long, and for how many bytes of its own, a replica goes by what it has heard of the room of a key."""

MAX_KNOWN: Final = 1_000

_DELETE: Final = Action(
    action="make_room",
    description="Delete collections, sources or texts that are needed no more; then send the same request again.",
)
_RAISE: Final = structs.replace(
    OPERATOR, description="Have the operator raise the setting collections_key_bytes.", priority=2
)
_MB: Final = 1_000_000


@dataclass
class KeyRoom:
    """The room of keys as one replica knows it; where nobody can say, there is some: the journal has a bound itself."""

    bus: Bus
    wait_ms: int = 0
    _left: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]], init=False)

    async def take(self, caller: str, size: int = 1) -> None:
        """Take room for what a key is to keep more.

        Raises:
            FaultError: CONFIG_STORAGE_FULL, the key has none left.
        """
        left, until = self._left.get(caller, (0.0, 0.0))
        if left < size or anyio.current_time() > until:
            kept = await self._kept(caller)
            left = kept.most - kept.kept if kept is not None and kept.most else math.inf
            if kept is not None and left < size:
                raise _full(kept)
            left, until = min(left, max(LOOK_BYTES, size)), anyio.current_time() + LOOK_S
            if len(self._left) >= MAX_KNOWN:
                self._left.clear()
        self._left[caller] = (left - size, until)

    async def _kept(self, caller: str) -> KeptBytes | None:
        try:
            return await self.bus.call(COLLECTION_BYTES, AskKeptBytes(caller=caller), wait_ms=self.wait_ms)
        except FaultError as error:
            if error.fault.code is Code.CONFIG_STORAGE_FULL or not KINDS[error.fault.code].retryable:
                raise
            return None


def _full(kept: KeptBytes) -> FaultError:
    message = (
        f"This key keeps {kept.kept // _MB} MB in collections and texts, of the {kept.most // _MB} MB that it may keep "
        "(collections_key_bytes)."
    )
    return FaultError(fault(Code.CONFIG_STORAGE_FULL, message, actions=(_DELETE, _RAISE)))
