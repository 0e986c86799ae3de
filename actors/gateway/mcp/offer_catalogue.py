"""What offering actors bring to MCP, as one gateway knows it: kept up to date from the bus, and read from memory."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Callable, Container, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import anyio
import msgspec
import structlog
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate
from mcp.types import Prompt, Resource, ResourceTemplate, Tool, methods
from mcp.types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from msgspec import Struct, structs
from pydantic import ValidationError

from bus import Tables
from bus.transport import KeyEntry
from protocol.codec import Decoder, MalformedError
from protocol.faults import Code, FaultError, fault
from protocol.offers.offer import OFFER_TTL_MS, Offer, OfferedPrompt, OfferedResource, OfferedTemplate, OfferedTool
from protocol.offers.results import OfferNews, ResourceUpdated, Said, TaskChanged
from protocol.subjects import OFFERS

log = structlog.stdlib.get_logger()

OFFER_TAKEN = "offer_taken"
OFFER_REFUSED = "offer_refused"
OFFER_GONE = "offer_gone"
OFFERS_NOT_WATCHED = "offers_not_watched"

MAX_PER_KIND = 500
"""Of each kind, so many are served; what comes later by the name of its actor is left out."""

MAX_OFFERS = 100
"""Replicas of offering actors that are known at once."""

MAX_OFFER_BYTES = 256 * 1024

FIRST_READ_S = 0.5
"""What reading the offers may take before clients are answered, who list everything as soon as they come."""

RETRY_S = 1.0
"""Between two tries, while the bus is broken."""

SWEEP_S = 1.0
"""How often offers are looked through for those that nobody repeats any more."""

S = TypeVar("S", bound=Struct)
D = TypeVar("D", Tool, Resource, ResourceTemplate, Prompt)


class Offered(Struct, Generic[S, D], frozen=True):
    """One thing that an actor brings: as the actor offers it, and as clients get it in a list."""

    actor: str
    entry: S
    declaration: D


class OfferCatalogue(Struct, frozen=True):
    """What is offered, by its name or address, sorted; of two by one name, the actor's counts that sorts first."""

    tools: Mapping[str, Offered[OfferedTool, Tool]] = MappingProxyType({})
    resources: Mapping[str, Offered[OfferedResource, Resource]] = MappingProxyType({})
    templates: Mapping[str, Offered[OfferedTemplate, ResourceTemplate]] = MappingProxyType({})
    prompts: Mapping[str, Offered[OfferedPrompt, Prompt]] = MappingProxyType({})
    _parsed: tuple[tuple[UriTemplate, str], ...] = ()

    def reader(self, uri: str) -> str | None:
        """Return the actor that reads an address: one that lists it, or else one with a template that it fits."""
        if uri in self.resources:
            return self.resources[uri].actor
        return next((actor for template, actor in self._parsed if template.match(uri) is not None), None)


EMPTY = OfferCatalogue()


class ListsChanged(Struct, frozen=True):
    """Other tools, resources or prompts are offered than before."""

    tools: bool
    resources: bool
    prompts: bool


OfferChange = ListsChanged | ResourceUpdated | TaskChanged


