"""A durable queue of work on JetStream: pulled, not pushed, so that whoever has room takes it."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
from msgspec import Struct
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import NotFoundError

from bus.errors import TransportError
from bus.nats.client import HearingClient, Waits, translated_errors
from bus.permissions import stream_name
from bus.transport import BusMessage, Taken
from protocol.subject_kinds import Work

DUPLICATE_WINDOW_S = 300
"""How long a packet id is remembered, so that a second put of it is nothing."""

CONFIRM_S = 5
"""How long to wait for the server to confirm that work was done."""

_NOTHING_THERE = ("404", "408")
"""The server's word for: no work in the time allowed."""


class WorkQueue:
    """The queue of one kind of work."""

    def __init__(self, client: HearingClient, work: Work[Any]) -> None:
        """Use the queue of `work`; `open` makes it where there is none."""
        self._client = client
        self._stream = client.jetstream()
        self._work = work
        self._name = stream_name(work)
        self.waits = Waits()

    async def open(self) -> None:
        """Find the stream with its consumer, or make them."""
        with translated_errors():
            try:
                await self._stream.stream_info(self._name)
            except NotFoundError:
                await self._create()

    async def arrange(self) -> None:
        """Make the stream with its consumer, or give the consumer there is the numbers of the work."""
        await self.open()
        with translated_errors():
            await self._consume()

    async def _create(self) -> None:
        await self._stream.add_stream(
            StreamConfig(
                name=self._name,
                subjects=[self._work.wildcard],
                retention=RetentionPolicy.WORK_QUEUE,
                discard=DiscardPolicy.NEW,
                storage=StorageType.FILE,
                duplicate_window=DUPLICATE_WINDOW_S,
            )
        )
        await self._consume()

    async def _consume(self) -> None:
        await self._stream.add_consumer(
            self._name,
            ConsumerConfig(
                durable_name=self._name,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=self._work.ack_wait_ms / 1000,
                max_deliver=_or_any(self._work.max_deliver),
                max_ack_pending=_or_any(self._work.at_once),
            ),
        )

    async def put(self, subject: str, message: BusMessage) -> None:
        """Add work; returns when it is stored, which its id keeps from happening twice."""
        with translated_errors():
            await self.waits.again(
                lambda: self._stream.publish(subject, message.payload, headers=dict(message.headers))
            )

    async def take(self, limit: int, timeout_s: float) -> list[Taken]:
        """Take up to `limit` pieces of work."""
        return await self.waits.again(lambda: self._pull(limit, timeout_s))

    async def _pull(self, limit: int, timeout_s: float) -> list[Taken]:
        """Ask on an inbox of its own, which is drained after the first answer: by then all there is has arrived.

        nats-py's own `fetch` keeps the first pieces back until the last has come or the time is over, and forgets
        what arrives after it was cancelled.
        """
        taken: list[Taken] = []
        refusal = ""
        answered = anyio.Event()

        async def arrived(message: Msg) -> None:
            nonlocal refusal
            status = (message.headers or {}).get("Status", "")
            if not status:
                taken.append(TakenMessage(message, self.waits))
            elif status not in _NOTHING_THERE:
                refusal = (message.headers or {}).get("Description", status)
            answered.set()

        with translated_errors():
            inbox = self._client.new_inbox()
            subscription = await self._client.subscribe(inbox, cb=arrived)
            complete = False
            try:
                request = msgspec.json.encode({"batch": limit, "expires": int(timeout_s * 1e9)})
                subject = f"{self._client.api}.CONSUMER.MSG.NEXT.{self._name}.{self._name}"
                await self._client.publish(subject, request, reply=inbox)
                with anyio.move_on_after(timeout_s):
                    await answered.wait()
                await self._end(subscription)
                complete = True
            finally:
                if not complete:
                    with anyio.CancelScope(shield=True):
                        await self._give_back(subscription, taken)
        if refusal and not taken:
            raise TransportError(refusal)
        return taken

    async def _end(self, subscription: Subscription) -> None:
        """Withdraw the request, and wait for what was sent before the server knew."""
        if self._client.is_connected:
            await subscription.drain()  # type: ignore[no-untyped-call]  # nats-py
        else:
            await subscription.unsubscribe()

    async def _give_back(self, subscription: Subscription, taken: list[Taken]) -> None:
        """Leave to others what arrived for somebody who does not wait for it any more."""
        try:
            with translated_errors(), anyio.move_on_after(CONFIRM_S):
                await self._end(subscription)
                for one in taken:
                    await one.again(0)
        except TransportError:
            return


class TakenMessage(Struct, frozen=True):
    """One piece of work in hand."""

    inner: Msg
    waits: Waits

    @property
    def message(self) -> BusMessage:
        """The work."""
        return BusMessage(self.inner.subject, self.inner.data, headers=self.inner.headers or {})

    @property
    def deliveries(self) -> int:
        """How often it was handed out."""
        return self.inner.metadata.num_delivered or 1

    async def alive(self) -> None:
        """Say that it is still being worked on."""
        with translated_errors():
            await self.inner.in_progress()

    async def finish(self) -> None:
        """Take it out of the queue."""
        with translated_errors():
            await self.waits.again(lambda: self.inner.ack_sync(timeout=CONFIRM_S))

    async def again(self, delay_s: float) -> None:
        """Put it back."""
        with translated_errors():
            await self.inner.nak(delay=delay_s)


def _or_any(number: int | None) -> int:
    """Spell a limit as JetStream does, where -1 is none."""
    return -1 if number is None else number
