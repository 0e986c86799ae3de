"""Where the contract of the bus is tested: in memory, and on a real NATS."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import anyio
from anyio.abc import TaskStatus
from msgspec import Struct

from bus import Bus
from bus.memory import PENDING_LIMIT, Broker, MemoryTransport
from bus.permissions import CLAIMS, EVERYTHING, OBSERVER, grant, observer
from bus.serving import Handler
from bus.transport import Transport
from protocol.subject_kinds import Bucket, Call, Event, Journal, Objects, Subject, Work
from protocol.subjects import KEY_ENDS, SESSIONS
from tests.support.nats import OVERSEER, NatsServer, serve_nats

TEST_S = 240.0
ACK_WAIT_MS = 400


class Ask(Struct, frozen=True, kw_only=True):
    """What the tests say."""

    text: str = ""
    number: int = 0


class Answer(Struct, frozen=True, kw_only=True):
    """What the tests hear."""

    text: str = ""
    by: str = ""
    left_ms: tuple[int | None, ...] = ()


ASK = Call("test.ask", Ask, Answer)
ONCE = Call("test.once", Ask, Answer, idempotent=False)
RELAY = Call("test.relay", Ask, Answer)
ROOMS = Call("test.rooms.{room}", Ask, Answer)
SECRET = Call("tool.secret", Ask, Answer)
TOLD = Event("events.test.told", Ask)
MAX_DELIVER = 3
CHORE = Work("work.chore", Ask, ack_wait_ms=ACK_WAIT_MS, max_deliver=MAX_DELIVER)
FEW = Work("work.few", Ask, ack_wait_ms=2 * ACK_WAIT_MS, at_once=2, max_deliver=None)
FAIR = Work("work.fair", Ask, ack_wait_ms=ACK_WAIT_MS, at_once=2, share=2, max_deliver=None)
PLACES = Bucket("places", Ask)
FLEETING = Bucket("fleeting", Ask, ttl_ms=300)
SAFE = Bucket("safe", Ask, sealed=True)
FILES = Objects("files", ttl_ms=60_000, max_bytes=48 * 1024 * 1024)
SMOKE = Objects("smoke", ttl_ms=300, max_bytes=1024 * 1024)
CUPBOARD = Objects("cupboard", ttl_ms=60_000, max_bytes=1024 * 1024)
STRONGROOM = Objects("strongroom", ttl_ms=60_000, max_bytes=1024 * 1024, sealed=True)
DIARY = Journal("diary", Ask, ttl_ms=60_000, max_bytes=8 * 1024 * 1024)
CIPHERS = Journal("ciphers", Ask, ttl_ms=60_000, max_bytes=1024 * 1024, sealed=True)
SLATE = Journal("slate", Ask, ttl_ms=300, max_bytes=1024 * 1024)
ARCHIVE = Journal("archive", Ask, ttl_ms=None, max_bytes=64 * 1024)
STRIP = Journal("strip", Ask, ttl_ms=60_000, max_bytes=64 * 1024)

Furniture = Work[Any] | Bucket[Any] | Objects | Journal[Any]
"""What only an overseer may make."""

FURNITURE: tuple[Furniture, ...] = (
    *(CHORE, FEW, FAIR),
    *(PLACES, FLEETING, SAFE, SESSIONS, KEY_ENDS),
    *(FILES, SMOKE, CUPBOARD, STRONGROOM),
    *(DIARY, CIPHERS, SLATE, STRIP, ARCHIVE),
)
CALLS = (ASK, ONCE, RELAY, ROOMS)
GRANTS = {
    "asker": grant(
        "asker",
        [TOLD],
        [*CALLS, TOLD, CHORE, FEW, FAIR],
        [PLACES, FLEETING],
        [FILES, SMOKE, CUPBOARD],
        [DIARY, SLATE, STRIP, ARCHIVE],
    ),
    "answerer": grant("answerer", [*CALLS, TOLD, CHORE, FEW, FAIR], [ASK], [PLACES], [FILES], [DIARY]),
    "keeper": grant("keeper", [SECRET], []),
    "trusted": grant("trusted", [], [], [SAFE, SESSIONS, KEY_ENDS], [STRONGROOM], [CIPHERS]),
    "stranger": grant("stranger", [], []),
    OBSERVER: observer(),
}


class World(Protocol):
    """Somewhere to meet."""

    kind: Literal["memory", "nats"]

    def connect(self, actor: str, *, pending_limit: int = PENDING_LIMIT) -> AbstractAsyncContextManager[Transport]:
        """Take part as `actor`, with its grant."""
        ...

    async def breaks(self) -> None:
        """Break every connection, as a server that dies does."""
        ...

    async def mends(self) -> None:
        """Let everybody come back."""
        ...

    async def claims(self) -> list[str]:
        """Name the claim checks that were not removed."""
        ...


MakeWorld = Callable[[], AbstractAsyncContextManager[World]]


@dataclass
class MemoryWorld:
    """The twin."""

    broker: Broker
    kind: Literal["memory", "nats"] = "memory"
    everybody: list[MemoryTransport] = field(default_factory=list[MemoryTransport])

    @asynccontextmanager
    async def connect(self, actor: str, *, pending_limit: int = PENDING_LIMIT) -> AsyncGenerator[Transport]:
        """Take part as `actor`."""
        self.broker.pending_limit = pending_limit
        transport = self.broker.connect(actor, {OVERSEER: EVERYTHING, **GRANTS}[actor])
        self.everybody.append(transport)
        try:
            yield transport
        finally:
            self.everybody.remove(transport)
            await transport.close()

    async def breaks(self) -> None:
        """Break every connection."""
        for transport in self.everybody:
            await transport.disconnect()

    async def mends(self) -> None:
        """Let everybody come back."""
        for transport in self.everybody:
            await transport.reconnect()

    async def claims(self) -> list[str]:
        """Name the claim checks that were not removed."""
        return list(self.broker.blobs.held)


@dataclass
class NatsWorld:
    """The real thing."""

    server: NatsServer
    kind: Literal["memory", "nats"] = "nats"

    def connect(self, actor: str, *, pending_limit: int = PENDING_LIMIT) -> AbstractAsyncContextManager[Transport]:
        """Take part as `actor`."""
        return self.server.connect(actor, pending_limit=pending_limit)

    async def breaks(self) -> None:
        """Kill the server."""
        await self.server.kill()

    async def mends(self) -> None:
        """Start it again."""
        await self.server.start()

    async def claims(self) -> list[str]:
        """Name the claim checks that were not removed."""
        async with self.server.connect(OVERSEER) as transport:
            info = await transport.jetstream.stream_info(CLAIMS, subjects_filter="claims.>")
            left = list[str]()
            for subject in info.state.subjects or ():
                last = await transport.jetstream.get_last_msg(CLAIMS, subject)
                left += [subject] if last.data or last.header else []  # pyright: ignore[reportUnknownMemberType]  # nats-py
            return left


@asynccontextmanager
async def memory_world() -> AsyncGenerator[World]:
    """Meet in memory."""
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            world = MemoryWorld(broker)
            await _furnish(world, FURNITURE)
            yield world


@asynccontextmanager
async def nats_world(folder: Path, furniture: Collection[Furniture]) -> AsyncGenerator[World]:
    """Meet on a real server, which has `furniture`: to make all of it takes longer than most tests."""
    with anyio.fail_after(TEST_S):
        async with serve_nats(folder, GRANTS) as server:
            world = NatsWorld(server)
            await _furnish(world, furniture)
            yield world


async def _furnish(world: World, furniture: Collection[Furniture]) -> None:
    """Make what only an overseer may make."""
    async with world.connect(OVERSEER) as transport:
        for entry in furniture:
            match entry:
                case Work():
                    await transport.arrange(entry)
                case Bucket():
                    await transport.keys(entry)
                case Objects():
                    await transport.objects(entry)
                case Journal():
                    await transport.records(entry)


@asynccontextmanager
async def taking_part(world: World, actor: str, replica: str = "r1", **options: Any) -> AsyncGenerator[Bus]:
    """Run a bus for one replica."""
    async with world.connect(actor, **options) as transport:
        bus = Bus(transport, actor, replica, "1.2.3", f"The {actor} of the tests")
        async with bus.running():
            yield bus


@dataclass
class Doomed:
    """A replica that can be killed."""

    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def run(
        self,
        world: World,
        actor: str,
        arrange: Callable[[Bus], Any],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Take part until killed, after what `arrange` does."""
        with self.scope:
            async with taking_part(world, actor, "doomed") as bus:
                await arrange(bus)
                await bus.transport.flush()
                task_status.started()
                await anyio.sleep_forever()


class Holding:
    """A handler that holds on until told, and notes who was cut off."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.go_on = anyio.Event()
        self.cut_off = anyio.Event()
        self.cut_off_at = 0.0
        self.calls = 0

    async def __call__(self, ask: Ask) -> Answer:
        """Hold."""
        self.calls += 1
        self.begun.set()
        try:
            await self.go_on.wait()
        except BaseException:
            self.cut_off_at = time.perf_counter()
            self.cut_off.set()
            raise
        return Answer(text=ask.text)


async def until(happened: Callable[[], bool]) -> None:
    """Wait for something; the test's own deadline bounds it."""
    while not happened():
        await anyio.sleep(0.002)


async def echo(ask: Ask) -> Answer:
    """Answer with what was asked."""
    return Answer(text=ask.text)


async def serve(bus: Bus, subject: Subject[Any], handler: Handler, *, at_once: int = 1) -> None:
    """Serve, and return when everybody can know."""
    await bus.serve(subject, handler, at_once=at_once)
    await bus.transport.flush()
