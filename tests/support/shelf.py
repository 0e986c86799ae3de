"""A bus for one actor that nobody talks to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bus.memory.stores import HeldKeys, MemoryKeys
from bus.stores import KeyTable
from protocol.subjects import Bucket, Objects


@dataclass
class Shelf:
    """A bus that keeps things and says nothing."""

    replica: str = "r1"
    kept: dict[str, bytes] = field(default_factory=dict[str, bytes])
    seal: None = None
    tables: dict[str, KeyTable[Any]] = field(default_factory=dict[str, KeyTable[Any]])

    async def put(self, name: str, data: bytes) -> None:
        self.kept[name] = data

    async def get(self, name: str) -> bytes:
        return self.kept[name]

    async def objects(self, entry: Objects) -> Shelf:
        return self

    async def table(self, bucket: Bucket[Any]) -> KeyTable[Any]:
        keys = MemoryKeys(HeldKeys(ttl_ms=None), lambda: None)
        return self.tables.setdefault(bucket.name, KeyTable(bucket, keys))
