"""Messages between the participants of one process."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Self

import anyio
import structlog
from anyio.abc import TaskGroup
from anyio.lowlevel import checkpoint
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from bus.errors import ForbiddenError, TransportError
from bus.memory.stores import HeldBlobs, HeldKeys, MemoryBlobs, MemoryKeys
from bus.memory.streams import HeldRecords, HeldWork, MemoryQueue, MemoryRecords
from bus.permissions import EVERYTHING, JOURNAL_PREFIX, Grant, covers, inboxes, journal_stream, micro_name, stream_name
from bus.transport import INBOX, BusMessage, Callback, OnMessage, OnRefused, StreamFigures, inbox_of, weight
from protocol.subject_kinds import Bucket, Journal, Objects, Work, matches

log = structlog.stdlib.get_logger()

SLOW_CONSUMER = "slow_consumer"
LISTENER_FAILED = "listener_failed"

MAX_PAYLOAD = 1024 * 1024
PENDING_LIMIT = 65_536


class Broker:
    """What the participants of one process meet at."""

    def __init__(self, max_payload: int = MAX_PAYLOAD, pending_limit: int = PENDING_LIMIT) -> None:
        """Carry messages of up to `max_payload` bytes, and hold `pending_limit` of them for each listener."""
        self.max_payload = max_payload
        self.pending_limit = pending_limit
        self.subscriptions: list[MemorySubscription] = []
        self.blobs = HeldBlobs()
        self.stores: dict[str, HeldBlobs] = {}
        self.tables: dict[str, HeldKeys] = {}
        self.journals: dict[str, HeldRecords] = {}
        self.queues: dict[str, HeldWork] = {}
        self._grants: dict[str, Grant] = {}
        self._inboxes: dict[str, tuple[str, ...]] = {}
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Start to carry."""
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *problem: object) -> None:
        """Stop, whatever is under way."""
        self.tasks.cancel_scope.cancel()
        await self.tasks.__aexit__(None, None, None)

    @property
    def tasks(self) -> TaskGroup:
        """Where the listeners run."""
        if self._tasks is None:
            msg = "the broker is not open"
            raise RuntimeError(msg)
        return self._tasks

    def connect(self, actor: str, allowed: Grant = EVERYTHING) -> MemoryTransport:
        """Return a transport to one participant."""
        if self._grants.get(actor) is not allowed:
            self._grants[actor] = allowed
            self._inboxes.clear()
        return MemoryTransport(self, actor, allowed)

    def inboxes(self, actor: str) -> tuple[str, ...]:
        """Return where a participant may reply, to those who have taken part."""
        if actor not in self._inboxes:
            self._inboxes[actor] = inboxes(self._grants[actor], self._grants)
        return self._inboxes[actor]

    def deliver(self, message: BusMessage) -> bool:
        """Hand a message to its listeners; False when nobody listens."""
        groups: dict[str, list[MemorySubscription]] = {}
        hearers: list[MemorySubscription] = []
        for subscription in self.subscriptions:
            if subscription.owner.connected and matches(message.subject, subscription.subject):
                (groups.setdefault(subscription.queue, []) if subscription.queue else hearers).append(subscription)
        hearers += [random.choice(members) for members in groups.values()]  # noqa: S311 - as NATS picks, and no secret
        for hearer in hearers:
            hearer.put(message)
        return bool(hearers)


@dataclass(eq=False)
class MemorySubscription:
    """A queue of messages and a task that hands them over, one at a time."""

    subject: str
    queue: str
    on_message: OnMessage
    owner: MemoryTransport
    broker: Broker
    send: MemoryObjectSendStream[BusMessage]
    receive: MemoryObjectReceiveStream[BusMessage]
    ended: anyio.Event = field(default_factory=anyio.Event)

    @property
    def pending(self) -> int:
        """Messages that were not handed over yet."""
        return self.receive.statistics().current_buffer_used

    def put(self, message: BusMessage) -> None:
        """Queue a message, or lose it when there is no room."""
        try:
            self.send.send_nowait(message)
        except anyio.WouldBlock:
            self.owner.slow += 1
            log.warning(SLOW_CONSUMER, actor=self.owner.actor, subject=self.subject, lost=self.owner.slow)

    async def run(self) -> None:
        """Hand over until the end."""
        with self.send, self.receive:
            async for message in self.receive:
                try:
                    await self.on_message(message)
                except TransportError as error:
                    log.warning(LISTENER_FAILED, actor=self.owner.actor, reason=str(error))
        self.ended.set()

    def end(self) -> None:
        """Take no more messages."""
        if self in self.broker.subscriptions:
            self.broker.subscriptions.remove(self)
            self.send.close()

    async def drain(self) -> None:
        """Take no more messages, then hand over those that have arrived."""
        self.end()
        await self.ended.wait()


