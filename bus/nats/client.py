"""The client of nats-py with what it lacks: errors of the bus, and waits that survive a reconnect or a cancellation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import anyio
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.errors import APIError

from bus.errors import StorageFullError, TransportError

T = TypeVar("T")

OnArrival = Callable[[Msg], Awaitable[None]]

STREAM_FULL = 10077
"""Code of the JetStream API: a stream refuses what would exceed its size."""

FULL = frozenset({STREAM_FULL, 10002, 10023, 10047})
"""Codes of the JetStream API for that, and for an account, a server and a disk that have no room for anything more."""

SERVER_API = "$JS.API"
"""The prefix of the JetStream API in the account that has it."""


class HearingClient(Client):
    """A client that goes on reading when the answer to a PING comes for somebody who has been cancelled.

    nats-py 2.16 gives it to the future of who waited; that one is done, the error ends the task that reads, and nobody
    hears anything any more until the pings of the connection itself are missed, 10 s later.
    """

    api: str = SERVER_API
    """The prefix by which this connection reaches JetStream."""
    full_until_s: float = 0.0
    """Until when, by the monotonic clock, it is known that there is no room for what is written."""

    def __init__(self) -> None:
        """Hand nothing over yet."""
        super().__init__()
        self._prompt = WeakKeyDictionary[Subscription, OnArrival]()

    def hand_over(self, subscription: Subscription, arrived: OnArrival) -> None:
        """Call `arrived`, the callback of a subscription, right where its messages are read: it waits for nothing.

        nats-py queues them for a task of the subscription, which is a turn of the loop more for each call and answer.
        """
        self._prompt[subscription] = arrived

    async def _process_msg(self, sid: int, subject: bytes, reply: bytes, data: bytes, headers: bytes) -> None:
        subscription = self._subs.get(sid)
        arrived = None if subscription is None or subscription.pending_msgs else self._prompt.get(subscription)
        if arrived is None:
            await super()._process_msg(sid, subject, reply, data, headers)
            return
        self.stats["in_msgs"] += 1
        self.stats["in_bytes"] += len(data)
        try:
            await arrived(self._build_message(sid, subject, reply, data, await self._process_headers(headers)))
        except Exception as error:  # noqa: BLE001 - raised from here, it would end what reads
            await self._error_cb(error)

    def jetstream(self, **options: Any) -> JetStreamContext:
        """Return the streams of the server."""
        return super().jetstream(**{"prefix": self.api, **options})

    async def _process_connect_init(self) -> None:
        """Close a connection on which the server does not introduce itself: nats-py opens the next and forgets it."""
        try:
            await super()._process_connect_init()
        except BaseException:
            if self._transport is not None:
                self._transport.close()  # type: ignore[no-untyped-call]  # nats-py is half typed
            raise

    async def _process_pong(self) -> None:
        if self._pongs and self._pongs[0].done():
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()


class Waits:
    """The waits that are under way; nats-py by itself would let each run into its timeout of seconds."""

    def __init__(self) -> None:
        """Wait for nothing."""
        self.connections = 1
        self._scopes: WeakSet[anyio.CancelScope] = WeakSet()

    async def reconnected(self) -> None:
        """End every wait."""
        self.connections += 1
        for scope in list(self._scopes):
            scope.cancel()

    def cut(self) -> anyio.CancelScope:
        """Open a block that is left early, and silently, when the connection comes back."""
        scope = anyio.CancelScope()
        self._scopes.add(scope)
        return scope

    async def again(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request that may be sent twice, until a reply comes."""
        while True:
            with self.cut():
                return await ask()

    async def once(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Send a request that must not be sent twice.

        Raises:
            TransportError: the connection broke meanwhile, so nobody knows what came of it.
        """
        with self.cut():
            return await ask()
        msg = "the connection broke while the answer was awaited"
        raise TransportError(msg)


async def unsubscribe(subscription: Subscription) -> None:
    """Hear no more of a subscription; one of a broken connection has ended with it."""
    try:
        with translated_errors():
            await subscription.unsubscribe()
    except TransportError:
        return


async def together(asks: Iterable[Callable[[], Coroutine[Any, Any, None]]]) -> None:
    """Do several things at the same time; the first that fails ends the others, and raises its error as it is."""
    try:
        async with anyio.create_task_group() as tasks:
            for ask in asks:
                tasks.start_soon(ask)
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


FAILURES = (Error, TimeoutError, OSError)
"""Whatever nats-py raises."""


def failure(error: Exception) -> TransportError:
    """Make the TransportError that names what nats-py raised."""
    return TransportError(str(error) or type(error).__name__)


@contextmanager
def translated_writes(client: HearingClient) -> Generator[None]:
    """Turn what nats-py raises inside into a TransportError, which says so where there was no room.

    nats-server (2.15) answers nothing where its disk is full, so that the wait for an answer ends with its time.
    """
    try:
        yield
    except FAILURES as error:
        refused = isinstance(error, APIError) and error.err_code in FULL
        if refused or (isinstance(error, TimeoutError) and time.monotonic() < client.full_until_s):
            raise StorageFullError(str(error) or type(error).__name__) from error
        raise failure(error) from error


@contextmanager
def translated_errors() -> Generator[None]:
    """Turn what nats-py raises inside into a TransportError."""
    try:
        yield
    except FAILURES as error:
        raise failure(error) from error
