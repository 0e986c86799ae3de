"""The Chrome DevTools Protocol over a unix socket: calls, results and events of one connection.

It is written here as it is little above `websockets`, and everything that comes may come from a hostile page.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
import anyio.to_thread
import msgspec
from anyio import CancelScope, Event, get_cancelled_exc_class
from msgspec import Struct
from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from actors.ungrouped import ungrouped

MAX_MESSAGE_BYTES: Final = 64 << 20
"""What one message may hold, either way; the engine is told the same."""

CONNECT_SECONDS: Final = 3.0
"""An engine that serves answers within milliseconds, on a machine with other work within tenths."""

_CLOSE_SECONDS: Final = 0.25
"""Closing takes 1 ms; an engine that is busy with a page does not answer, and may never."""

_LARGE_BYTES: Final = 1 << 20
"""A message from here on is read in a thread: at 64 MiB it would hold the loop for a tenth of a second."""

EventHandler = Callable[[dict[str, Any], str], None]
"""Takes the parameters and the session of an event."""

CallResult = dict[str, Any]
"""The result of a call, as the engine has it."""


class CdpError(Exception):
    """The engine refused a call: its number and its words, which may be a page's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


class ClosedError(Exception):
    """The connection ended before the answer came: the page's doing, or its process has died."""


class CdpCalls(Protocol):
    """What most users need of a CdpConnection."""

    async def call(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> Any:
        """Call a method and return its result."""
        ...

    async def post(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> None:
        """Call a method, and return when it is sent."""
        ...


class _Error(Struct, frozen=True):
    code: int = 0
    message: str = ""


class _Message(Struct, frozen=True):
    """An incoming message: an answer has an id, an event a method."""

    id: int = 0
    method: str = ""
    params: dict[str, Any] = {}
    session: str = msgspec.field(default="", name="sessionId")
    result: dict[str, Any] = {}
    error: _Error | None = None


class _Pending:
    """A call that has no answer yet."""

    def __init__(self) -> None:
        self.done = Event()
        self.answer: _Message | None = None


class CdpConnection:
    """One connection, which `connect` opens; it may be used by many tasks at once."""

    def __init__(self, socket: ClientConnection) -> None:
        """Store the socket.

        `closed` is set when nothing will come any more; `stuck` when the engine did not answer the farewell.
        """
        self.closed = Event()
        self.stuck = False
        self._socket = socket
        self._ids = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._handlers: dict[str, list[EventHandler]] = {}

    def listen(self, method: str, handler: EventHandler) -> None:
        """Have `handler` called with the parameters and the session of each event of this name, in their order.

        It is called between two messages, so it must not take long; what it raises ends the connection.
        """
        self._handlers.setdefault(method, []).append(handler)

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None
    ) -> CallResult:
        """Call a method and return its result. No deadline of its own: the page's holds.

        Raises:
            CdpError: if the engine refused.
            ClosedError: if the connection closed before the answer.
        """
        pending = _Pending()
        number = next(self._ids)
        self._pending[number] = pending
        try:
            await self._send(number, method, params, session)
            await pending.done.wait()
        finally:
            del self._pending[number]
        return _result(pending.answer)

    async def post(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> None:
        """Call a method, and return when it is sent: its answer, or refusal, is dropped.

        Raises:
            ClosedError: if the connection is closed.
        """
        await self._send(next(self._ids), method, params, session)

    async def _send(self, number: int, method: str, params: dict[str, Any] | None, session: str | None) -> None:
        message: dict[str, Any] = {"id": number, "method": method}
        if params is not None:
            message["params"] = params
        if session is not None:
            message["sessionId"] = session
        if self.closed.is_set():
            raise ClosedError
        try:
            await self._socket.send(msgspec.json.encode(message), text=True)
        except (ConnectionClosed, OSError) as error:
            raise ClosedError from error

    async def read(self) -> None:
        """Dispatch what comes in, until the connection closes."""
        try:
            while True:
                await self._take(await self._socket.recv(decode=False))
        except (ConnectionClosed, OSError):
            pass
        except (ValueError, RecursionError):  # what the engine never says, but a page that has taken it over might
            self._socket.transport.abort()
        finally:
            self.closed.set()
            for pending in self._pending.values():
                pending.done.set()

    async def _take(self, data: bytes) -> None:
        message = _decode(data) if len(data) < _LARGE_BYTES else await anyio.to_thread.run_sync(_decode, data)
        if message.method:
            for handler in self._handlers.get(message.method, ()):
                handler(message.params, message.session)
        elif (pending := self._pending.get(message.id)) is not None:
            pending.answer = message
            pending.done.set()


@asynccontextmanager
async def connect(path: Path) -> AsyncGenerator[CdpConnection]:
    """Hold a connection to the engine that listens at `path`.

    Raises:
        ClosedError: if nobody answers there.
    """
    socket = await _open(path)
    connection = CdpConnection(socket)
    with ungrouped():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connection.read)
            try:
                yield connection
            except get_cancelled_exc_class():
                socket.transport.abort()  # nobody waits for a farewell
                raise
            finally:
                connection.stuck = not await _close(socket)
                tasks.cancel_scope.cancel()


async def _open(path: Path) -> ClientConnection:
    try:
        with anyio.fail_after(CONNECT_SECONDS):
            return await unix_connect(
                str(path),
                "ws://localhost/",
                max_size=MAX_MESSAGE_BYTES,
                compression=None,
                ping_interval=None,
                close_timeout=4 * _CLOSE_SECONDS,  # ours comes first
                user_agent_header=None,
                proxy=None,
            )
    except (OSError, ValueError, WebSocketException) as error:
        raise ClosedError from error


async def _close(socket: ClientConnection) -> bool:
    """Close the connection; return whether that was answered in time."""
    farewell = anyio.move_on_after(_CLOSE_SECONDS)
    with CancelScope(shield=True):
        with farewell:
            await socket.close()
        socket.transport.abort()  # what is still to be written would be waited for
        with anyio.move_on_after(_CLOSE_SECONDS):
            await socket.wait_closed()
    return not farewell.cancelled_caught


def _decode(data: bytes) -> _Message:
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _DECODER.decode(_mended(data))


def _mended(data: bytes) -> str:
    """Put U+FFFD for halves of surrogate pairs: a string of JavaScript may hold one, and the engine hands it on."""
    text = json.dumps(json.loads(data.decode(errors="replace")), ensure_ascii=False)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _result(answer: _Message | None) -> CallResult:
    if answer is None:
        raise ClosedError
    if answer.error is not None:
        raise CdpError(answer.error.code, answer.error.message)
    return answer.result


_DECODER = msgspec.json.Decoder(_Message)