@dataclass
class Offers:
    """The offers that stand; `clock` returns the seconds by which they grow old."""

    clock: Callable[[], float] = time.monotonic
    current: OfferCatalogue = EMPTY
    _reserved: frozenset[str] = field(default_factory=frozenset[str], init=False)
    _known: dict[str, _KnownOffer] = field(default_factory=dict[str, "_KnownOffer"], init=False)
    _subscribers: list[Callable[[OfferChange], None]] = field(
        default_factory=list[Callable[[OfferChange], None]], init=False
    )
    _receivers: dict[str, Callable[[Said], None]] = field(default_factory=dict[str, Callable[[Said], None]], init=False)

    @asynccontextmanager
    async def synchronized(self, bus: Tables) -> AsyncGenerator[None]:
        """Read the offers before the block begins, unless the bus is broken, and follow them as long as it lasts."""
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
        """Reserve the names of our own tools and prompts, which nobody else can have."""
        self._reserved |= frozenset(names)
        self._rebuild()

    async def publish(self, news: OfferNews) -> None:
        """Pass on to the subscribers what has changed at an offering actor."""
        self._publish(news.news)

    async def deliver(self, message: Said) -> None:
        """Deliver a progress message to whoever requested that work here; nobody may be waiting any more."""
        receive = self._receivers.get(message.token)
        if receive is not None:
            receive(message)

    @contextmanager
    def subscribed(self, callback: Callable[[OfferChange], None]) -> Generator[None]:
        """Call `callback` with all changes while the block lasts; it must not fail."""
        self._subscribers.append(callback)
        try:
            yield
        finally:
            self._subscribers.remove(callback)

    @contextmanager
    def receiving(self, token: str, callback: Callable[[Said], None]) -> Generator[None]:
        """Call `callback` with the progress messages of one piece of work while the block lasts; it must not fail."""
        self._receivers[token] = callback
        try:
            yield
        finally:
            del self._receivers[token]

    def apply(self, entry: KeyEntry) -> None:
        """Take over what one key of the bucket holds now."""
        if entry.value is None:
            self._forget(entry.key)
            return
        before = self._known.get(entry.key)
        if before is not None and before.encoded == entry.value:
            self._known[entry.key] = structs.replace(before, repeated_s=self.clock())
            return
        try:
            offer = _decoded(entry, room=before is not None or len(self._known) < MAX_OFFERS)
        except MalformedError as error:
            log.warning(OFFER_REFUSED, key=entry.key, reason=error.fault.message)
            self._forget(entry.key)
            return
        self._known[entry.key] = _KnownOffer(offer, entry.value, self.clock())
        log.info(OFFER_TAKEN, key=entry.key, tools=len(offer.tools), prompts=len(offer.prompts))
        self._rebuild()

    def sweep(self) -> None:
        """Forget the offers that nobody repeats any more: the bucket does not tell when they go."""
        oldest_s = self.clock() - OFFER_TTL_MS / 1_000
        for key in [key for key, known in self._known.items() if known.repeated_s < oldest_s]:
            self._forget(key)

    async def _read(self, bus: Tables) -> None:
        try:
            keys = (await bus.table(OFFERS)).keys
            for name in await keys.names():
                if (entry := await keys.get(name)) is not None:
                    self.apply(entry)
        except FaultError as error:
            log.warning(OFFERS_NOT_WATCHED, code=error.fault.code)

    async def _watch(self, bus: Tables) -> None:
        while True:
            try:
                table = await bus.table(OFFERS)
                async with table.keys.watch() as entries:
                    async for entry in entries:
                        self.apply(entry)
            except FaultError as error:
                log.warning(OFFERS_NOT_WATCHED, code=error.fault.code)
            await anyio.sleep(RETRY_S)

    async def _sweep(self) -> None:
        while True:
            await anyio.sleep(SWEEP_S)
            self.sweep()

    def _forget(self, key: str) -> None:
        if self._known.pop(key, None) is not None:
            log.info(OFFER_GONE, key=key)
            self._rebuild()

    def _rebuild(self) -> None:
        """Build the catalogue again; of several replicas of an actor, the one that sorts first speaks for it."""
        offers = {key.partition(".")[0]: known.offer for key, known in sorted(self._known.items(), reverse=True)}
        before, self.current = self.current, catalogue_of(offers, self._reserved)
        change = ListsChanged(
            tools=before.tools != self.current.tools,
            resources=(before.resources, before.templates) != (self.current.resources, self.current.templates),
            prompts=before.prompts != self.current.prompts,
        )
        if change != ListsChanged(tools=False, resources=False, prompts=False):
            self._publish(change)

    def _publish(self, change: OfferChange) -> None:
        for callback in list(self._subscribers):
            callback(change)


