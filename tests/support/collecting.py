"""A runner and a keeper on a bus in memory, and a web of pages that a test writes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
from msgspec.structs import replace

from actors.actor import Actor, grant_of, handlers
from actors.keeper.actor import Keeper
from actors.runner.actor import Runner
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from bus.stores import JournalLog
from protocol import subjects
from protocol.browse import Freshness
from protocol.collection_views import AskCollection, AskSource, CollectionChanged, CollectionView, SourceContent
from protocol.collections import CollectionLine, source_topics
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.policy import RunTool, ToolResult
from tests.unit.actors.gateway_data import browsed

KEY: Final = new_key()
ME, YOU = "key_me", "key_you"
TEST_S: Final = 90.0
NOW: Final = 1_700_000_000_000


@dataclass
class Collecting:
    """Who asks, what is on the web, and what was asked of it."""

    broker: Broker
    bus: Bus
    folder: Path
    journal: JournalLog[CollectionLine]
    pages: dict[str, str | Code] = field(default_factory=dict[str, str | Code])
    """Pages by their addresses: their words, or what is wrong with them."""

    browsed: list[BrowsePage] = field(default_factory=list[BrowsePage])
    changes: list[CollectionChanged] = field(default_factory=list[CollectionChanged])
    hold: anyio.Event | None = None
    """Where it is there, pages are given when it is set."""

    begun: anyio.Event = field(default_factory=anyio.Event)
    """Set when a page is asked for."""

    later: int = NOW
    """When pages are fetched that are asked for anew."""

    _calls: int = 0

    async def tool(self, name: str, /, caller: str = ME, call: str = "", **arguments: Any) -> ToolResult:
        """Run a tool as the policy has it run."""
        self._calls += 1
        request = RunTool(id=call or f"call_{self._calls:022d}", name=name, arguments=arguments, caller=caller)
        return await self.bus.call(subjects.TOOL.at(actor="runner"), request)

    async def create(self, title: str = "Looms", caller: str = ME) -> str:
        """Begin a collection, and return its id."""
        return str((await self.tool("collection.create", caller, title=title)).payload["collectionId"])

    async def add(self, collection: str, *urls: str) -> list[dict[str, Any]]:
        """Add pages, and return what has come of them."""
        sources = [{"type": "url", "url": url} for url in urls]
        result = await self.tool("collection.add_sources", collectionId=collection, sources=sources)
        added: list[dict[str, Any]] = result.payload["sources"]
        return added

    async def view(self, collection: str, caller: str = ME) -> CollectionView:
        """Ask the keeper for a collection."""
        return await self.bus.call(subjects.COLLECTION_GET, AskCollection(caller=caller, id=collection))

    async def source(self, source: str, version: int | None = None, caller: str = ME) -> SourceContent:
        """Ask the keeper for a source."""
        return await self.bus.call(subjects.SOURCE_GET, AskSource(caller=caller, id=source, version=version))

    async def settled(self, collection: str) -> CollectionView:
        """Wait until nothing of a collection is under way."""
        async with self.journal.records.signal() as wait:
            while True:
                view = await self.view(collection)
                if not any(one.job_id for one in view.sources):
                    return view
                with anyio.move_on_after(1.0):
                    await wait()

    async def lines(self, source: str) -> list[CollectionLine]:
        """Read the lines of a source."""
        return [line.value async for line in self.journal.read(source_topics(source))]

    async def browse(self, page: BrowsePage) -> Browsed:
        """Do as a navigator does."""
        self.browsed.append(page)
        self.begun.set()
        words = self.pages.get(page.url, Code.HTTP_NOT_FOUND)
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(words, Code):
            raise FaultError(fault(words, actions=()))
        seen = browsed(words, title=page.url.rpartition("/")[2])
        fresh = page.options.freshness_requirement is Freshness.REALTIME
        at = max(self.later, NOW + 1_000 * len(self.browsed)) if fresh else NOW
        fetched = replace(seen.page, final_url=page.url, fetched_at=at)
        return replace(seen, url=page.url, page=fetched)

    @asynccontextmanager
    async def replica(self, kind: type[Actor], name: str, **settings: Any) -> AsyncGenerator[Bus]:
        """Run one more replica of an actor."""
        transport = self.broker.connect(kind.name, grant_of(kind))
        made = Settings(data_dir=self.folder / name, **settings)
        try:
            async with Bus(transport, kind.name, name).running() as bus:
                bus.seal = Seal.of(KEY)
                actor = kind(bus=bus, settings=made)
                async with actor.open():
                    for handler in handlers(kind):
                        subject = handler.subject.answered_by(name)
                        await bus.serve(subject, getattr(actor, handler.method), at_once=actor.room(handler))
                    yield bus
        finally:
            with anyio.CancelScope(shield=True):
                await transport.close()

    async def note(self, change: CollectionChanged) -> None:
        """Note what is told."""
        self.changes.append(change)


@asynccontextmanager
async def collecting(folder: Path, **settings: Any) -> AsyncGenerator[Collecting]:
    """Run a runner and a keeper among fakes."""
    async with alone(folder) as world, world.replica(Keeper, "k1", **settings), world.replica(Runner, "r1", **settings):
        yield world


@asynccontextmanager
async def alone(folder: Path) -> AsyncGenerator[Collecting]:
    """Run the web alone, on which a test puts replicas of its own."""
    with anyio.fail_after(TEST_S):
        async with Broker() as broker, Bus(broker.connect("asker"), "asker", "a1").running() as bus:
            bus.seal = Seal.of(KEY)
            world = Collecting(broker, bus, folder, await bus.journal(subjects.COLLECTIONS))
            await bus.serve(subjects.BROWSE, world.browse, at_once=64)
            await bus.serve(subjects.COLLECTION_CHANGED, world.note, at_once=64)
            yield world
