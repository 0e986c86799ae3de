"""The NATS transport: nats-py, with its settings and its traps in one place."""

from __future__ import annotations

import logging
import re
import ssl
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from secrets import token_hex
from typing import Any, cast

import anyio
import structlog
from anyio import to_thread
from msgspec import Struct
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription as NatsSubscription
from nats.errors import Error, MaxPayloadError, SlowConsumerError
from nats.js import JetStreamContext

from bus.errors import ForbiddenError, TransportError, UnconnectedError
from bus.nats.claims import ClaimStore, create_claims
from bus.nats.client import FAILURES, HearingClient, failure, reason_of, together, translated_errors, trusted
from bus.nats.keys import NKey
from bus.nats.keyvalue import KeyValue
from bus.nats.objects import ObjectStore, create
from bus.nats.records import JournalRecords
from bus.nats.room import allot
from bus.nats.streams import figures
from bus.nats.workqueue import WorkQueue
from bus.permissions import STORE_API, micro_name
from bus.transport import INBOX, BusMessage, Callback, OnMessage, OnRefused, StreamFigures, inbox_of, weight
from protocol.subject_kinds import Bucket, Journal, Objects, Work
from protocol.subjects import STORAGE_FILLED

log = structlog.stdlib.get_logger()

SLOW_CONSUMER = "slow_consumer"
SERVER_COMPLAINED = "server_complained"

RECONNECT_WAIT_S = 0.05
"""Between two tries to reconnect; a server that is back is noticed within tens of milliseconds."""

PENDING_BYTES = 8 * 1024 * 1024
"""What may wait to be sent while the connection is broken; more is refused."""

_REFUSED = re.compile(r'permissions violation for publish to "([^"]+)"')
"""What nats-server complains of, in the lower case that nats-py brings it in."""

PENDING_LIMIT = 65_536
"""Messages that each listener may have waiting; more are lost, counted and logged."""

CLOSE_S = 2


@asynccontextmanager
async def connect(  # noqa: PLR0913 - who connects, where to, and two limits
    url: str,
    actor: str,
    key: NKey | None = None,
    *,
    store_url: str = "",
    ca_file: str = "",
    connect_timeout_s: float = 5.0,
    pending_limit: int = PENDING_LIMIT,
) -> AsyncGenerator[NatsTransport]:
    """Take part over connections of its own, by nkey where one is given.

    With a key or a `store_url` what is kept is reached by a second connection, in another account than the bus. A
    server's certificate has to be from an authority of `ca_file`, or else of this machine.

    Raises:
        UnconnectedError: nobody answers at `url`, or one of both does not accept the other.
    """
    authorities = await to_thread.run_sync(trusted, ca_file) if ca_file else None
    transport = NatsTransport(actor, pending_limit, authorities)
    try:
        try:
            with anyio.fail_after(connect_timeout_s):
                await transport.open(url, key, store_url)
        except (OSError, TimeoutError, Error) as error:
            msg = f"no connection to NATS at {hide_credentials(url)}: {reason_of(transport.client.last_error or error)}"
            raise UnconnectedError(msg) from error
        yield transport
    finally:
        with anyio.CancelScope(shield=True):
            await transport.close()


def hide_credentials(url: str) -> str:
    """Leave the user and password out of the URL, or the list of URLs, in which they may stand."""
    return ",".join(_bare(one) for one in url.split(","))


FULL_S = 10.0
"""How long it counts that the disk was told to be full; as long as it is, that is told every few seconds."""