def catalogue_of(offers: Mapping[str, Offer], reserved: Container[str] = ()) -> OfferCatalogue:
    """Build the catalogue of what each actor offers; the names of tools and prompts that are `reserved` are ours."""
    by_actor = sorted(offers.items())
    templates = _listed(
        (actor, entry.uri_template, entry, ResourceTemplate)
        for actor, offer in by_actor
        for entry in offer.templates
        if _parsed(entry.uri_template) is not None
    )
    parsed = ((_parsed(uri), one.actor) for uri, one in templates.items())
    return OfferCatalogue(
        tools=_listed(
            (actor, entry.name, entry, Tool)
            for actor, offer in by_actor
            for entry in offer.tools
            if entry.name not in reserved
        ),
        resources=_listed(
            (actor, entry.uri, entry, Resource) for actor, offer in by_actor for entry in offer.resources
        ),
        templates=templates,
        prompts=_listed(
            (actor, entry.name, entry, Prompt)
            for actor, offer in by_actor
            for entry in offer.prompts
            if entry.name not in reserved
        ),
        _parsed=tuple((template, actor) for template, actor in parsed if template is not None),
    )


def unreadable_list(offer: Offer) -> str | None:
    """Return the method whose list clients could not read with this offer on it, in any version, if there is one."""
    own = catalogue_of({"": offer})
    lists: dict[str, tuple[str, Iterable[Offered[Any, Any]]]] = {
        "tools/list": ("tools", own.tools.values()),
        "resources/list": ("resources", own.resources.values()),
        "resources/templates/list": ("resourceTemplates", own.templates.values()),
        "prompts/list": ("prompts", own.prompts.values()),
    }
    return next((method for method, (name, rows) in lists.items() if not _is_readable(method, name, rows)), None)


class _KnownOffer(Struct, frozen=True):
    """An offer; `repeated_s` is when its actor last repeated it."""

    offer: Offer
    encoded: bytes
    repeated_s: float


def _decoded(entry: KeyEntry, *, room: bool) -> Offer:
    """Decode an offer; one that clients would choke on harms nobody but its actor."""
    if not _KEY.fullmatch(entry.key) or not room:
        reason = "The key is not `name` or `name.replica`" if room else f"{MAX_OFFERS} others offer something already"
        raise MalformedError(fault(Code.VALIDATION_INVALID_PACKET, reason))
    offer: Offer = _decoder.decode(entry.value or b"")
    method = unreadable_list(offer)
    if method is not None:
        raise MalformedError(fault(Code.VALIDATION_INVALID_PACKET, f"No client could read the answer to {method}"))
    return offer


def _is_readable(method: str, name: str, rows: Iterable[Offered[Any, Any]]) -> bool:
    declarations = [row.declaration.model_dump(by_alias=True, mode="json", exclude_none=True) for row in rows]
    try:
        for version, envelope in _LIST_ENVELOPES.items():
            methods.serialize_server_result(method, version, {name: declarations, **envelope})
    except ValidationError:
        return False
    return True


def _listed(rows: Iterable[tuple[str, str, S, type[D]]]) -> Mapping[str, Offered[S, D]]:
    listed: dict[str, Offered[S, D]] = {}
    for actor, name, entry, kind in rows:
        if name not in listed:
            listed[name] = Offered(actor, entry, kind.model_validate(_declared(entry)))
    return MappingProxyType(dict(sorted(listed.items())[:MAX_PER_KIND]))


def _declared(entry: Struct) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(entry)
    return {name: value for name, value in fields.items() if name not in _FOR_GATEWAYS}


def _parsed(template: str) -> UriTemplate | None:
    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:
        return None


_decoder: Decoder[Offer] = Decoder(Offer, max_bytes=MAX_OFFER_BYTES)
_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}(?:\.[A-Za-z0-9_-]{1,64})?")

_FOR_GATEWAYS = frozenset({"tasks", "timeoutMs"})
"""What a declaration says to gateways alone."""

_LIST_ENVELOPES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        LATEST_HANDSHAKE_VERSION: {},
        LATEST_MODERN_VERSION: {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
    }
)
"""The newest version of the protocol with sessions and without, and what its lists have besides."""
