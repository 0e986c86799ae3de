"""A durable queue of work on JetStream: pulled, not pushed, so that whoever has room takes it."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import anyio
import msgspec
import structlog
from msgspec import Struct
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DiscardPolicy,
    PubAck,
    RawStreamMsg,
    RetentionPolicy,
    StorageType,
    StreamConfig,
    StreamInfo,
)
from nats.js.errors import APIError, NotFoundError

from bus.errors import TransportError
from bus.nats.client import HearingClient, Waits, translated_errors, translated_writes
from bus.permissions import stream_name
from bus.transport import BusMessage, Taken
from protocol.subject_kinds import Work

DUPLICATE_WINDOW_S = 300
"""How long a packet id is remembered, so that a second put of it is nothing."""

CONFIRM_S = 5
"""How long to wait for the server to confirm that work was done."""

_NOTHING_THERE = ("404", "408")
"""The server's word for: no work in the time allowed."""

SWEEP_S = 5
"""How often each replica looks for lines that somebody who died was about to advance."""

_SHARE = "share"
"""The metadata of a stream that says how much of one account stands in the queue."""

_ID = "Nats-Msg-Id"
_LINED = "line."
"""Before the id of what waits in a line."""

_GONE = (10043, 10057)
"""Codes of the JetStream API: no message of that sequence, any more."""

NOT_ADVANCED = "work_not_advanced"

log = structlog.stdlib.get_logger()


class _Line(NamedTuple):
    """How much more of a line may stand in the queue, and how much waits."""

    room: int
    waiting: int


class WorkQueue:
    """The queue of one kind of work."""

    def __init__(self, client: HearingClient, work: Work[Any]) -> None:
        """Use the queue of `work`; `open` makes it where there is none."""
        self._client = client
        self._stream = client.jetstream()
        self._work = work
        self._name = stream_name(work)
        self._swept_at = -math.inf
        self.waits = Waits()

    async def open(self) -> None:
        """Find the stream with its consumer, or make them."""
        with translated_errors():
            try:
                await self._stream.stream_info(self._name)
            except NotFoundError:
                await self._create()

    async def arrange(self) -> None:
        """Make the stream with its consumer, or give those that there are the numbers of the work."""
        await self.open()
        with translated_errors():
            config = (await self._stream.stream_info(self._name)).config
            metadata = {**(config.metadata or {}), **self._metadata}
            if config.subjects != [*self._work.kept] or config.metadata != metadata:
                await self._stream.update_stream(config.evolve(subjects=[*self._work.kept], metadata=metadata))
            await self._consume()

    async def _create(self) -> None:
        await self._stream.add_stream(
            StreamConfig(
                name=self._name,
                subjects=[*self._work.kept],
                retention=RetentionPolicy.WORK_QUEUE,
                discard=DiscardPolicy.NEW,
                storage=StorageType.FILE,
                duplicate_window=DUPLICATE_WINDOW_S,
                metadata=self._metadata,
            )
        )
        await self._consume()

    @property
    def _metadata(self) -> dict[str, str]:
        """Where everybody who puts or finishes reads the share that the overseer has set."""
        return {} if self._work.share is None else {_SHARE: str(self._work.share)}

    async def _consume(self) -> None:
        await self._stream.add_consumer(
            self._name,
            ConsumerConfig(
                durable_name=self._name,
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=self._work.ack_wait_ms / 1000,
                max_deliver=_or_any(self._work.max_deliver),
                max_ack_pending=_or_any(self._work.at_once),
                filter_subjects=None if self._work.share is None else [self._work.wildcard, self._work.standing("*")],
            ),
        )

    async def put(self, message: BusMessage, line: str) -> None:
        """Add work; returns when it is stored, which its id keeps from happening twice."""
        if self._work.share is None:
            await self._store(message.subject, message.payload, message.headers)
            return
        stands = await self._look(line)
        if stands.room > 0 and not stands.waiting:
            await self._store(self._work.standing(line), message.payload, message.headers)
            return
        headers = dict(message.headers)
        if identity := headers.get(_ID):
            headers[_ID] = _LINED + identity  # its own is for its place in the queue
        await self._store(self._work.waiting(line), message.payload, headers)
        await self._advance(line)

    async def take(self, limit: int, timeout_s: float) -> list[Taken]:
        """Take up to `limit` pieces of work."""
        if self._work.share is not None and time.monotonic() >= self._swept_at + SWEEP_S:
            self._swept_at = time.monotonic()
            await self._sweep()
        return await self.waits.again(lambda: self._pull(limit, timeout_s))

    async def refill(self, subject: str) -> None:
        """Have the next of its line take the place of what is done; where this fails, a sweep does."""
        if self._work.share is None:
            return
        try:
            await self._advance(subject.rpartition(".")[2])
        except TransportError as error:
            log.warning(NOT_ADVANCED, subject=self._work.pattern, reason=str(error))

    async def _store(self, subject: str, payload: bytes, headers: Mapping[str, str]) -> PubAck:
        with translated_writes(self._client):
            return await self.waits.again(lambda: self._stream.publish(subject, payload, headers=dict(headers)))

    async def _advance(self, line: str) -> None:
        """Have as much of a line stand in the queue as is its share; what two replicas move at once is there once.

        One look is enough: whoever puts or finishes something meanwhile looks after that.
        """
        room, waiting = await self._look(line)
        while room > 0 and waiting > 0:
            with translated_errors():
                try:
                    first = await self._first(self._work.waiting(line))
                except NotFoundError:
                    return
            kept = cast("dict[str, str]", first.headers or {})
            headers = {name: value.removeprefix(_LINED) for name, value in kept.items()}
            stored = await self._store(self._work.standing(line), first.data or b"", headers)
            with translated_errors():
                await self._delete(first)
            waiting -= 1
            room -= 0 if stored.duplicate else 1

    async def _look(self, line: str) -> _Line:
        info = await self._info(self._work.either(line))
        counts = info.state.subjects or {}
        share = int((info.config.metadata or {}).get(_SHARE, self._work.share or 1))
        return _Line(share - counts.get(self._work.standing(line), 0), counts.get(self._work.waiting(line), 0))

    async def _sweep(self) -> None:
        """Advance every line: whoever should have done so may have died."""
        for subject in (await self._info(self._work.waiting("*"))).state.subjects or {}:
            await self._advance(subject.rpartition(".")[2])

    async def _info(self, subjects: str) -> StreamInfo:
        with translated_errors():
            return await self.waits.again(lambda: self._stream.stream_info(self._name, subjects_filter=subjects))

    async def _first(self, subject: str) -> RawStreamMsg:
        return await self.waits.again(lambda: self._stream.get_msg(self._name, seq=1, subject=subject, next=True))

    async def _delete(self, message: RawStreamMsg) -> None:
        try:
            await self.waits.again(lambda: self._stream.delete_msg(self._name, message.seq or 0))
        except APIError as error:
            if error.err_code not in _GONE:
                raise

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
                taken.append(TakenMessage(message, self))
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
    queue: WorkQueue

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
            await self.queue.waits.again(lambda: self.inner.ack_sync(timeout=CONFIRM_S))
        await self.queue.refill(self.inner.subject)

    async def again(self, delay_s: float) -> None:
        """Put it back."""
        with translated_errors():
            await self.inner.nak(delay=delay_s)


def _or_any(number: int | None) -> int:
    """Spell a limit as JetStream does, where -1 is none."""
    return -1 if number is None else number
