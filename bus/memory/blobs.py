"""Claim checks in a dict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class HeldBlobs:
    """What all participants have put and not taken away."""

    held: dict[str, bytes] = field(default_factory=dict[str, bytes])


@dataclass(frozen=True)
class MemoryBlobs:
    """The claim checks as one participant reaches them."""

    inner: HeldBlobs
    check_connected: Callable[[], None]

    async def put(self, name: str, data: bytes) -> None:
        """Keep `data`."""
        self.check_connected()
        self.inner.held[name] = bytes(data)

    async def get(self, name: str) -> bytes:
        """Give back what was put; KeyError when it is gone."""
        self.check_connected()
        return self.inner.held[name]

    async def delete(self, name: str) -> None:
        """Forget it."""
        self.check_connected()
        self.inner.held.pop(name, None)
