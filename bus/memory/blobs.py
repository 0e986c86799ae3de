"""Claim checks and object stores in a dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio


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


@dataclass(frozen=True)
class MemoryBlobs:
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
