"""The serving side of the bus: an endpoint for each subject, with everything that a handler gets for nothing."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any

import anyio
import structlog
from anyio.abc import TaskGroup

from bus.context import account, conversation
from bus.errors import BusyError, TransportError, over_share
from bus.fairness import Account, FairTurns, Waiter, account_of
from bus.permissions import cancel_subject
from bus.recording import recorded
from bus.stats import Meter
from bus.tracing import NO_SPAN, Span, span, tracing_on
from bus.transport import BusMessage, Subscription, Transport
from bus.wire import ACCOUNT, CLAIM, NOTED, PATIENCE, REFUSED, TIMEOUT, Packed, PacketCodec
from protocol.codec import MalformedError, decoder, encode
from protocol.faults import Code, Fault, FaultError, fault
from protocol.packets import Request
from protocol.replicas import Cancel
from protocol.subject_kinds import Call, Event, Subject

log = structlog.stdlib.get_logger()

ANSWERED = "answered"
HEARD = "heard"
FAILED = "failed"
HANDLER_BROKE = "handler_broke"
PACKET_REFUSED = "packet_refused"
ANSWER_LOST = "answer_lost"

_TIMEOUT_DIGITS = 9
"""More than 31 years are no deadline, but somebody's mistake."""

_LAST_S, _LAST_SHARE = 0.5, 0.1
"""What of its time a call has left when it is told that its turn has not come: too little for the work."""

_NO_ANSWER = Packed(b"", {})
"""What an event gets."""

Handler = Callable[[Any], Awaitable[Any]]
"""An actor's method: the arguments in, the answer out; it may raise FaultError."""


