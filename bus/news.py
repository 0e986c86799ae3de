"""A flag that somebody waits for again and again, and that nobody sets in vain."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio


@dataclass(eq=False)
class News:
    """What was told since the last wait, or since the start, ends the next wait at once."""

    _told: anyio.Event = field(default_factory=anyio.Event)

    def tell(self) -> None:
        """End the wait of now, or else the next."""
        self._told.set()

    async def wait(self) -> None:
        """Return when something was told."""
        await self._told.wait()
        self._told = anyio.Event()
