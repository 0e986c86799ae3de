"""Durable work: put into a queue by one actor, pulled by whichever replica of another has room."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio
import structlog
from anyio.abc import TaskGroup

from bus.context import account, conversation, current_account
from bus.errors import TransportError
from bus.fairness import NO_LINE, account_of
from bus.recording import recorded
from bus.serving import HANDLER_BROKE, PACKET_REFUSED, Handler
from bus.stats import Meter
from bus.tracing import Span, inject, sending, span
from bus.transport import BusMessage, Queue, Taken
from bus.wire import ACCOUNT, PacketCodec, claim_of
from protocol.codec import MalformedError, encode
from protocol.faults import Code, Fault, FaultError, fault
from protocol.packets import Request
from protocol.subject_kinds import Work

log = structlog.stdlib.get_logger()

WORK_DONE = "work_done"
WORK_POSTPONED = "work_postponed"
WORK_FAILED = "work_failed"
WORK_LOST = "work_lost"
WORK_IN_HAND = "work_in_hand"

PULL_S = 5.0
"""How long one request for work stands."""

RETRY_DELAY_S = 1.0
"""Before work that ended in a retryable Fault is handed out again, unless the Fault names a delay."""

PACKET_ID = "Nats-Msg-Id"


_REQUEST: Any = Request
"""For types that are known at run time only."""

A = TypeVar("A")


async def enqueue(queue: Queue, wire: PacketCodec, work: Work[A], args: A, packet_id: str) -> str:
    """Put work into its queue; returns its packet id when it is stored. The same id twice is once."""
    packet, began_s = wire.request(work, args, packet_id), time.time()
    with span(f"send {work.pattern}", "producer", sending(work.pattern)):
        written = encode(packet)
        packed = await wire.pack(written, work.pattern, {PACKET_ID: packet.id})
        if packed.claim is not None:
            await wire.forget(packed.claim)
            message = (
                f"The arguments of {work.task} are too large to be kept in a queue; keep them elsewhere and name them"
            )
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message))
        if (own := current_account()) is not None:
            packed.headers[ACCOUNT] = own.header
        inject(packed.headers)
        stored = BusMessage(work.pattern, packed.payload, headers=packed.headers)
        await queue.put(stored, NO_LINE if own is None else own.line)
        if wire.recorder is not None:
            wire.recorder.sent("work", work.pattern, packet, written, None, began_s)
    return packet.id


@dataclass
class Worker:
    """Pulls work for one handler: as much as it has room for, and says that it lives while it works.

    A server that is killed forgets what it has just handed out, and hands it out again; what is in hand is not begun
    twice, and what it came to settles each of its deliveries: the server knows the last alone.
    """

    work: Work[Any]
    handler: Handler
    at_once: int
    queue: Queue
    wire: PacketCodec
    tasks: TaskGroup
    meter: Meter = field(init=False)
    _pulling: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _running: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])
    _room: anyio.Semaphore = field(init=False)
    _in_hand: dict[str, list[Taken]] = field(default_factory=dict[str, list[Taken]])
    """By the id of the packet, all deliveries of it; the first is worked on."""

    def __post_init__(self) -> None:
        """Count from nothing."""
        self.meter = Meter(self.work.pattern)
        args: Any = self.work.args
        self._kind: Any = Request[args]
        self._room = anyio.Semaphore(self.at_once)

    @property
    def queued(self) -> int:
        """Work waits in the queue, never here."""
        return 0

    async def open(self) -> None:
        """Start to pull."""
        self.tasks.start_soon(self._pull)

    async def close(self) -> None:
        """Take no more work."""
        self._pulling.cancel()

    def end(self) -> None:
        """Begin nothing more."""
        self._pulling.cancel()

    def stop(self) -> None:
        """Cut off what is in hand; it is handed out again at once."""
        for scope in list(self._running):
            scope.cancel()

    async def _pull(self) -> None:
        """Take one piece of work whenever there is room for it: of two, one might have gone to a worker without any."""
        with self._pulling:
            while True:
                await self._room.acquire()
                taken: list[Taken] = []
                try:
                    taken = await self.queue.take(1, PULL_S)
                except TransportError as error:
                    log.warning(WORK_LOST, subject=self.work.pattern, reason=str(error))
                    await anyio.sleep(RETRY_DELAY_S)
                finally:
                    if not taken:
                        self._room.release()
                for one in taken:
                    if (packet_id := _packet_id(one)) in self._in_hand:
                        log.info(WORK_IN_HAND, subject=self.work.pattern, packet=packet_id, delivery=one.deliveries)
                        self._in_hand[packet_id].append(one)
                        self._room.release()
                        continue
                    self.meter.in_flight += 1
                    if packet_id:
                        self._in_hand[packet_id] = [one]
                    self.tasks.start_soon(self._do, one)

    async def _do(self, taken: Taken) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._beat, taken)
                await self._handle(taken)
                tasks.cancel_scope.cancel()
        except* TransportError as errors:
            # Not settled, so it is handed out again.
            log.warning(WORK_LOST, subject=self.work.pattern, reason=str(errors.exceptions[0]))
        finally:
            self.meter.in_flight -= 1
            self._let_go(taken)
            self._room.release()

    async def _beat(self, taken: Taken) -> None:
        while True:
            await anyio.sleep(self.work.ack_wait_ms / 3000)
            try:
                for one in self._deliveries(taken):
                    await one.alive()
            except TransportError as error:
                log.warning(WORK_LOST, subject=self.work.pattern, reason=str(error))

    async def _handle(self, taken: Taken) -> None:
        started = time.perf_counter()
        try:
            packet: Request[Any] = await self.wire.unpack(taken.message, _REQUEST[self.work.args])
        except MalformedError as malformed:
            log.warning(PACKET_REFUSED, subject=self.work.pattern, reason=malformed.fault.message)
            self.meter.count(time.perf_counter() - started, malformed.fault.code)
            await self._settle(taken)
            return
        own = account_of(taken.message.headers.get(ACCOUNT, ""))
        with (
            conversation(packet.conversation),
            recorded(self.wire.recorder),
            account(own),
            self._span(packet, taken.message) as recording,
        ):
            failure = await self._attempt(packet.input.task.args)
            self.meter.count(time.perf_counter() - started, failure.code if failure else "")
            if failure:
                recording.fail(failure.code)
            await self._close(packet, taken, failure)

    def _span(self, packet: Request[Any], message: BusMessage) -> AbstractContextManager[Span]:
        attributes = {
            "messaging.system": "nats",
            "messaging.operation.type": "process",
            "messaging.destination.name": self.work.pattern,
            "messaging.message.id": packet.id,
            "messaging.message.conversation_id": packet.conversation.id,
        }
        return span(f"process {self.work.pattern}", "consumer", attributes, message.headers)

    async def _attempt(self, args: object) -> Fault | None:
        """Do the work, and give what went wrong."""
        with anyio.CancelScope() as scope:
            self._running.add(scope)
            try:
                await self.handler(args)
            except FaultError as error:
                return error.fault
            except Exception:
                log.exception(HANDLER_BROKE, subject=self.work.pattern)
                return fault(Code.INTERNAL_ERROR)
            finally:
                self._running.discard(scope)
        return fault(Code.INTERNAL_CANCELLED) if scope.cancelled_caught else None

    async def _close(self, packet: Request[Any], taken: Taken, failure: Fault | None) -> None:
        """Settle the work in its queue, by what came of it."""
        line = {"subject": self.work.pattern, "packet": packet.id, "delivery": taken.deliveries}
        if failure is None:
            log.info(WORK_DONE, **line)
            await self._settle(taken)
        elif failure.code is Code.INTERNAL_CANCELLED:
            log.warning(WORK_POSTPONED, code=failure.code, **line)
            await self._put_back(taken, 0)
        elif failure.retryable and not self._last_chance(taken):
            log.warning(WORK_POSTPONED, code=failure.code, **line)
            await self._put_back(taken, (failure.retry_after_ms or RETRY_DELAY_S * 1000) / 1000)
        else:
            log.error(WORK_FAILED, code=failure.code, **line)
            await self._settle(taken)

    def _last_chance(self, taken: Taken) -> bool:
        return self.work.max_deliver is not None and taken.deliveries >= self.work.max_deliver

    async def _put_back(self, taken: Taken, delay_s: float) -> None:
        """Have it handed out again, to this worker too."""
        deliveries = self._deliveries(taken)
        self._let_go(taken)
        for one in deliveries:
            await one.again(delay_s)

    async def _settle(self, taken: Taken) -> None:
        for one in reversed(self._deliveries(taken)):
            await one.finish()
        await self.wire.forget(claim_of(taken.message))

    def _deliveries(self, taken: Taken) -> Sequence[Taken]:
        """Return the deliveries of what is in hand so far."""
        deliveries = self._in_hand.get(_packet_id(taken))
        return deliveries if deliveries and deliveries[0] is taken else (taken,)

    def _let_go(self, taken: Taken) -> None:
        if (deliveries := self._in_hand.get(packet_id := _packet_id(taken))) and deliveries[0] is taken:
            del self._in_hand[packet_id]


def _packet_id(taken: Taken) -> str:
    return taken.message.headers.get(PACKET_ID, "")
