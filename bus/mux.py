"""The answers that one participant waits for: one subscription, one future for each call."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from secrets import token_hex

from bus.errors import DeadlineError, DisconnectedError
from bus.transport import Message, Transport
from protocol.subjects import matches


class Replies:
    """Hands each answer to the call that waits for it, and fails the calls that cannot be answered any more."""

    def __init__(self, transport: Transport) -> None:
        """Wait for answers that come over `transport`."""
        self._transport = transport
        self._prefix = f"{transport.inbox}.r{token_hex(4)}."
        self._waiting: dict[str, tuple[str, asyncio.Future[Message]]] = {}
        self._repeatable: set[str] = set()
        self._count = 0

    async def open(self) -> None:
        """Start to listen."""
        await self._transport.subscribe(f"{self._prefix}*", self._arrived)

    def expect(self, subject: str, timeout_ms: int, *, repeatable: bool) -> tuple[str, asyncio.Future[Message]]:
        """Return an inbox for the answer of `subject`, and the future it will be in.

        The future ends in DeadlineError when the time is over, and in DisconnectedError when the connection breaks or,
        if the call is `repeatable`, when a replica died that may have had it in hand.
        """
        self._count += 1
        inbox = f"{self._prefix}{self._count:x}"
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Message] = loop.create_future()
        timer = loop.call_later(timeout_ms / 1000, self._fail, inbox, DeadlineError(subject, timeout_ms))

        def forget(_: asyncio.Future[Message]) -> None:
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

    def deserted(self, answers: Collection[str]) -> None:
        """Fail the repeatable calls that a replica which answered those subjects may have taken with it."""
        for inbox in self._repeatable & self._waiting.keys():
            subject, _ = self._waiting[inbox]
            if any(matches(subject, pattern) for pattern in answers):
                self._fail(inbox, DisconnectedError(subject))

    async def _arrived(self, message: Message) -> None:
        _, future = self._waiting.get(message.subject, ("", None))
        if future is not None and not future.done():
            future.set_result(message)

    def _fail(self, inbox: str, error: Exception) -> None:
        _, future = self._waiting.get(inbox, ("", None))
        if future is not None and not future.done():
            future.set_exception(error)
