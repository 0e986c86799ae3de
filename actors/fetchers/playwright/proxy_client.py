"""One connection of the browser to its proxy, as HTTP/1.1 is spoken on it."""

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
    """What the browser asks on one connection, and how it is answered."""

    def __init__(self, stream: anyio.abc.SocketStream) -> None:
        self.stream = stream
        self._gone = False
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)

    async def request(self) -> h11.Request | None:
        """Wait for the head of a request; None when none comes any more.

        Raises:
            h11.RemoteProtocolError: it is no HTTP.
        """
        with anyio.move_on_after(IDLE_S):
            event = await self._event()
            return event if isinstance(event, h11.Request) else None
        return None

    async def body(self) -> AsyncGenerator[bytes]:
        """Return the body of the request piece by piece."""
        while isinstance(event := await self._event(), h11.Data):
            yield bytes(event.data)

    async def skip(self) -> None:
        """Read the body of the request, if it has one, and forget it."""
        async for _ in self.body():
            pass

    @asynccontextmanager
    async def as_long_as_it_waits(self) -> AsyncGenerator[None]:
        """Cut the block off when the browser goes away, which then reads as a broken connection."""
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
        """Keep what comes early for the next request."""
        try:
            while True:
                self._http.receive_data(await self.stream.receive(CHUNK_BYTES))
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            self._gone = True
            block.cancel()

    async def refuse(self, status: int, headers: Iterable[tuple[bytes, bytes]]) -> None:
        """Answer a request without a body, whose own body is not read."""
        await self._send(
            h11.Response(
                status_code=status,
                headers=[*headers, (b"Content-Length", b"0")],
                reason=HTTPStatus(status).phrase.encode(),
            )
        )
        await self._send(h11.EndOfMessage())

    async def connected(self) -> None:
        """Tell that the tunnel stands: what follows is no HTTP of ours."""
        await self._send(h11.Response(status_code=200, headers=[], reason=b"Connection established"))

    async def tunnelled(self) -> AsyncGenerator[bytes]:
        """Return what the browser sends through the tunnel."""
        early, _ = self._http.trailing_data
        if early:
            yield early
        while True:
            try:
                yield await self.stream.receive(CHUNK_BYTES)
            except anyio.EndOfStream:
                return

    async def answer(self, status: int, reason: bytes, headers: Headers, body: AsyncIterable[bytes]) -> None:
        """Pass an answer on."""
        await self._send(h11.Response(status_code=status, headers=headers, reason=reason))
        async for chunk in body:
            await self._send(h11.Data(data=chunk))
        await self._send(h11.EndOfMessage())

    def again(self) -> bool:
        """Get ready for a further request, if the connection may carry one."""
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