class MemoryTransport:
    """One participant's end of a Broker."""

    def __init__(self, broker: Broker, actor: str, allowed: Grant) -> None:
        """Take part as `actor`, within what is `allowed`."""
        self._broker = broker
        self._allowed = allowed
        self._lost: list[Callback] = []
        self._back: list[Callback] = []
        self.actor = actor
        self.max_payload = broker.max_payload
        self.inbox = f"{INBOX}.{micro_name(actor)}.{token_hex(8)}"
        self.connected = True
        self.slow = 0
        self.blobs = MemoryBlobs(broker.blobs, self.check_connected)

    def watch_connection(self, *, lost: Callback, back: Callback) -> None:
        """Have `lost` and `back` called by `disconnect` and `reconnect`."""
        self._lost.append(lost)
        self._back.append(back)

    def watch_refusals(self, refused: OnRefused) -> None:
        """Return at once: whoever publishes without permission is refused there."""

    async def disconnect(self) -> None:
        """Break the connection, as a server that dies does."""
        self.connected = False
        for callback in self._lost:
            await callback()

    async def reconnect(self) -> None:
        """Mend the connection."""
        self.connected = True
        for journal in self._broker.journals.values():
            journal.tell()
        for callback in self._back:
            await callback()

    def check_connected(self) -> None:
        """Refuse to go on while the connection is broken."""
        if not self.connected:
            msg = "not connected"
            raise TransportError(msg)

    async def publish(
        self, subject: str, payload: bytes, *, reply: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a message."""
        self.check_connected()
        if (size := weight(payload, headers)) > self.max_payload:
            msg = f"{size} bytes are more than the {self.max_payload} of one message"
            raise TransportError(msg)
        self._check_subject(subject)
        await checkpoint()
        message = BusMessage(subject, bytes(payload), inbox_of(reply), dict(headers or {}))
        heard = self._broker.deliver(message)
        if not heard and reply:
            self._broker.deliver(BusMessage(reply, b"", status="503"))

    async def subscribe(
        self,
        subject: str,
        on_message: OnMessage,
        *,
        queue: str = "",
        prompt: bool = False,  # noqa: ARG002 - all wait for their turn here
    ) -> MemorySubscription:
        """Have `on_message` called with each message."""
        if not self._allowed.may_subscribe(subject):
            raise ForbiddenError(self.actor, subject, "subscribe")
        send, receive = anyio.create_memory_object_stream[BusMessage](self._broker.pending_limit)
        subscription = MemorySubscription(subject, queue, on_message, self, self._broker, send, receive)
        self._broker.subscriptions.append(subscription)
        self._broker.tasks.start_soon(subscription.run)
        return subscription

    async def flush(self) -> None:
        """Let everybody run once."""
        self.check_connected()
        await checkpoint()

    async def keys(self, bucket: Bucket[Any]) -> MemoryKeys:
        """Open the bucket of that name."""
        self._check_use(f"$KV.{bucket.name}.>")
        held = self._broker.tables.setdefault(bucket.name, HeldKeys(bucket.ttl_ms))
        return MemoryKeys(held, self.check_connected)

    async def objects(self, store: Objects) -> MemoryBlobs:
        """Open the object store of that name."""
        self._check_use(f"$O.{store.name}.>")
        held = self._broker.stores.setdefault(store.name, HeldBlobs(store.ttl_ms, store.max_bytes))
        return MemoryBlobs(held, self.check_connected)

    async def records(self, journal: Journal[Any]) -> MemoryRecords:
        """Open the journal of that name."""
        self._check_use(f"$JS.API.STREAM.INFO.{journal_stream(journal)}")
        held = self._broker.journals.setdefault(journal.name, HeldRecords(journal.ttl_ms, journal.max_bytes))
        return MemoryRecords(held, journal.name, self.max_payload, self.check_connected, self._check_use)

    async def queue(self, work: Work[Any]) -> MemoryQueue:
        """Open the queue of that work."""
        name = stream_name(work)
        self._check_use(f"$JS.API.STREAM.INFO.{name}")
        held = self._broker.queues.setdefault(name, HeldWork(work))
        return MemoryQueue(held, name, self.check_connected, self._check_use)

    async def arrange(self, work: Work[Any]) -> None:
        """Make the queue of that work, or give the one there is its numbers."""
        name = stream_name(work)
        self._check_use(f"$JS.API.CONSUMER.CREATE.{name}")
        self._broker.queues.setdefault(name, HeldWork(work)).work = work

    async def streams(self) -> tuple[StreamFigures, ...]:
        """Return how the journals and the queues stand."""
        self._check_use("$JS.API.STREAM.LIST")
        journals = [held.figures(f"{JOURNAL_PREFIX}{name}") for name, held in self._broker.journals.items()]
        queues = [held.figures(name) for name, held in self._broker.queues.items()]
        return tuple(sorted((*journals, *queues), key=lambda one: one.name))

    async def close(self) -> None:
        """Go."""
        self.connected = False
        for subscription in list(self._broker.subscriptions):
            if subscription.owner is self:
                subscription.end()

    def _check_subject(self, subject: str) -> None:
        """Refuse what is neither declared nor a reply to one who may ask."""
        if not subject:
            msg = "no subject"
            raise TransportError(msg)
        if self._allowed.may_publish(subject):
            return
        if not any(covers(inbox, subject) for inbox in self._broker.inboxes(self.actor)):
            raise ForbiddenError(self.actor, subject)

    def _check_use(self, subject: str) -> None:
        if not self._allowed.may_use(subject):
            raise ForbiddenError(self.actor, subject)
