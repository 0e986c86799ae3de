"""The streams of events that are open: each ends with the key that it was opened with."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

KEYS_EVERY_S: Final = 0.5
"""How often it is looked whose keys have ended: a stream is over within about a second."""


class OpenStream(Protocol):
    """A stream of events that a client hears."""

    def end(self) -> None:
        """End it, since its key is no longer good."""
        ...


@dataclass
class OpenStreams:
    """Everybody's streams at this gateway, by caller; `has_ended` says of a caller whether the key is good no more."""

    has_ended: Callable[[str], bool] = lambda _: False
    _streams: dict[str, list[OpenStream]] = field(default_factory=dict[str, list[OpenStream]], init=False, repr=False)

    def add(self, caller: str, stream: OpenStream) -> None:
        """Note that a caller has opened a stream."""
        self._streams.setdefault(caller, []).append(stream)

    def remove(self, caller: str, stream: OpenStream) -> None:
        """Note that a stream is over; one that never was is none."""
        left = [one for one in self._streams.pop(caller, ()) if one is not stream]
        if left:
            self._streams[caller] = left

    def end_of_ended_keys(self) -> None:
        """End the streams of those whose keys have ended."""
        for caller in [name for name in self._streams if self.has_ended(name)]:
            for stream in self._streams.pop(caller):
                stream.end()

    @asynccontextmanager
    async def following_keys(self) -> AsyncGenerator[None]:
        """End streams with their keys as long as the block lasts."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._follow)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _follow(self) -> None:
        while True:
            await anyio.sleep(KEYS_EVERY_S)
            self.end_of_ended_keys()
