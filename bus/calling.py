"""The calling side of the bus: one request, sent again where that may help until its deadline, and its reply."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from random import uniform
from secrets import token_hex
from typing import Any, TypeVar

import anyio
import stamina
import structlog

from bus.context import current_account, remaining_ms
from bus.errors import BusyError, DeadlineError, DisconnectedError, ForbiddenError, NoResponderError, TransportError
from bus.permissions import cancel_subject
from bus.recording import Outcome
from bus.tracing import Span, inject, sending, span
from bus.transport import BusMessage, Transport
from bus.wire import ACCOUNT, NOTED, PATIENCE, REFUSED, TIMEOUT, Packed, PacketCodec
from protocol.codec import MalformedError, decoder, encode
from protocol.faults import Fault, FaultError
from protocol.packets import Request, Response
from protocol.replicas import Cancel, ReplicaGone
from protocol.subject_kinds import Call, Event, matches
from protocol.subjects import REPLICA_GONE

log = structlog.stdlib.get_logger()

CONNECTION_LOST = "connection_lost"
CONNECTION_BACK = "connection_back"

NO_RESPONDERS = "503"
_CANCEL = Event("cancel", Cancel)
_MARGIN_SHARE, _MARGIN_MIN_MS, _MARGIN_MAX_MS = 0.02, 5, 25
"""What the callee's deadline is shorter than the caller's, so that its Fault arrives in time."""

_GATHER_S = 1.0
"""After a reconnect, how long replicas get to come back, too, before nobody is there to answer."""

_PATIENCE_S, _MOST_PATIENCE_S = 0.1, 5.0
"""How long a call that was refused for want of room waits for it at the next replica: twice as long each time, so that
many who wait do not keep those at work from it. Another replica may have room meanwhile, so no longer than the second.
"""

A = TypeVar("A")
R = TypeVar("R")

_TRANSIENT = (BusyError, NoResponderError, DisconnectedError, TransportError)


class Calls:
    """The calls of one participant."""

    def __init__(self, transport: Transport, wire: PacketCodec) -> None:
        """Ask over `transport`, in packets of `wire`."""
        self._transport = transport
        self._wire = wire
        self._replies = Replies(transport)
        self._gathered_s = -math.inf

    async def open(self) -> None:
        """Subscribe to replies, and to what makes them impossible."""
        self._transport.watch_connection(lost=self._lost, back=self._back)
        self._transport.watch_refusals(self._replies.refused)
        await self._replies.open()
        await self._transport.subscribe(REPLICA_GONE.wildcard, self._gone)

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None, wait_ms: int) -> R:
        """Ask, and return the answer (see `Bus.call`)."""
        allowed_ms, ambient_ms = timeout_ms or call.timeout_ms, remaining_ms()
        limit_ms = max(allowed_ms if ambient_ms is None else min(allowed_ms, ambient_ms), 1)
        with span(f"send {call.pattern}", "producer", sending(call.pattern)) as recording:
            pending = _PendingCall(call, self._wire.request(call, args), time.monotonic() + limit_ms / 1000, wait_ms)
            result: R = _result(await self._recorded(pending), recording)
            return result

    async def _recorded(self, pending: _PendingCall) -> Response[Any]:
        """Ask, and have question and outcome noted where conversations are recorded."""
        recorder, began_s = self._wire.recorder, time.time()
        outcome: Outcome = None
        if recorder is None:
            return await self._persist(pending)
        try:
            recorder.asks(pending.call.pattern, pending.packet)
            answer = await self._persist(pending)
            outcome = pending.answered
        except FaultError as error:
            outcome = error.fault
            raise
        finally:
            recorder.sent("call", pending.call.pattern, pending.packet, pending.written, outcome, began_s)
        return answer

    async def _persist(self, pending: _PendingCall) -> Response[Any]:
        """Ask once, and again where that may help and there is time."""
        try:
            return await self._once(pending)
        except _TRANSIENT as error:
            if pending.worth_another(error, self._gathered_s) is False:
                raise
            first = error

        def worth_another(error: Exception) -> bool | float:
            return pending.worth_another(error, self._gathered_s)

        return await self._again(pending, first, worth_another)

    async def _again(
        self, pending: _PendingCall, first: Exception, worth_another: Callable[[Exception], bool | float]
    ) -> Response[Any]:
        async for attempt in stamina.retry_context(
            on=worth_another,
            attempts=None,
            timeout=pending.left_ms / 1000,
            wait_initial=0.002,
            wait_max=0.1,
            wait_jitter=0.01,
        ):
            with attempt:
                try:
                    return await self._once(pending)
                except DeadlineError:
                    if isinstance(first, BusyError):
                        raise BusyError(pending.call.pattern) from None
                    raise
        raise first

    async def _once(self, pending: _PendingCall) -> Response[Any]:
        """Send the packet and wait for the answer; cancel the work where we stop waiting."""
        call, left_ms = pending.call, pending.left_ms
        packed = await self._wire.pack(pending.written, call.pattern)
        inbox, future = self._replies.expect(call.pattern, left_ms, repeatable=call.idempotent)
        at_work = True
        try:
            headers = {**_headers(packed, left_ms), **pending.patience()}
            if self._wire.recorder is not None:
                headers[NOTED] = "1"
            await self._transport.publish(call.pattern, packed.payload, reply=inbox, headers=headers)
            message = await future
            at_work = False
        except ForbiddenError:  # it has reached nobody
            at_work = False
            raise
        finally:
            if at_work or packed.claim is not None:
                with anyio.CancelScope(shield=True):
                    await self._clear(call, packed, inbox, cancel=at_work)
            future.cancel()
        return await self._read(pending, message)

    async def _clear(self, call: Call[Any, Any], packed: Packed, inbox: str, *, cancel: bool) -> None:
        """Leave nothing behind: no work that nobody waits for, no claim check that nobody fetches."""
        if cancel and self._transport.connected:
            packet = self._wire.request(_CANCEL, Cancel(reply=inbox))
            with suppress(TransportError):
                await self._transport.publish(cancel_subject(call.pattern), encode(packet))
        await self._wire.forget(packed.claim)

    async def _read(self, pending: _PendingCall, message: BusMessage) -> Response[Any]:
        if message.status == NO_RESPONDERS:
            raise NoResponderError(pending.call.pattern)
        if REFUSED in message.headers:
            raise BusyError(pending.call.pattern)
        result: Any = pending.call.answer
        pending.answered = await self._wire.redeem(message)
        answer: Response[Any] = decoder(Response[result]).decode(pending.answered)
        return answer

    # -- what makes an answer impossible -------------------------------------------------------------------------------

    async def _gone(self, message: BusMessage) -> None:
        """Fail the calls of a replica that is gone; one that ended in order has answered."""
        try:
            packet: Request[ReplicaGone] = decoder(Request[ReplicaGone]).decode(message.payload)
        except MalformedError:
            return
        self._replies.deserted(packet.input.task.args.answers)

    async def _lost(self) -> None:
        self._gathered_s = math.inf
        log.warning(CONNECTION_LOST)
        self._replies.disconnected()

    async def _back(self) -> None:
        self._gathered_s = time.monotonic() + _GATHER_S
        log.info(CONNECTION_BACK)


@dataclass
class _PendingCall:
    """One call on its way: what is asked, until when, and how long to wait for somebody to be there at all.

    `answered` is the packet that answered it, encoded.
    """

    call: Call[Any, Any]
    packet: Request[Any]
    deadline_s: float
    wait_ms: int
    answered: bytes | None = None

    def __post_init__(self) -> None:
        self.written = encode(self.packet)
        self._waiting_ends_s = time.monotonic() + self.wait_ms / 1000
        self._patience_s = self._patient_until_s = 0.0

    @property
    def left_ms(self) -> int:
        return max(int((self.deadline_s - time.monotonic()) * 1000), 1)

    def patience(self) -> dict[str, str]:
        """Return the header of a call that may wait for room, which no two callers do for the same time."""
        if not self._patience_s:
            return {}
        patience_s = uniform(0.5, 1.0) * self._patience_s  # noqa: S311 - no secret
        self._patient_until_s = time.monotonic() + patience_s
        return {PATIENCE: str(math.ceil(patience_s * 1_000))}

    def worth_another(self, error: Exception, gathered_s: float) -> bool | float:
        """Whether asking again may help, or after how many seconds; `gathered_s` is when all have reconnected."""
        now = time.monotonic()
        match error:
            case NoResponderError():
                return now < min(max(self._waiting_ends_s, gathered_s), self.deadline_s)
            case BusyError():
                self._patience_s = min(self._patience_s * 2 or _PATIENCE_S, _MOST_PATIENCE_S)
                return max(self._patient_until_s - now, 0.0)
            case DisconnectedError():
                self._waiting_ends_s = now + self.wait_ms / 1000
                return self.call.idempotent
            case TransportError():
                return self.call.idempotent
            case _:
                return False


def _headers(packed: Packed, left_ms: int) -> dict[str, str]:
    margin_ms = min(max(int(left_ms * _MARGIN_SHARE), _MARGIN_MIN_MS), _MARGIN_MAX_MS)
    headers = {**packed.headers, TIMEOUT: str(max(left_ms - margin_ms, 1))}
    if (own := current_account()) is not None:
        headers[ACCOUNT] = own.header
    inject(headers)
    return headers


def _result(answer: Response[Any], recording: Span) -> Any:
    if isinstance(answer.error, Fault):
        recording.fail(answer.error.code)
        raise FaultError(answer.error)
    return answer.result


class Replies:
    """Hands each answer to the call that waits for it, and fails the calls that cannot be answered any more."""

    def __init__(self, transport: Transport) -> None:
        """Wait for answers that come over `transport`."""
        self._transport = transport
        self._prefix = f"{transport.inbox}.r{token_hex(4)}."
        self._waiting: dict[str, tuple[str, asyncio.Future[BusMessage]]] = {}
        self._repeatable: set[str] = set()

    async def open(self) -> None:
        """Start to listen."""
        await self._transport.subscribe(f"{self._prefix}*", self._arrived, prompt=True)

    def expect(self, subject: str, timeout_ms: int, *, repeatable: bool) -> tuple[str, asyncio.Future[BusMessage]]:
        """Return an inbox for the answer of `subject`, and the future it will be in.

        The future ends in DeadlineError when the time is over, or in DisconnectedError if the bus is away then. In that
        it also ends when the connection breaks and, if the call is `repeatable`, when a replica died that may have had
        it in hand.
        """
        inbox = f"{self._prefix}{token_hex(8)}"  # known to the callee of this call alone
        loop = asyncio.get_running_loop()
        future: asyncio.Future[BusMessage] = loop.create_future()
        timer = loop.call_later(timeout_ms / 1000, self._overdue, inbox, timeout_ms)

        def forget(_: asyncio.Future[BusMessage]) -> None:
            timer.cancel()
            self._waiting.pop(inbox, None)
            self._repeatable.discard(inbox)

        future.add_done_callback(forget)
        self._waiting[inbox] = (subject, future)
        if repeatable:
            self._repeatable.add(inbox)
        return inbox, future

    def disconnected(self) -> None:
        """Fail every call that is under way: its answer may have been lost."""
        for inbox, (subject, _) in list(self._waiting.items()):
            self._fail(inbox, DisconnectedError(subject))

    def refused(self, error: ForbiddenError) -> None:
        """Fail the calls of a subject that this participant may not publish; servers spell it in lower case."""
        for inbox, (subject, _) in list(self._waiting.items()):
            if subject.lower() == error.subject:
                self._fail(inbox, error)

    def deserted(self, answers: Collection[str]) -> None:
        """Fail the repeatable calls that a replica which answered those subjects may have taken with it."""
        for inbox in self._repeatable & self._waiting.keys():
            subject, _ = self._waiting[inbox]
            if any(matches(subject, pattern) for pattern in answers):
                self._fail(inbox, DisconnectedError(subject))

    async def _arrived(self, message: BusMessage) -> None:
        _, future = self._waiting.get(message.subject, ("", None))
        if future is not None and not future.done():
            future.set_result(message)

    def _overdue(self, inbox: str, timeout_ms: int) -> None:
        subject, _ = self._waiting[inbox]
        is_away = not self._transport.connected  # the question, or its answer, waits here for the bus
        self._fail(inbox, DisconnectedError(subject) if is_away else DeadlineError(subject, timeout_ms))

    def _fail(self, inbox: str, error: Exception) -> None:
        _, future = self._waiting.get(inbox, ("", None))
        if future is not None and not future.done():
            future.set_exception(error)
