"""One connection of the browser to its proxy: the server side of HTTP/1.1, by h11 on an anyio stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus

import anyio
import anyio.abc
import h11
import httpcore2

CHUNK_BYTES = 65_536
IDLE_S = 60.0
"""How long a connection may lie unused between two requests."""

_MAX_HEAD_BYTES = 262_144

Headers = list[tuple[bytes, bytes]]


class Client:
    """Reads the requests of the browser on one connection, and writes the responses."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self.stream = stream
        self._gone = False
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)

    async def request(self) -> h11.Request | None:
        """Wait for the head of a request; None at the end of the connection.

        Raises:
            h11.RemoteProtocolError: it is no HTTP.
        """
        with anyio.move_on_after(IDLE_S):
            event = await self._event()
            return event if isinstance(event, h11.Request) else None
        return None

    async def body(self) -> AsyncGenerator[bytes]:
        """Yield the body of the request in chunks."""
        while isinstance(event := await self._event(), h11.Data):
            yield bytes(event.data)

    async def skip(self) -> None:
        """Read and discard the body of the request."""
        async for _ in self.body():
            pass

    @asynccontextmanager
    async def while_connected(self) -> AsyncGenerator[None]:
        """Cancel the block when the browser disconnects, and raise that as a broken connection."""
        broken: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._listen, tasks.cancel_scope)
            try:
                yield
            except (OSError, h11.ProtocolError, httpcore2.NetworkError, httpcore2.ProtocolError) as error:
                broken = error  # a task group would wrap it
            except (httpcore2.TimeoutException, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                broken = error
            tasks.cancel_scope.cancel()
        if broken is not None or self._gone:
            raise broken or anyio.ClosedResourceError

    async def _listen(self, block: anyio.CancelScope) -> None:
        """Buffer early bytes of the next request, and cancel the block at the end of the stream."""
        try:
            while True:
                self._http.receive_data(await self.stream.receive(CHUNK_BYTES))
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            self._gone = True
            block.cancel()

    async def refuse(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Send a response without a body; the body of the request is not read."""
        await self._send(
            h11.Response(
                status_code=status,
                headers=[*headers, (b"Content-Length", b"0")],
                reason=HTTPStatus(status).phrase.encode(),
            )
        )
        await self._send(h11.EndOfMessage())

    async def connected(self) -> None:
        """Confirm the tunnel: what follows is no HTTP of ours."""
        await self._send(h11.Response(status_code=200, headers=[], reason=b"Connection established"))

    async def tunnelled(self) -> AsyncGenerator[bytes]:
        """Yield what the browser sends through the tunnel."""
        early, _ = self._http.trailing_data
        if early:
            yield early
        while True:
            try:
                yield await self.stream.receive(CHUNK_BYTES)
            except anyio.EndOfStream:
                return

    async def respond(self, status: int, reason: bytes, headers: Headers, body: AsyncIterable[bytes]) -> None:
        """Send a response with its body."""
        await self._send(h11.Response(status_code=status, headers=headers, reason=reason))
        async for chunk in body:
            await self._send(h11.Data(data=chunk))
        await self._send(h11.EndOfMessage())

    def next_cycle(self) -> bool:
        """Prepare for a further request; False where the connection may carry none."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    async def _event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            try:
                data = await self.stream.receive(CHUNK_BYTES)
            except anyio.EndOfStream:
                data = b""
            self._http.receive_data(data)
        return event

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            await self.stream.send(data)