@dataclass
class BusEndpoint:
    """Answers a Call, or handles an Event, with at most `at_once` handlers at work.

    Of an Event that is `shared`, each is handled by one of the replicas of an actor.
    """

    subject: Subject[Any]
    handler: Handler
    at_once: int
    transport: Transport
    wire: PacketCodec
    tasks: TaskGroup
    shared: bool = False
    meter: Meter = field(init=False)
    _running: dict[str, anyio.CancelScope] = field(default_factory=dict[str, anyio.CancelScope])
    _handling: set[anyio.CancelScope] = field(default_factory=set[anyio.CancelScope])
    _subscriptions: list[Subscription] = field(default_factory=list[Subscription])
    _room: anyio.Semaphore = field(init=False)
    _turns: FairTurns = field(init=False)
    _over: bool = False

    def __post_init__(self) -> None:
        """Count from nothing."""
        self.meter = Meter(self.subject.pattern)
        args: Any = self.subject.args
        self._kind: Any = Request[args]
        self._room = anyio.Semaphore(self.at_once, fast_acquire=True)
        self._turns = FairTurns(self.at_once, self.meter)

    async def open(self, queue: str) -> None:
        """Start to listen; replicas that share `queue` share the calls."""
        if isinstance(self.subject, Event):
            share = queue if self.shared else ""
            wildcard = self.subject.wildcard
            self._subscriptions.append(await self.transport.subscribe(wildcard, self._begin_event, queue=share))
            return
        cancels = cancel_subject(self.subject.wildcard)
        self._subscriptions.append(await self.transport.subscribe(cancels, self._cancel))
        subject = self.subject.wildcard
        self._subscriptions.append(await self.transport.subscribe(subject, self._begin, queue=queue, prompt=True))

    async def close(self) -> None:
        """Take no new work; what was delivered is still begun, and may still be cancelled by its caller.

        What waits for its turn is refused, and goes to another replica.
        """
        await self._subscriptions[-1].drain()
        self._turns.dismiss()

    def end(self) -> None:
        """Begin nothing more: a task that the transport starts while the task group ends would outlive its end."""
        self._over = True

    @property
    def queued(self) -> int:
        """Messages that have arrived and were not begun."""
        return self._turns.waiting + sum(subscription.pending for subscription in self._subscriptions)

    def stop(self) -> None:
        """Cut off what is still running."""
        for scope in [*self._running.values(), *self._handling]:
            scope.cancel()

    async def _begin(self, message: BusMessage) -> None:
        """Begin a call, or refuse it at once: nothing waits here while another replica may be free.

        Only what is more than the share of its account waits for its turn, and what was refused before, for a while.
        """
        if not message.reply:
            log.warning(PACKET_REFUSED, subject=message.subject, reason="no reply subject")
            return
        own = account_of(message.headers.get(ACCOUNT, ""))
        waiter: Waiter | None = None
        if self._over or not self._turns.take(own):
            patience_s = inf if self._turns.has_work(own) else _header_ms(message.headers, PATIENCE, 0) / 1000
            waiter = self._turns.join(own, patience_s) if patience_s and not self._over else None
            if waiter is None:
                if self._over:  # there is nobody any more to leave it to
                    await self._refuse_for_want(message, own, patience_s)
                else:
                    self.tasks.start_soon(self._refuse_for_want, message, own, patience_s)
                return
        scope = anyio.CancelScope()
        self._running[message.reply] = scope
        self.tasks.start_soon(self._answer, message, scope, own, waiter)

    async def _cancel(self, message: BusMessage) -> None:
        try:
            packet: Request[Cancel] = decoder(Request[Cancel]).decode(message.payload)
        except MalformedError as error:
            log.warning(PACKET_REFUSED, subject=message.subject, reason=error.fault.message)
            return
        scope = self._running.get(packet.input.task.args.reply)
        if scope is not None:
            scope.cancel()

    async def _begin_event(self, message: BusMessage) -> None:
        await self._room.acquire()
        if self._over:
            return
        self.meter.in_flight += 1
        self.tasks.start_soon(self._handle, message)

    async def _handle(self, message: BusMessage) -> None:
        scope = anyio.CancelScope()
        self._handling.add(scope)
        try:
            await self._work(message, scope)
        except TransportError as error:
            log.warning(ANSWER_LOST, subject=message.subject, reason=str(error))
        finally:
            self._handling.discard(scope)
            self.meter.in_flight -= 1
            self._room.release()

    async def _answer(
        self, message: BusMessage, scope: anyio.CancelScope, own: Account | None, waiter: Waiter | None
    ) -> None:
        begun = waiter is None
        try:
            scope.deadline = anyio.current_time() + self._limit_ms(message) / 1000
            begun = waiter is None or await self._wait(message, scope, waiter)
            if begun:
                with account(own):
                    answer = await self._work(message, scope)
                await self.transport.publish(message.reply, answer.payload, headers=answer.headers or None)
        except TransportError as error:
            log.warning(ANSWER_LOST, subject=message.subject, reason=str(error))
        finally:
            self._running.pop(message.reply, None)
            if begun or (waiter is not None and waiter.begun):
                self._turns.give_back(own)

    async def _wait(self, message: BusMessage, scope: anyio.CancelScope, waiter: Waiter) -> bool:
        """Wait for the turn of a call, and return whether it came; one whose time is over is refused."""
        last = scope.deadline - min(_LAST_S, self._limit_ms(message) / 1000 * _LAST_SHARE)
        until = min(last, anyio.current_time() + waiter.patience_s)
        try:
            with anyio.CancelScope() as waiting, anyio.CancelScope(deadline=until):
                self._running[message.reply] = waiting
                await waiter.turn.wait()
        finally:
            self._turns.leave(waiter)
        if waiter.begun:
            self._running[message.reply] = scope
            if waiting.cancel_called:
                scope.cancel()
            return True
        if waiter.turn.is_set():  # this replica ends
            await self._refuse(message, BusyError(self.subject.pattern).fault)
        elif anyio.current_time() >= until:
            await self._refuse_for_want(message, waiter.account, waiter.patience_s)
        return False

    def _limit_ms(self, message: BusMessage) -> int:
        own = self.subject.timeout_ms if isinstance(self.subject, Call) else 0
        return _header_ms(message.headers, TIMEOUT, own)

    async def _refuse_for_want(self, message: BusMessage, own: Account | None, patience_s: float) -> None:
        """Refuse a call that there is no place for: for good where its account has its share, unless this ends."""
        if own is None or patience_s < inf or self._over:
            await self._refuse(message, BusyError(self.subject.pattern).fault)
        else:
            self.meter.accounts.refused[own.name] += 1
            await self._refuse(message, over_share(), again=False)

    async def _refuse(self, message: BusMessage, refusal: Fault, *, again: bool = True) -> None:
        """Answer without the work; a claim check is not fetched for that. `again` has another replica asked."""
        request: Request[Any] | None = None
        if CLAIM not in message.headers:
            with suppress(MalformedError):
                request = await self.wire.unpack(message, Request[Any])
        refused = {REFUSED: refusal.code} if again else {}
        packed = await self.wire.pack(encode(self.wire.answer(request, refusal)), message.reply, refused)
        try:
            await self.transport.publish(message.reply, packed.payload, headers=packed.headers)
        except TransportError as error:
            log.warning(ANSWER_LOST, subject=message.subject, reason=str(error))

    async def _work(self, message: BusMessage, scope: anyio.CancelScope) -> Packed:
        """Do the work of a message and pack the answer, whatever happens."""
        started = time.perf_counter()
        try:
            packet = await self.wire.unpack(message, self._kind)
        except MalformedError as error:
            log.warning(PACKET_REFUSED, subject=message.subject, reason=error.fault.message)
            self.meter.count(time.perf_counter() - started, error.fault.code)
            return await self.wire.pack(encode(self.wire.answer(None, error.fault)), message.reply)
        with (
            conversation(packet.conversation),
            recorded(self.wire.recorder),
            self._span(message, packet) as recording,
        ):
            began_s = time.time()
            packed, answer, failure = await self._outcome(packet, message.reply, scope)
            duration_s = time.perf_counter() - started
            if self.wire.recorder is not None and NOTED not in message.headers and isinstance(self.subject, Call):
                self.wire.recorder.sent("call", message.subject, packet, encode(packet), answer, began_s)
            self.meter.count(duration_s, failure)
            if failure:
                recording.fail(failure)
            self._log(message, duration_s, failure)
        return packed

    def _span(self, message: BusMessage, packet: Request[Any]) -> AbstractContextManager[Span]:
        if not tracing_on():
            return NO_SPAN
        attributes = {
            "messaging.system": "nats",
            "messaging.operation.type": "process",
            "messaging.destination.name": message.subject,
            "messaging.message.conversation_id": packet.conversation.id,
        }
        return span(f"process {self.subject.pattern}", "consumer", attributes, message.headers)

    def _log(self, message: BusMessage, duration_s: float, failure: str) -> None:
        """Log the one line about what came of a message; an event that went well is no news."""
        line = {"subject": message.subject, "duration_ms": round(duration_s * 1000, 2)}
        if failure:
            log.info(FAILED, code=failure, **line)
        elif isinstance(self.subject, Event):
            log.debug(HEARD, **line)
        else:
            log.info(ANSWERED, **line)

    async def _outcome(self, packet: Request[Any], reply: str, scope: anyio.CancelScope) -> tuple[Packed, bytes, str]:
        """Return the answer of the handler, packed and encoded, or the Fault that stopped it, with the code of that."""
        with scope:
            try:
                result = await self.handler(packet.input.task.args)
                if isinstance(self.subject, Event):
                    return _NO_ANSWER, b"", ""
                answer = encode(self.wire.answer(packet, result))
                return await self.wire.pack(answer, reply), answer, ""
            except FaultError as error:
                answer, failure = encode(self.wire.answer(packet, error.fault)), error.fault.code
            except Exception:
                log.exception(HANDLER_BROKE, subject=self.subject.pattern)
                answer, failure = encode(self.wire.answer(packet, fault(Code.INTERNAL_ERROR))), Code.INTERNAL_ERROR
            return await self.wire.pack(answer, reply), answer, failure
        late = anyio.current_time() >= scope.deadline
        code = Code.INTERNAL_DEADLINE if late else Code.INTERNAL_CANCELLED
        answer = encode(self.wire.answer(packet, fault(code)))
        return await self.wire.pack(answer, reply), answer, code


def _header_ms(headers: Mapping[str, str], name: str, default: int) -> int:
    """Return the milliseconds that a header says, if it says so."""
    written = headers.get(name, "")
    return int(written) if written.isdecimal() and len(written) <= _TIMEOUT_DIGITS else default
