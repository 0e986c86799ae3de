"""The bus as an actor sees it: call, publish, serve, subscribe; everything typed by the table of subjects."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Any, Never, Protocol, TypeVar

import anyio
import structlog
from anyio.abc import TaskGroup

from bus.calling import Calls
from bus.clock import now_ms
from bus.errors import TransportError
from bus.micro import Discovery, read_stats
from bus.observing import Observer
from bus.permissions import FIGURES, micro_name
from bus.recording import form_of, outside
from bus.seal import Seal
from bus.serving import BusEndpoint, Handler
from bus.stats import JournalPlace, Meter, Replica, by_account, memory_bytes, percentile_ms
from bus.stores import FileStore, JournalLog, KeyTable
from bus.tracing import inject, sending, span
from bus.transport import BusMessage, Queue, Transport
from bus.wire import PacketCodec
from bus.work import Worker, enqueue
from protocol.codec import encode
from protocol.faults import Code, FaultError, fault
from protocol.subject_kinds import Bucket, Call, Event, Journal, Objects, Subject, Work

_TAP_ROOM = 10_000
"""Packets that a slow onlooker may be behind, before it loses some."""

log = structlog.stdlib.get_logger()

NOT_OBSERVED = "bus_not_observed"
_NOT_OBSERVED = (
    "The bus cannot be looked at from this gateway: NATS is away, or its host was given no key of observer (nats_keys)."
)

FOLLOW_AGAIN_S = 1.0
"""Between two tries to follow a bucket, while the bus is broken."""

A = TypeVar("A")
R = TypeVar("R")


class Tables(Protocol):
    """What opens the buckets of the table of subjects: a bus, or a fake of one."""

    async def table(self, bucket: Bucket[A]) -> KeyTable[A]:
        """Open the values of a bucket; raises FaultError."""
        ...


async def follow(
    tables: Tables, bucket: Bucket[A], update: Callable[[str, A | None, int], None], not_watched: str
) -> Never:
    """Hand each key, value and revision of a bucket to `update`, and then each change, until this is cancelled.

    A failure is logged as the event `not_watched`, and waited out.

    Raises:
        ValueError: the bucket is sealed, and this process has no key to it.
    """
    while True:
        try:
            table = await tables.table(bucket)
            async with table.watch() as changes:
                async for change in changes:
                    update(change.key, change.value, change.revision)
        except FaultError as error:
            log.warning(not_watched, code=error.fault.code)
        await anyio.sleep(FOLLOW_AGAIN_S)


class Requester(Protocol):
    """What sends requests: a bus, or a fake of one."""

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        """Send a request and return the response; raises FaultError."""
        ...


class Publisher(Protocol):
    """What publishes events: a bus, or a fake of one."""

    async def tell(self, event: Event[A], args: A) -> None:
        """Publish an event; raises FaultError."""
        ...


class Directory(Protocol):
    """What finds the live replicas: a bus, or a fake of one."""

    async def replicas(
        self, wait_ms: int = 200, *, enough: Callable[[list[Replica]], bool] | None = None
    ) -> tuple[Replica, ...]:
        """Find every live replica that answers within `wait_ms`; `enough` ends the wait earlier."""
        ...


class Bus:
    """One participant's end of the bus."""

    def __init__(
        self, transport: Transport, actor: str, replica: str, version: str = "0.0.0", description: str = ""
    ) -> None:
        """Speak over `transport` as this replica of this actor."""
        self.actor = actor
        self.replica = replica
        self.transport = transport
        self.wire = PacketCodec(f"{actor}/{replica}", transport.blobs, transport.max_payload)
        self.seal: Seal | None = None
        """What opens the sealed stores that this participant is trusted with."""
        self.observing: Callable[[], AbstractAsyncContextManager[Transport]] | None = None
        """What opens a connection of one who looks at the whole bus, for a participant that is trusted with that."""
        self.restarts = 0
        """How often this participant was started again in its place."""
        self.vault = ""
        """By what the vault key of its host is known."""
        self._places: dict[tuple[str, str], int] = {}
        self._calls = Calls(transport, self.wire)
        self.version = version
        self._description = description
        self._endpoints: list[BusEndpoint | Worker] = []
        self._meters: list[Meter] = []
        self._queues: dict[str, Queue] = {}
        self._started = now_ms()
        self._tasks: TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[Bus]:
        """Take part until the block ends, which cuts off what is still in hand: `drain` first to finish it."""
        await self._calls.open()
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield self
            finally:
                for endpoint in self._endpoints:
                    endpoint.end()
                tasks.cancel_scope.cancel()

    async def open_discovery(self) -> None:
        """Answer NATS micro's PING, INFO and STATS from here on."""
        await Discovery(self.transport, self.figures, self._description).open()

    # -- calling -----------------------------------------------------------------------------------------------------

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        """Send a request, and return the response.

        The time allowed is the least of `timeout_ms` (by default the call's own) and what the work in hand has left.
        A busy replica is passed over for another; a call that is idempotent is repeated when the connection breaks or
        a replica dies that may have had it in hand. `wait_ms` is how long to wait for somebody to answer at all, where
        nobody does at first or any more.

        Raises:
            FaultError: whatever Fault the callee answered with, or one of bus.errors.
        """
        return await self._calls.call(call, args, timeout_ms=timeout_ms, wait_ms=wait_ms)

    # -- publishing --------------------------------------------------------------------------------------------------

    async def tell(self, event: Event[A], args: A) -> None:
        """Publish an event; returns when it is sent, not when it is received."""
        with span(f"send {event.pattern}", "producer", sending(event.pattern)):
            packet, began_s = self.wire.request(event, args), time.time()
            written = encode(packet)
            packed = await self.wire.pack(written, event.pattern)
            inject(packed.headers)
            await self.transport.publish(event.pattern, packed.payload, headers=packed.headers or None)
            if self.wire.recorder is not None:
                self.wire.recorder.sent("event", event.pattern, packet, written, None, began_s)

    async def flush(self) -> None:
        """Wait until whatever this participant has published comes before what anybody publishes from here on.

        Raises:
            TransportError: the connection is broken.
        """
        await self.transport.flush()

    async def enqueue(self, work: Work[A], args: A, *, packet_id: str = "") -> str:
        """Put work into its durable queue, and return its packet id; the same id twice is done once."""
        return await enqueue(await self._queue(work), self.wire, work, args, packet_id)

    async def table(self, bucket: Bucket[A]) -> KeyTable[A]:
        """Return the values of a bucket.

        Raises:
            ValueError: the bucket is sealed, and this participant was given no key.
        """
        return KeyTable(bucket, await self.transport.keys(bucket), self._seal_of(bucket))

    async def objects(self, entry: Objects) -> FileStore:
        """Return the files of an object store.

        Raises:
            ValueError: the store is sealed, and this participant was given no key.
        """
        return FileStore(entry, await self.transport.objects(entry), self._seal_of(entry))

    async def journal(self, entry: Journal[A]) -> JournalLog[A]:
        """Return the lines of a journal.

        Raises:
            ValueError: the journal is sealed, and this participant was given no key.
        """
        return JournalLog(entry, await self.transport.records(entry), self._seal_of(entry), self._places)

    async def prepare(self, entry: Bucket[Any] | Objects | Journal[Any] | Work[Any]) -> None:
        """Make what is kept so where there is none; the supervisor does it, who alone may."""
        match entry:
            case Bucket():
                await self.transport.keys(entry)
            case Objects():
                await self.transport.objects(entry)
            case Journal():
                await self.transport.records(entry)
            case Work():
                await self.transport.arrange(entry)

    def _seal_of(self, entry: Bucket[Any] | Objects | Journal[Any]) -> Seal | None:
        if entry.sealed and (self.seal is None or not self.seal.holds(entry.name)):
            msg = f"{entry.name} is sealed"
            raise ValueError(msg)
        return self.seal if entry.sealed else None

    async def _queue(self, work: Work[Any]) -> Queue:
        if work.pattern not in self._queues:
            self._queues[work.pattern] = await self.transport.queue(work)
        return self._queues[work.pattern]

    # -- serving -----------------------------------------------------------------------------------------------------

    async def serve(self, subject: Subject[Any], handler: Handler, *, at_once: int, shared: bool = False) -> None:
        """Answer a call, subscribe to an event or consume work, with at most `at_once` handlers at the same time.

        Every replica gets each event, unless it is `shared`: then one of the actor's gets it.
        """
        if self._tasks is None:
            msg = "serve() belongs inside running()"
            raise RuntimeError(msg)
        if isinstance(subject, Work):
            worker = Worker(subject, handler, at_once, await self._queue(subject), self.wire, self._tasks)
            self._endpoints.append(worker)
            await worker.open()
            return
        endpoint = BusEndpoint(subject, handler, at_once, self.transport, self.wire, self._tasks, shared)
        self._endpoints.append(endpoint)
        await endpoint.open(queue=micro_name(self.actor))

    async def drain(self, drain_ms: int) -> None:
        """Take no new work and see the work in hand through, for at most `drain_ms`; what is left ends in a Fault."""
        with anyio.move_on_after(drain_ms / 1000):
            if self.transport.connected:
                for endpoint in self._endpoints:
                    await endpoint.close()
            await self._until_idle()
        if any(endpoint.meter.in_flight for endpoint in self._endpoints):
            for endpoint in self._endpoints:
                endpoint.stop()
            with anyio.move_on_after(1):
                await self._until_idle()
        with anyio.move_on_after(1):
            await self.transport.flush()

    async def _until_idle(self) -> None:
        while any(endpoint.meter.in_flight for endpoint in self._endpoints):  # noqa: ASYNC110 - looked at by nobody else, and only while it drains
            await anyio.sleep(0.005)

    # -- discovery ---------------------------------------------------------------------------------------------------

    def figures(self) -> Replica:
        """Return what this replica has done so far."""
        own = [(endpoint.meter, endpoint.queued) for endpoint in self._endpoints]
        meters = [*own, *((meter, 0) for meter in self._meters)]
        endpoints = tuple(meter.read(queued) for meter, queued in meters)
        recent = [duration for meter, _ in meters for duration in meter.recent]
        return Replica(
            actor=self.actor,
            replica=self.replica,
            host=socket.gethostname(),
            pid=os.getpid(),
            version=self.version,
            started=self._started,
            in_flight=sum(one.in_flight for one in endpoints),
            queued=sum(one.queued for one in endpoints),
            served=sum(one.calls for one in endpoints),
            errors=sum(one.errors for one in endpoints),
            slow=self.transport.slow,
            p50_ms=percentile_ms(recent, 0.50),
            p99_ms=percentile_ms(recent, 0.99),
            endpoints=endpoints,
            restarts=self.restarts,
            clock_ms=now_ms(),
            vault=self.vault,
            memory_bytes=memory_bytes(),
            accounts=by_account(meter.accounts for meter, _ in meters),
            places=tuple(
                JournalPlace(journal=journal, reader=reader, sequence=sequence)
                for (journal, reader), sequence in sorted(self._places.items())
            ),
        )

    def meter(self, subject: str) -> Meter:
        """Return a meter for work that does not come over the bus; it counts among the figures of this replica."""
        meter = Meter(subject)
        self._meters.append(meter)
        return meter

    async def replicas(
        self, wait_ms: int = 200, *, enough: Callable[[list[Replica]], bool] | None = None
    ) -> tuple[Replica, ...]:
        """Every live replica of every actor that answers within `wait_ms`, sorted; `enough` ends the wait earlier."""
        return await outside("replicas", "", partial(self._replicas, wait_ms, enough), form_of(tuple[Replica, ...]))

    async def _replicas(self, wait_ms: int, enough: Callable[[list[Replica]], bool] | None) -> tuple[Replica, ...]:
        live: list[Replica] = []
        complete = anyio.Event()

        async def hear(message: BusMessage) -> None:
            replica = read_stats(message.payload) if not message.status else None
            if replica is not None:
                live.append(replica)
            if message.status or (enough is not None and enough(live)):
                complete.set()

        inbox = f"{self.transport.inbox}.{FIGURES}.{os.urandom(6).hex()}"
        subscription = await self.transport.subscribe(inbox, hear)
        await self.transport.publish("$SRV.STATS", b"", reply=inbox)
        with anyio.move_on_after(wait_ms / 1000):
            await complete.wait()
        await subscription.drain()
        return tuple(sorted(live, key=lambda replica: (replica.actor, replica.started, replica.replica)))

    @asynccontextmanager
    async def observer(self) -> AsyncGenerator[Observer]:
        """Look at the whole bus while the block lasts.

        Raises:
            FaultError: INTERNAL_UNAVAILABLE, this participant is not trusted with that, or cannot connect for it.
        """
        if self.observing is None:
            raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, _NOT_OBSERVED))
        async with AsyncExitStack() as stack:
            try:
                transport = await stack.enter_async_context(self.observing())
            except TransportError as error:
                log.warning(NOT_OBSERVED, reason=str(error))
                raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, _NOT_OBSERVED)) from None
            yield Observer(transport)

    async def tap(self, subject: str = ">") -> AsyncIterator[BusMessage]:
        """Yield every message on `subject` that this participant may receive; none is held back for it."""
        send, receive = anyio.create_memory_object_stream[BusMessage](_TAP_ROOM)

        async def hear(message: BusMessage) -> None:
            with suppress(anyio.WouldBlock):
                send.send_nowait(message)

        with send, receive:
            subscription = await self.transport.subscribe(subject, hear)
            try:
                async for message in receive:
                    yield message
            finally:
                with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                    await subscription.drain()
