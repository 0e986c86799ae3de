"""What offering actors bring, as one gateway knows it: kept up to date from the bus, and read from memory."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

import anyio
import structlog

from actors.gateway.mcp.offers.catalogue import EMPTY, Catalogue, catalogue, unfit
from bus import Tables
from bus.transport import KeyEntry
from protocol.codec import Decoder, MalformedError
from protocol.faults import Code, FaultError, fault
from protocol.offers.offer import OFFER_TTL_MS, Offer
from protocol.offers.results import OfferNews, ResourceUpdated, Said, TaskChanged
from protocol.subjects import OFFERS

log = structlog.stdlib.get_logger()

OFFER_TAKEN = "offer_taken"
OFFER_REFUSED = "offer_refused"
OFFER_GONE = "offer_gone"
OFFERS_NOT_WATCHED = "offers_not_watched"

MAX_ENTRIES = 100
"""Replicas of offering actors that are known at once."""

MAX_OFFER_BYTES = 256 * 1024

FIRST_READ_S = 0.5
"""What reading the offers may take before clients are answered, who list everything as soon as they come."""

RETRY_S = 1.0
"""Between two tries, while the bus is broken."""

SWEEP_S = 1.0
"""How often offers are looked through for those that nobody repeats any more."""

_DECODER: Decoder[Offer] = Decoder(Offer, max_bytes=MAX_OFFER_BYTES)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64})?")

A = TypeVar("A")


@dataclass(frozen=True)
class ListsChanged:
    """Other tools, resources or prompts are offered than before."""

    tools: bool
    resources: bool
    prompts: bool


News = ListsChanged | ResourceUpdated | TaskChanged


@dataclass(frozen=True)
class _Known:
    offer: Offer
    written: bytes
    heard_s: float


@dataclass
class Offers:
    """The offers that stand; `clock` tells the seconds by which they grow old."""

    clock: Callable[[], float] = time.monotonic
    now: Catalogue = EMPTY
    _taken: frozenset[str] = field(default_factory=frozenset[str], init=False)
    _known: dict[str, _Known] = field(default_factory=dict[str, _Known], init=False)
    _waiting: list[Callable[[News], None]] = field(default_factory=list[Callable[[News], None]], init=False)
    _ears: dict[str, Callable[[Said], None]] = field(default_factory=dict[str, Callable[[Said], None]], init=False)

    @asynccontextmanager
    async def kept(self, bus: Tables) -> AsyncGenerator[None]:
        """Know what is offered when the block begins, unless the bus is broken, and follow it as long as it lasts."""
        with anyio.move_on_after(FIRST_READ_S):
            await self._read(bus)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, bus)
            tasks.start_soon(self._sweep)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    def reserve(self, names: Iterable[str]) -> None:
        """Keep the names of our own tools and prompts, which nobody else can have."""
        self._taken |= frozenset(names)
        self._renew()

    async def tell(self, news: OfferNews) -> None:
        """Pass on what an offering actor has told."""
        self._pass_on(news.news)

    async def say(self, said: Said) -> None:
        """Pass on what is said of work to whoever asked for it here; nobody may be waiting any more."""
        heard = self._ears.get(said.token)
        if heard is not None:
            heard(said)

    @contextmanager
    def waiting(self, heard: Callable[[News], None]) -> Generator[None]:
        """Have `heard` called with all news while the block lasts; it must not fail."""
        self._waiting.append(heard)
        try:
            yield
        finally:
            self._waiting.remove(heard)

    @contextmanager
    def hearing(self, token: str, heard: Callable[[Said], None]) -> Generator[None]:
        """Have `heard` called with what is said of one piece of work while the block lasts; it must not fail."""
        self._ears[token] = heard
        try:
            yield
        finally:
            del self._ears[token]

    # -- the bus -----------------------------------------------------------------------------------------------------

    async def _read(self, bus: Tables) -> None:
        try:
            keys = (await bus.table(OFFERS)).keys
            for name in await keys.names():
                if (entry := await keys.get(name)) is not None:
                    self.hear(entry)
        except FaultError as error:
            log.warning(OFFERS_NOT_WATCHED, code=error.fault.code)

    async def _watch(self, bus: Tables) -> None:
        while True:
            try:
                table = await bus.table(OFFERS)
                async with table.keys.watch() as entries:
                    async for entry in entries:
                        self.hear(entry)
            except FaultError as error:
                log.warning(OFFERS_NOT_WATCHED, code=error.fault.code)
            await anyio.sleep(RETRY_S)

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(SWEEP_S)
            self.sweep()

    def sweep(self) -> None:
        """Forget the offers that nobody repeats any more: the bucket does not tell when they go."""
        oldest_s = self.clock() - OFFER_TTL_MS / 1_000
        for key in [key for key, known in self._known.items() if known.heard_s < oldest_s]:
            self._forget(key)

    def hear(self, entry: KeyEntry) -> None:
        """Take over what one key of the bucket holds now."""
        if entry.value is None:
            self._forget(entry.key)
            return
        before = self._known.get(entry.key)
        if before is not None and before.written == entry.value:
            self._known[entry.key] = replace(before, heard_s=self.clock())
            return
        try:
            offer = _read(entry, room=before is not None or len(self._known) < MAX_ENTRIES)
        except MalformedError as error:
            log.warning(OFFER_REFUSED, key=entry.key, reason=error.fault.message)
            self._forget(entry.key)
            return
        self._known[entry.key] = _Known(offer, entry.value, self.clock())
        log.info(OFFER_TAKEN, key=entry.key, tools=len(offer.tools), prompts=len(offer.prompts))
        self._renew()

    def _forget(self, key: str) -> None:
        if self._known.pop(key, None) is not None:
            log.info(OFFER_GONE, key=key)
            self._renew()

    def _renew(self) -> None:
        """List everything anew; of several replicas of an actor, the one that sorts first speaks for it."""
        offers = {key.partition(".")[0]: known.offer for key, known in sorted(self._known.items(), reverse=True)}
        before, self.now = self.now, catalogue(offers, self._taken)
        news = ListsChanged(
            tools=before.tools != self.now.tools,
            resources=(before.resources, before.templates) != (self.now.resources, self.now.templates),
            prompts=before.prompts != self.now.prompts,
        )
        if news != ListsChanged(tools=False, resources=False, prompts=False):
            self._pass_on(news)

    def _pass_on(self, news: News) -> None:
        for heard in list(self._waiting):
            heard(news)


def _read(entry: KeyEntry, *, room: bool) -> Offer:
    """Read an offer; one that clients would choke on harms nobody but its actor."""
    if not _KEY.fullmatch(entry.key) or not room:
        reason = "The key is not `name` or `name.replica`" if room else f"{MAX_ENTRIES} others offer something already"
        raise MalformedError(fault(Code.VALIDATION_INVALID_PACKET, reason))
    offer: Offer = _DECODER.decode(entry.value or b"")
    method = unfit(offer)
    if method is not None:
        raise MalformedError(fault(Code.VALIDATION_INVALID_PACKET, f"No client could read the answer to {method}"))
    return offer
