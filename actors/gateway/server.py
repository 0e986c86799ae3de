"""uvicorn inside a task group of ours: no signal handlers, and a stop that is bounded."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from enum import StrEnum
from functools import partial
from http import HTTPStatus
from typing import Any, cast

import anyio
import httptools
import uvicorn
from starlette.responses import Response
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from actors.gateway.access.limits import ConnectionLimits
from actors.gateway.http import HttpStatusError, invalid, refusal

KEEP_ALIVE_S = 75
"""How long an idle connection is kept, in seconds: longer than clients keep theirs."""

MAX_MESSAGE_BYTES = 1_048_576
"""The largest message of a WebSocket."""

SOCKET_END_S = 5.0
"""What the client of a WebSocket may take for its end, in seconds, after which it is cut off."""

SOCKET_LEFT_S = 1.0
"""What the application of a WebSocket may take to close it itself when the server stops, in seconds."""

TICK_S = 1.0
"""How often the date is written that answers carry."""

_LAST_WORDS_S = 1
"""What clients get to read the last answers, in seconds, after the time to finish is over."""


@asynccontextmanager
async def serving(
    app: ASGIApp,
    listener: socket.socket,
    drain_ms: int,
    abandon: Callable[[], None],
    connections: ConnectionLimits | None = None,
) -> AsyncGenerator[None, None]:
    """Serve `app` on a listening socket, which is closed in the end; `connections` bounds those that are open.

    At the end of the block nothing new is accepted, and what is in hand gets `drain_ms` to finish; then `abandon` is
    called, which has to end it. When the block fails, what is in hand gets no time.
    """
    # asyncio sets this itself only for sockets that name their protocol, and 40 ms per answer hang on it
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    server = _Server(_configuration(app, drain_ms, connections or ConnectionLimits()))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.live, listener)
        await server.accepting.wait()
        try:
            yield
        except BaseException:
            drain_ms = 0
            raise
        finally:
            server.should_exit = True
            server.stopping.set()
            with anyio.CancelScope(shield=True):
                with anyio.move_on_after(drain_ms / 1_000):
                    await server.stopped.wait()
                abandon()
                await server.stopped.wait()


class _Server(uvicorn.Server):
    """A server that leaves signals alone, and tells when it accepts and when it has stopped."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.accepting = anyio.Event()
        self.stopping = anyio.Event()
        self.stopped = anyio.Event()

    async def live(self, listener: socket.socket) -> None:
        with anyio.CancelScope(shield=True):  # cancelled, it would leave its connections behind
            try:
                await self.serve([listener])
            finally:
                self.stopped.set()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    async def main_loop(self) -> None:
        """Keep the date of answers until the end is asked for, in place of asking for it ten times a second."""
        while not await self.on_tick(0):
            with anyio.move_on_after(TICK_S):
                await self.stopping.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.accepting.set()


def _configuration(app: ASGIApp, drain_ms: int, connections: ConnectionLimits) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="none",
        http=cast("Any", partial(BoundedConnection, connections)),
        ws=cast("Any", partial(CountedSocket, connections)),
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # its windows are 40 kB for each of many sockets that say little
        lifespan="off",
        log_config=None,
        log_level=logging.ERROR,  # what it warns of is what strangers send, as often as they like
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=math.ceil(drain_ms / 1_000) + _LAST_WORDS_S,
    )


MAX_HEAD_BYTES = 65_536
"""The request line and all headers, names and values; others take between 8 and 64 KiB."""

MAX_HEADERS = 100
MAX_TARGET_BYTES = 16_384

HEAD_S = 20.0
"""What the head of a request may take to come, from the connection or its first byte on."""

BODY_S = 60.0
"""What the body may take: the largest needs 70 kB a second."""


