"""A bus for one actor that nobody talks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bus.memory.keyvalue import HeldKeys, MemoryKeys
from bus.table import Table
from protocol.subjects import Bucket, Objects


@dataclass
class Shelf:
    """A bus that keeps things and says nothing."""

    replica: str = "r1"
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])
    seal: None = None
    tables: dict[str, Table[Any]] = field(default_factory=dict[str, Table[Any]])

    async def put(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    async def get(self, name: str) -> bytes:
        return self.kept[name]

    async def objects(self, entry: Objects) -> Shelf:
        return self

    async def table(self, bucket: Bucket[Any]) -> Table[Any]:
        keys = MemoryKeys(HeldKeys(ttl_ms=None), lambda: None)
        return self.tables.setdefault(bucket.name, Table(bucket, keys))
