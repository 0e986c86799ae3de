"""Opens the client of a tier, which shares its cache and its manners with every other over the bus."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol

from actors.fetchers.web.cache import MemoryStore, SharedStore, Store
from actors.fetchers.web.client import Manners, WebClient, WebSettings
from actors.fetchers.web.rates import Limits
from bus import Bus
from protocol.subjects import HTTP_CACHE, PACE, ROBOTS, Bucket

BUCKETS: tuple[Bucket[Any], ...] = (HTTP_CACHE, PACE, ROBOTS)
"""What an actor declares who opens a client."""


_SHARE = 4
"""The cache takes a quarter of the bus at most: what cannot be got again must have room."""


class SharedSettings(WebSettings, Protocol):
    """What is read of the settings beside what the client itself does."""

    @property
    def fetch_shared_cache_bytes(self) -> int:
        """Bytes of the shared cache at most; 0 shares nothing."""
        ...

    @property
    def jetstream_max_bytes(self) -> int:
        """Bytes that everything on the bus may take."""
        ...

    @property
    def fetch_host_rate(self) -> int:
        """Pages a minute of one host; 0 is no limit."""
        ...

    @property
    def fetch_host_burst(self) -> int:
        """Pages that may come at once."""
        ...

    @property
    def fetch_host_at_once(self) -> int:
        """Open requests to one host; 0 is no limit."""
        ...

    @property
    def fetch_robots(self) -> Literal["asked", "always", "never"]:
        """When robots.txt is obeyed."""
        ...

    @property
    def fetch_robots_ttl_ms(self) -> int:
        """How long a robots.txt is believed."""
        ...


@asynccontextmanager
async def web_client(settings: SharedSettings, bus: Bus | None) -> AsyncGenerator[WebClient]:
    """Return a client that is polite together with all others on the bus; without one, by itself."""
    limits = Limits(
        interval_ms=60_000 / settings.fetch_host_rate if settings.fetch_host_rate else 0.0,
        burst=settings.fetch_host_burst,
        at_once=settings.fetch_host_at_once,
    )
    manners = Manners(
        limits=limits,
        robots=settings.fetch_robots,
        robots_term_s=settings.fetch_robots_ttl_ms / 1000,
        store=await _store(settings, bus),
        paces=await bus.table(PACE) if bus is not None else None,
        files=await bus.table(ROBOTS) if bus is not None else None,
    )
    async with WebClient(settings, manners=manners) as client:
        yield client


async def _store(settings: SharedSettings, bus: Bus | None) -> Store | None:
    """Return the shared cache to those who have the key to it: pages of a session are private."""
    if bus is None or bus.seal is None or not settings.fetch_shared_cache_bytes:
        return None
    max_bytes = min(settings.fetch_shared_cache_bytes, settings.jetstream_max_bytes // _SHARE)
    return SharedStore(await bus.table(HTTP_CACHE), MemoryStore(settings.fetch_cache_bytes), max_bytes)
