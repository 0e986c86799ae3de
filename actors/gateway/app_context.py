"""What the endpoints and the tools of the gateway work with."""

from __future__ import annotations

import secrets
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from actors.gateway.access.caller import Ledger
from actors.gateway.access.keys import KeyStore
from actors.gateway.access.limits import RateLimits
from actors.gateway.event_feed import EventFeed
from actors.gateway.push.server import PushServer
from actors.gateway.request import Watchers
from actors.gateway.shown_settings import ShownSetting
from actors.gcra import Rate
from bus import Directory, Publisher, Requester, Tables
from bus.context import new_id
from bus.observing import Observer
from bus.seal import Seal
from bus.stats import Meter
from bus.stores import FileStore
from protocol.collection_views import CollectionChanged
from protocol.policy import Approval
from protocol.subject_kinds import Objects

NAMING_BYTES = 32
MAX_TAPS = 8
"""Clients that tap the bus by one replica at once: each has a connection of its own, and what waits for it."""


class BusClient(Tables, Requester, Publisher, Directory, Protocol):
    """What the gateway needs of the bus; `replica` is the name by which others reach it there."""

    replica: str

    def observer(self) -> AbstractAsyncContextManager[Observer]:
        """Look at the whole bus while the block lasts; raises FaultError."""
        ...

    @property
    def seal(self) -> Seal | None:
        """What encrypts a login before it travels, for a gateway that was given the key."""
        ...

    async def objects(self, entry: Objects) -> FileStore:
        """Open the files of an object store."""
        ...

    async def flush(self) -> None:
        """Wait until what was published comes before what others publish from here on; raises FaultError."""
        ...

    def meter(self, subject: str) -> Meter:
        """Return a meter for what comes in here."""
        ...


@dataclass(frozen=True, kw_only=True)
class AppContext:
    """What the endpoints and the tools work with; `grace_ms` is what an actor that is being restarted gets.

    `naming` is the secret by which a caller's own browser session gets its id: one that all replicas have, so that each
    finds the session. `interacts` and `chats` bound how often a key may ask what to do next on its page, and of its
    chat sessions; with `mirrored` some of what 001 has in `data` stands beside it, too. `closing` is set when this
    replica ends what it has in hand: no client has left then. `taps` are the places for clients who tap the bus. `push`
    is there where the gateway serves HTTP.
    """

    bus: BusClient
    grace_ms: int
    version: str
    watchers: Watchers = field(default_factory=lambda: Watchers(new_id()))
    naming: bytes = field(default_factory=lambda: secrets.token_bytes(NAMING_BYTES), repr=False)
    keys: KeyStore = field(default_factory=KeyStore)
    ledger: Ledger = field(default_factory=Ledger)
    interacts: RateLimits = field(default_factory=lambda: RateLimits(Rate(0.0)))
    chats: RateLimits = field(default_factory=lambda: RateLimits(Rate(0.0)))
    mirrored: bool = False
    closing: anyio.Event = field(default_factory=anyio.Event)
    taps: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(MAX_TAPS))
    approval_news: EventFeed[Approval] = field(default_factory=EventFeed[Approval])
    push: PushServer | None = None
    settings: tuple[ShownSetting, ...] = ()
    collection_news: EventFeed[CollectionChanged] = field(default_factory=EventFeed[CollectionChanged])