class HeadError(Exception):
    """A head that is refused, with the status for it."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        """Refuse with this status."""
        super().__init__(message)
        self.status = status


class Awaited(StrEnum):
    """What of a request is still to come."""

    NOTHING = "nothing"
    HEAD = "head"
    BODY = "body"


_PATIENCE_S = {Awaited.HEAD: HEAD_S, Awaited.BODY: BODY_S}


class BoundedConnection(HttpToolsProtocol):
    """A connection that ends where there are too many, a head gets too large, or a request does not come."""

    def __init__(self, others: ConnectionLimits, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._others = others
        self._awaited = Awaited.HEAD
        self._requests = 0
        self._head_bytes = 0
        self._target_bytes = 0
        self._headers = 0
        self._refusal: HeadError | None = None
        self._patience: asyncio.TimerHandle | None = None
        self._patient_with: tuple[Awaited, int] | None = None

    # -- what comes in -----------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request."""
        super().connection_made(cast("asyncio.Transport", transport))
        if (refused := self._others.opened(self.transport, self.client)) is not None:
            self._end(refused)
        self._others.idle(self.transport)
        self._be_patient()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop_waiting()
        self._others.closed(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come."""
        if self._awaited is Awaited.NOTHING:
            self._awaited = Awaited.HEAD
        before = self._awaited, self._requests
        super().data_received(data)
        if self._awaited is Awaited.HEAD and before == (Awaited.HEAD, self._requests):
            self._unparsed(len(data))
        self._be_patient()

    def _unparsed(self, count: int) -> None:
        """Count bytes of a head that the parser still gathers: a header comes to us when it is whole."""
        self._head_bytes += count
        if self._head_bytes > 2 * MAX_HEAD_BYTES and not self.transport.is_closing():
            self._refuse(HeadError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large"))

    def handle_websocket_upgrade(self) -> None:
        """Leave the connection to the WebSocket."""
        if (refused := self._others.upgraded(self.transport, self.client)) is not None:
            self._end(refused)
            return
        self._stop_waiting()
        super().handle_websocket_upgrade()

    # -- the parser --------------------------------------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self._awaited = Awaited.HEAD
        self._requests += 1
        self._head_bytes = self._target_bytes = self._headers = 0

    def on_url(self, url: bytes) -> None:
        """Take in a part of the target."""
        super().on_url(url)
        self._target_bytes += len(url)
        if self._target_bytes > MAX_TARGET_BYTES:
            self._refusal = HeadError(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long")
            raise self._refusal

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take in a header, or a trailer."""
        super().on_header(name, value)
        self._headers += 1
        self._head_bytes += len(name) + len(value)
        if self._headers > MAX_HEADERS or self._head_bytes > MAX_HEAD_BYTES:
            self._refusal = HeadError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large")
            raise self._refusal

    def on_headers_complete(self) -> None:
        """Have the request answered, while its body comes."""
        self._others.busy(self.transport)
        self._name_host_of_target()
        super().on_headers_complete()
        self._awaited = Awaited.BODY

    def on_message_complete(self) -> None:
        """Have the whole request."""
        super().on_message_complete()
        self._awaited = Awaited.NOTHING

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is here."""
        super().on_response_complete()
        if self._awaited is not Awaited.BODY and not self._is_answering():
            self._others.idle(self.transport)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's words are for a log
        """Refuse what is no request, or one whose head is too large."""
        self._refuse(self._refusal or HeadError(HTTPStatus.BAD_REQUEST, "This is no request of HTTP"))

    def _name_host_of_target(self) -> None:
        """Have the gate see the host that the target of a request names, if it names one (RFC 9112 §3.2.2)."""
        if self.url.startswith(b"/"):
            return
        with suppress(httptools.HttpParserInvalidURLError):  # the base class refuses it
            target = httptools.parse_url(self.url)
            if target.host:
                name = b"[%b]" % target.host if b":" in target.host else target.host
                host = b"%b:%d" % (name, target.port) if target.port else name
                self.headers[:] = [(key, host if key == b"host" else value) for key, value in self.headers]

    # -- patience ----------------------------------------------------------------------------------------------------

    def _be_patient(self) -> None:
        """Wait for what is to come, no longer than it may take."""
        waiting = (self._awaited, self._requests)
        if waiting == self._patient_with:
            return
        self._stop_waiting()
        if self._awaited is not Awaited.NOTHING and not self.transport.is_closing():
            self._patient_with = waiting
            self._patience = self.loop.call_later(_PATIENCE_S[self._awaited], self._lose_patience)

    def _stop_waiting(self) -> None:
        self._patient_with = None
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _lose_patience(self) -> None:
        if not self._requests or self._is_answering():
            self.transport.close()
        elif not self.transport.is_closing():
            self._refuse(HeadError(HTTPStatus.REQUEST_TIMEOUT, "The request took too long to come"))

    def _is_answering(self) -> bool:
        """Return whether what is written now would stand in the middle of an answer, or after it."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None until there is one
        if cycle is None:
            return False
        return cycle.response_started if self._awaited is Awaited.BODY else not cycle.response_complete

    def _refuse(self, error: HeadError) -> None:
        self._end(invalid(str(error), error.status))

    def _end(self, error: HttpStatusError) -> None:
        answer = refusal(error)
        answer.headers.update({"Connection": "close", "X-Content-Type-Options": "nosniff"})
        self.transport.write(_to_bytes(answer))
        self.transport.close()


class CountedSocket(WebSocketsSansIOProtocol):
    """A connection that was upgraded to a WebSocket, and counts until it is closed.

    When our side is done with it, its client gets a while to take what was sent: one that takes nothing would keep it
    for ever.
    """

    def __init__(self, others: ConnectionLimits, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._others = others
        self._abort: asyncio.TimerHandle | None = None

    def send_receive_event_to_app(self) -> None:
        """Close the connection on text that is no UTF-8 (RFC 6455 §8.1), which uvicorn logs as an error of ours."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.conn.send_close(CloseCode.INVALID_DATA)
                self.handle_parser_exception()
                return
        super().send_receive_event_to_app()

    def shutdown(self) -> None:
        """Let its application close an open socket first, by a code that says where to go; then close what is left."""
        if self.close_sent or not self.handshake_complete:
            super().shutdown()
        else:
            self.loop.call_later(SOCKET_LEFT_S, self._close_left)

    def _close_left(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Wait no longer than this for the client to close its side."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._abort = self.loop.call_later(SOCKET_END_S, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count no more."""
        if self._abort is not None:
            self._abort.cancel()
        self._others.closed(self.transport)
        super().connection_lost(exc)


def _to_bytes(answer: Response) -> bytes:
    status = HTTPStatus(answer.status_code)
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode("ascii")]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])
