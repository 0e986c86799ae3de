"""Buckets, object stores and claim checks in dicts."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import anyio
from msgspec import Struct

from bus.transport import KeyEntry

_KEY = re.compile(r"(?!\.)[-/_=.a-zA-Z0-9]+(?<!\.)")


@dataclass
class HeldKeys:
    """The entries of a bucket, of which the deleted ones keep their revision, as in NATS."""

    ttl_ms: int | None
    entries: dict[str, KeyEntry] = field(default_factory=dict[str, KeyEntry])
    times: dict[str, float] = field(default_factory=dict[str, float])
    revision: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)

    def last(self, key: str) -> KeyEntry | None:
        """Return the last entry of a key, unless it is older than the bucket keeps it."""
        if self.ttl_ms is not None and key in self.times:
            age_s = anyio.current_time() - self.times[key]
            if age_s * 1000 >= self.ttl_ms:
                del self.times[key], self.entries[key]
        return self.entries.get(key)

    def set(self, key: str, value: bytes | None) -> int:
        """Write the next revision."""
        self.revision += 1
        self.entries[key] = KeyEntry(key, value, self.revision)
        self.times[key] = anyio.current_time()
        self.changed.set()
        self.changed = anyio.Event()
        return self.revision


class MemoryKeys(Struct, frozen=True):
    """A bucket as one participant reaches it."""

    inner: HeldKeys
    check_connected: Callable[[], None]

    async def get(self, key: str) -> KeyEntry | None:
        """Return the entry of a key."""
        self._check(key)
        entry = self.inner.last(key)
        return entry if entry is not None and entry.value is not None else None

    async def put(self, key: str, value: bytes, *, revision: int | None = None) -> int:
        """Set a key."""
        self._check(key, revision)
        return self.inner.set(key, value)

    async def delete(self, key: str, *, revision: int | None = None) -> None:
        """Remove a key."""
        self._check(key, revision)
        self.inner.set(key, None)

    async def revision(self, key: str) -> int:
        """Return the revision of the last change of a key."""
        self._check(key)
        entry = self.inner.last(key)
        return 0 if entry is None else entry.revision

    async def names(self) -> list[str]:
        """Return every key that has a value."""
        self.check_connected()
        entries = [self.inner.last(key) for key in list(self.inner.entries)]
        return [entry.key for entry in entries if entry is not None and entry.value is not None]

    def absent(self, key: str) -> bool:
        """Return whether a key has no value."""
        entry = self.inner.last(key)
        return entry is None or entry.value is None

    @asynccontextmanager
    async def presence(self) -> AsyncGenerator[MemoryKeys]:
        """Know which keys there are."""
        self.check_connected()
        yield self

    def _check(self, key: str, revision: int | None = None) -> None:
        self.check_connected()
        if not _KEY.fullmatch(key):
            msg = f"{key!r} is no key"
            raise ValueError(msg)
        current = self.inner.last(key) if revision is not None else None
        if revision is not None and (current.revision if current else 0) != revision:
            msg = f"{key} is no longer at revision {revision}"
            raise ValueError(msg)

    @asynccontextmanager
    async def watch(self) -> AsyncGenerator[AsyncGenerator[KeyEntry]]:
        """Yield every entry there is, then every change."""
        async with aclosing(self._entries()) as entries:
            yield entries

    async def _entries(self) -> AsyncGenerator[KeyEntry]:
        changed, yielded = self.inner.changed, self.inner.revision
        for entry in self._since(0):
            if entry.value is not None:
                yield entry
        while True:
            await changed.wait()
            changed, latest = self.inner.changed, self.inner.revision
            for entry in self._since(yielded):
                yield entry
            yielded = latest

    def _since(self, revision: int) -> list[KeyEntry]:
        entries = [entry for key in list(self.inner.entries) if (entry := self.inner.last(key)) is not None]
        return sorted((entry for entry in entries if entry.revision > revision), key=lambda entry: entry.revision)


@dataclass
class HeldBlobs:
    """What all participants have put and not taken away, oldest first; the oldest make room for what is new."""

    ttl_ms: int | None = None
    max_bytes: int | None = None
    held: dict[str, bytes] = field(default_factory=dict[str, bytes])
    times: dict[str, float] = field(default_factory=dict[str, float])

    def set(self, name: str, data: bytes) -> None:
        """Put it last."""
        self.drop(name)
        while self.max_bytes is not None and self.held and self._bytes() + len(data) > self.max_bytes:
            self.drop(next(iter(self.held)))
        self.held[name] = data
        self.times[name] = anyio.current_time()

    def last(self, name: str) -> bytes:
        """Return what has that name, unless it is older than it is kept; KeyError when it is gone."""
        if self.ttl_ms is not None and (anyio.current_time() - self.times[name]) * 1000 >= self.ttl_ms:
            self.drop(name)
        return self.held[name]

    def drop(self, name: str) -> None:
        """Forget it."""
        self.held.pop(name, None)
        self.times.pop(name, None)

    def _bytes(self) -> int:
        return sum(map(len, self.held.values()))


class MemoryBlobs(Struct, frozen=True):
    """Bytes by name as one participant reaches them."""

    inner: HeldBlobs
    check_connected: Callable[[], None]

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`, in place of what has that name."""
        self.check_connected()
        self.inner.set(name, bytes(data))

    async def get(self, name: str) -> bytes:
        """Return back what was put; KeyError when it is gone."""
        self.check_connected()
        return self.inner.last(name)

    async def delete(self, name: str) -> None:
        """Forget it."""
        self.check_connected()
        self.inner.drop(name)
