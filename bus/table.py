"""A bucket of the table of subjects as an actor sees it: typed values by key, and a watch.

The values of a sealed bucket are encrypted here; one that does not open (another key) counts as none.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog

from bus.seal import Seal, UnsealError
from bus.transport import Entry, Keys
from protocol.codec import decoder, encode
from protocol.subjects import Bucket

log = structlog.stdlib.get_logger()

NOT_UNSEALED = "value_not_unsealed"

A = TypeVar("A")


@dataclass(frozen=True)
class Change(Generic[A]):
    """What has become of a key: `value` is None when it is gone."""

    key: str
    value: A | None
    revision: int


@dataclass(frozen=True)
class Table(Generic[A]):
    """The values of one bucket."""

    bucket: Bucket[A]
    keys: Keys
    seal: Seal | None = None

    async def get(self, key: str) -> Change[A] | None:
        """Return the value of a key with its revision, if it has one."""
        entry = await self.keys.get(key)
        if entry is None or entry.value is None:
            return None
        found = self._change(key, entry.value, entry.revision)
        return None if found.value is None else found

    async def put(self, key: str, value: A, *, revision: int | None = None) -> int:
        """Set a key and return its new revision; ValueError when `revision` is given and no longer the last."""
        written = encode(value)
        if self.seal is not None:
            written = self.seal.seal(written, self._place(key))
        return await self.keys.put(key, written, revision=revision)

    async def delete(self, key: str) -> None:
        """Remove a key."""
        await self.keys.delete(key)

    async def names(self) -> list[str]:
        """Return every key that has a value, in no order."""
        return await self.keys.names()

    @asynccontextmanager
    async def watch(self) -> AsyncGenerator[AsyncGenerator[Change[A]]]:
        """Return every value there is, then every change, as long as the block lasts."""
        async with self.keys.watch() as entries, aclosing(self._changes(entries)) as changes:
            yield changes

    async def _changes(self, entries: AsyncIterator[Entry]) -> AsyncGenerator[Change[A]]:
        async for entry in entries:
            yield self._change(entry.key, entry.value, entry.revision)

    def _change(self, key: str, value: bytes | None, revision: int) -> Change[A]:
        if value is not None and self.seal is not None:
            try:
                value = self.seal.unseal(value, self._place(key))
            except UnsealError:
                log.warning(NOT_UNSEALED, bucket=self.bucket.name, revision=revision)
                value = None
        return Change(key, None if value is None else _read(self.bucket.value, value), revision)

    def _place(self, key: str) -> str:
        return f"{self.bucket.name} {key}"


def _read(kind: Any, value: bytes) -> Any:
    return decoder(kind).decode(value)