def _bare(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


class NatsTransport:
    """One participant's connection."""

    def __init__(
        self, actor: str, pending_limit: int = PENDING_LIMIT, authorities: ssl.SSLContext | None = None
    ) -> None:
        """Take part as `actor`, on servers whose certificates `authorities` accept; `open` connects."""
        self._client = HearingClient()
        self._store = self._client
        self._actor = actor
        self._authorities = authorities
        self._opened = False
        self._told_failures: set[str] = set()
        self._pending_limit = pending_limit
        self._tables: dict[str, KeyValue] = {}
        self._queues: dict[str, WorkQueue] = {}
        self._lost: list[Callback] = []
        self._back: list[Callback] = []
        self._store_back: list[Callback] = []
        self._refused: list[OnRefused] = []
        self.inbox = f"{INBOX}.{micro_name(actor)}.{token_hex(8)}"
        self.slow = 0
        self._stores: dict[str, ObjectStore] = {}
        self._journals: dict[str, JournalRecords] = {}
        self.blobs = ClaimStore(lambda: self._store)
        self._store_back.append(self.blobs.waits.reconnected)
        self.closed = anyio.Event()

    async def open(self, url: str, key: NKey | None, store_url: str = "") -> None:
        """Connect: to the bus, and where things are kept in another account, to that."""
        await self._connect_both(url, key, store_url)
        with translated_errors():
            await self._client.subscribe(STORAGE_FILLED.wildcard, cb=self._filled)
        self._opened = True

    async def _connect_both(self, url: str, key: NKey | None, store_url: str) -> None:
        if key is None and not store_url:
            await self._connect(self._client, url, None, lost=self._on_lost, back=self._on_all_back)
            return
        self._store = HearingClient()
        self._store.api = STORE_API
        own = partial(self._connect, self._store, store_url or url, key.store if key else None)
        await together(
            [
                partial(self._connect, self._client, url, key, lost=self._on_lost, back=self._on_back),
                partial(own, lost=_nothing, back=self._on_store_back),
            ]
        )

    async def _connect(
        self, client: HearingClient, url: str, key: NKey | None, *, lost: Callback, back: Callback
    ) -> None:
        await client.connect(
            servers=[server.strip() for server in url.split(",")],
            name=self._actor,
            nkeys_seed_str=key.seed if key else None,
            inbox_prefix=self.inbox,
            allow_reconnect=True,
            connect_timeout=1,
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_WAIT_S,  # type: ignore[arg-type]  # nats-py sleeps for it, so a float is fine
            ping_interval=5,
            max_outstanding_pings=2,
            pending_size=PENDING_BYTES,
            error_cb=self._complained,
            disconnected_cb=lost,
            reconnected_cb=back,
            closed_cb=self._on_closed,
            tls=self._authorities,
        )

    @property
    def max_payload(self) -> int:
        """The largest message that the server takes, in bytes."""
        return self._client.max_payload

    @property
    def connected(self) -> bool:
        """Whether messages flow at the moment."""
        return self._client.is_connected

    @property
    def jetstream(self) -> JetStreamContext:
        """Return the streams of the server, for what only NATS has."""
        return self._store.jetstream()

    @property
    def client(self) -> Client:
        """The connection to the bus itself, for what only NATS has."""
        return self._client

    @property
    def store(self) -> Client:
        """The connection to what is kept itself, for what only NATS has."""
        return self._store

    def watch_connection(self, *, lost: Callback, back: Callback) -> None:
        """Have `lost` and `back` called as the connection breaks and stands again."""
        self._lost.append(lost)
        self._back.append(back)

    def watch_refusals(self, refused: OnRefused) -> None:
        """Have `refused` called whenever the server did not let this participant publish."""
        self._refused.append(refused)

    async def publish(
        self, subject: str, payload: bytes, *, reply: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a message."""
        if weight(payload, headers) > self.max_payload:
            # nats-py counts the payload alone; the server, which counts the headers too, would close the connection.
            raise TransportError(MaxPayloadError.__name__)
        try:
            await self._client.publish(subject, payload, reply, cast("dict[str, str] | None", headers or None))
        except FAILURES as error:
            raise failure(error) from error

    async def subscribe(
        self, subject: str, on_message: OnMessage, *, queue: str = "", prompt: bool = False
    ) -> Listener:
        """Have `on_message` called with each message; it only starts work, nats-py waits for it."""

        async def arrived(message: Msg) -> None:
            headers = message.headers or {}
            await on_message(
                BusMessage(message.subject, message.data, inbox_of(message.reply), headers, headers.get("Status", ""))
            )

        client = self._client
        options: dict[str, Any] = {"queue": queue, "pending_msgs_limit": self._pending_limit}
        with translated_errors():
            if prompt:
                subscription = await client.subscribe_promptly(subject, arrived, **options)
            else:
                subscription = await client.subscribe(subject, cb=arrived, **options)
        return Listener(self._client, subscription)

    async def flush(self) -> None:
        """Wait until the server has seen everything sent so far."""
        await _flush(self._client)
        if self._store is not self._client:
            await _flush(self._store)

    async def keep_claims(self, replicas: int = 1) -> None:
        """Make the stream of claim checks now, and whenever the connection comes back: a server's memory is fleeting.

        One participant does it, who may: the supervisor.
        """

        async def make() -> None:
            await create_claims(self._store.jetstream(), replicas)

        await make()
        self._store_back.append(make)

    async def keys(self, bucket: Bucket[Any]) -> KeyValue:
        """Open the bucket of that name."""
        if bucket.name not in self._tables:
            store = KeyValue(self._store, bucket)
            await store.open()
            self._tables[bucket.name] = store
            self._store_back.append(store.waits.reconnected)
        return self._tables[bucket.name]

    async def objects(self, store: Objects) -> ObjectStore:
        """Open the store of that name."""
        if store.name not in self._stores:
            opened = ObjectStore(self._store, store.name)
            await opened.open(lambda: create(self._store.jetstream(), store))
            self._stores[store.name] = opened
            self._store_back.append(opened.waits.reconnected)
        return self._stores[store.name]

    async def records(self, journal: Journal[Any]) -> JournalRecords:
        """Open the journal of that name."""
        if journal.name not in self._journals:
            records = JournalRecords(self._store, journal)
            await records.open()
            self._journals[journal.name] = records
            self._store_back.append(records.reconnected)
        return self._journals[journal.name]

    async def queue(self, work: Work[Any]) -> WorkQueue:
        """Open the queue of that work."""
        if work.wildcard not in self._queues:
            queue = WorkQueue(self._store, work)
            await queue.open()
            self._queues[work.wildcard] = queue
            self._store_back.append(queue.waits.reconnected)
        return self._queues[work.wildcard]

    async def arrange(self, work: Work[Any]) -> None:
        """Make the queue of that work, or give the one there is its numbers."""
        await WorkQueue(self._store, work).arrange()

    async def allot(self, entries: Sequence[Objects | Journal[Any]], limit_bytes: int | None) -> None:
        """Make what is bounded, each with its share of the room (`bus.nats.room`); the supervisor does it, who may."""
        await allot(self._store, entries, limit_bytes)

    async def streams(self) -> tuple[StreamFigures, ...]:
        """Return how all that is kept stands."""
        return await figures(self._store)

    async def close(self) -> None:
        """Send what is left and go; never hangs and never fails."""
        self._back.clear()
        self._store_back.clear()
        self._lost.clear()
        async with anyio.create_task_group() as tasks:
            for client in {self._client, self._store}:
                tasks.start_soon(self._close, client)

    async def _close(self, client: HearingClient) -> None:
        try:
            with anyio.move_on_after(CLOSE_S):
                if client.is_connected:
                    await _flush(client)
            with anyio.move_on_after(CLOSE_S), translated_errors():
                await client.close()
                await _stop_reconnecting(client)
        except TransportError as error:
            log.debug(SERVER_COMPLAINED, actor=self._actor, reason=str(error))

    async def _complained(self, error: Exception) -> None:
        """Note what went wrong; nothing may be raised here, or the connection goes deaf."""
        if isinstance(error, SlowConsumerError):
            self.slow += 1
            log.warning(SLOW_CONSUMER, actor=self._actor, subject=error.subject, lost=self.slow)
            return
        if match := _REFUSED.search(str(error)):
            for refused in self._refused:
                refused(ForbiddenError(self._actor, match[1]))
        reason = reason_of(error)
        level = logging.WARNING if self._is_news(reason) else logging.DEBUG
        log.log(level, SERVER_COMPLAINED, actor=self._actor, reason=reason)

    def _is_news(self, reason: str) -> bool:
        """Return whether a person should hear of it: why it cannot connect is heard 20 times a second until it can.

        At first the error that `connect` raises says it; later each reason is told once before it is back.
        """
        if self._client.is_connected and self._store.is_connected:
            return True
        known = reason in self._told_failures or not self._opened
        self._told_failures.add(reason)
        return not known

    async def _on_lost(self) -> None:
        for callback in list(self._lost):
            await callback()

    async def _on_back(self) -> None:
        self._told_failures.clear()
        await self._call(self._back)

    async def _on_store_back(self) -> None:
        await self._call(self._store_back)

    async def _on_all_back(self) -> None:
        self._told_failures.clear()
        await self._call([*self._store_back, *self._back])

    async def _call(self, callbacks: list[Callback]) -> None:
        for callback in list(callbacks):
            try:
                await callback()
            except TransportError as error:
                log.warning(SERVER_COMPLAINED, actor=self._actor, reason=str(error))

    async def _filled(self, _: Msg) -> None:
        self._store.full_until_s = time.monotonic() + FULL_S

    async def _on_closed(self) -> None:
        self.closed.set()


async def _nothing() -> None:
    """Leave it to the other connection, which breaks with the same server, to say that one broke."""


async def _flush(client: Client) -> None:
    """Wait until the server has seen everything; twice, because nats-py writes the PING ahead of what is pending."""
    with translated_errors():
        await client.flush(timeout=5)
        await client.flush(timeout=5)


async def _stop_reconnecting(client: Client) -> None:
    """Make sure of what nats-py forgets: before Python 3.12 a cancellation is lost when a connect fails with it."""
    task = client._reconnection_task  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # no other way
    while task is not None and not task.done():
        task.cancel()
        await anyio.sleep(RECONNECT_WAIT_S / 10)


class Listener(Struct, frozen=True):
    """A subscription of nats-py."""

    client: Client
    inner: NatsSubscription

    @property
    def pending(self) -> int:
        """Messages that were not handed over yet."""
        return self.inner.pending_msgs

    async def drain(self) -> None:
        """Take no more messages, then hand over those that have arrived."""
        try:
            with translated_errors():
                await self.inner.drain()  # type: ignore[no-untyped-call]  # nats-py
        except TransportError as error:
            log.debug(SERVER_COMPLAINED, reason=str(error))
