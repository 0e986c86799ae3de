"""A bus for one actor that nobody talks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from actors.sessions.actor import LoginsActor
from actors.settings import Settings
from bus import Bus
from bus.memory.stores import HeldKeys, MemoryKeys
from bus.seal import Seal, new_key
from bus.stores import KeyTable
from protocol.subject_kinds import Bucket, Objects
from tests.support.logins import Direct

SEAL = Seal.of(new_key())
"""What the passes of logins are sealed with."""


@dataclass
class Shelf:
    """A bus that keeps things and says nothing."""

    replica: str = "r1"
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])
    seal: Seal | None = None
    tables: dict[str, KeyTable[Any]] = field(default_factory=dict[str, KeyTable[Any]])

    async def call(self, call: Any, args: Any, **more: Any) -> Any:
        """Open and keep logins, which is all that is asked for."""
        actor = LoginsActor(bus=cast("Bus", Shelf(seal=SEAL, tables=self.tables)), settings=Settings())
        async with actor.open():
            return await Direct(actor).call(call, args, **more)

    async def put(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    async def get(self, name: str) -> bytes:
        return self.kept[name]

    async def objects(self, entry: Objects) -> Shelf:
        return self

    async def table(self, bucket: Bucket[Any]) -> KeyTable[Any]:
        keys = MemoryKeys(HeldKeys(ttl_ms=None), lambda: None)
        return self.tables.setdefault(bucket.name, KeyTable(bucket, keys))
