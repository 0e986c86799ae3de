"""The client of nats-py with what it lacks: errors of the bus, and waits that survive a reconnect or a cancellation."""

from __future__ import annotations

import asyncio
import socket
import ssl
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

from bus.errors import StorageFullError, TransportError, UnconnectedError

T = TypeVar("T")

OnArrival = Callable[[Msg], Awaitable[None]]

STREAM_FULL = 10077
"""Code of the JetStream API: a stream refuses what would exceed its size."""

FULL = frozenset({STREAM_FULL, 10002, 10023, 10047})
"""Codes of the JetStream API for that, and for an account, a server and a disk that have no room for anything more."""

WITHOUT_TLS = "the server asks for no TLS, which its address has to be spoken to by"

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

    async def subscribe_promptly(self, subject: str, arrived: OnArrival, **options: Any) -> Subscription:
        """Call `arrived` with each message right where it is read: it waits for nothing.

        nats-py queues them for a task of the subscription, which is a turn of the loop more for each message.
        """
        subscription = await self.subscribe(subject, cb=arrived, **options)
        self._prompt[subscription] = arrived
        return subscription

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

    def _connect_command(self) -> bytes:
        """Return what is said first, once TLS stands where it is asked for."""
        self._join_stream()
        return super()._connect_command()

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:  # noqa: FBT001, FBT002 - as nats-py has it
        """Refuse a server that speaks in the clear where the address says TLS: nats-py would show it who we are.

        Raises:
            Error: the server asks for no TLS.
        """
        server = self._current_server
        if initial_connection and server is not None and server.uri.scheme == "tls" and not info.get("tls_required"):
            raise Error(WITHOUT_TLS)
        await super()._process_info(info, initial_connection)

    async def _attempt_reconnect(self) -> None:
        """Drop the connection that broke, and look for another: over TLS a goodbye is waited for, 30 s of a dead peer.

        Until then nats-py tells nobody that the connection is lost.
        """
        if (writer := self._writer("_bare_io_writer")) is not None:
            writer.transport.abort()
        await super()._attempt_reconnect()

    def _join_stream(self) -> None:
        """Join the reader of a stream that was turned into TLS to what it reads from: nats-py leaves that out.

        Without it nothing slows a server down that sends more than is read, and each end of a connection is warned of.
        """
        writer = self._writer("_io_writer")
        if writer is not None and writer.get_extra_info("sslcontext") is not None:
            writer.transport.get_protocol().connection_made(writer.transport)

    def _writer(self, name: str) -> asyncio.StreamWriter | None:
        """Return what writes to the connection, or the bare one below TLS; a WebSocket has neither."""
        writer = getattr(self._transport, name, None)
        return writer if isinstance(writer, asyncio.StreamWriter) else None

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


def trusted(ca_file: str) -> ssl.SSLContext:
    """Load the authorities whose certificates a server may show, instead of those of this machine; it reads a file.

    Raises:
        UnconnectedError: there is no such file, or it holds no certificate.
    """
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        msg = f"WEFT_NATS_CA_FILE: {ca_file} holds no certificate in PEM ({error.strerror or error})"
        raise UnconnectedError(msg) from error


_NO_AUTHORITY = (18, 19, 20, 21)
"""What OpenSSL says of a certificate that no authority speaks for which is known here (X509_V_ERR_*)."""


def reason_of(error: Exception) -> str:
    """Say in words for an operator why no connection comes about, or what the server complains of."""
    match error:
        case ssl.SSLCertVerificationError():
            cure = "; WEFT_NATS_CA_FILE names the authorities to trust" if error.verify_code in _NO_AUTHORITY else ""
            return f"its certificate is not accepted ({error.verify_message.rstrip('.')}){cure}"
        case ConnectionRefusedError():
            return "no nats-server listens there"
        case socket.gaierror():
            return "nobody knows that name"
        case TimeoutError():
            return "it does not answer in time"
        case Error() if "authorization violation" in str(error).lower():
            return (
                "it knows no such key or password; WEFT_NATS_KEYS and the accounts that it includes have to come from "
                "the same run of weft nats"
            )
        case _:
            return str(error) or type(error).__name__
