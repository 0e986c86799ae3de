"""The answer to one POST: JSON where the result is all there is to say, events where something is said before it."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from starlette.types import Send

from actors.gateway.http import JSON

EVENTS = "text/event-stream"

QUIET_S = 15.0
"""After so much silence, in seconds, a comment is sent: proxies cut a connection on which nothing moves."""

OK = 200

_COMMENT = b": still at work\r\n\r\n"
_EVENT_HEADERS = {
    "Content-Type": EVENTS,
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
}

_encoder = msgspec.json.Encoder()


@dataclass(eq=False)
class Stream:
    """One answer on its way; `json` and `events` are the forms in which the client takes it."""

    send: Send
    json: bool
    events: bool
    headers: dict[str, str] = field(default_factory=dict[str, str])
    _began: bool = False
    _over: bool = False
    _spoke: float = field(default_factory=anyio.current_time)
    _turn: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True))

    async def tell(self, message: Mapping[str, Any]) -> None:
        """Say something before the result; dropped where the client takes no events, and after the result."""
        await self._say(_event(message))

    async def end(self, message: Mapping[str, Any], status: int = OK, *, event: bool = False) -> None:
        """Return the result, or the error in its place; `status` is HTTP's, where there is still time to say so.

        With `event` it is an event even where nothing was said before it, if the client takes any.
        """
        async with self._turn:
            if self._over:
                return
            self._over = True
            if not self._began and (status != OK or (self.json and not (event and self.events))):
                words = _encoder.encode(message)
                await self._start({**self.headers, "Content-Type": JSON, "Content-Length": str(len(words))}, status)
                await self._body(words, more=False)
                return
            if not self._began:
                await self._start({**self.headers, **_EVENT_HEADERS})
            await self._body(_event(message), more=False)

    async def comment(self) -> None:
        """Break a long silence."""
        if anyio.current_time() - self._spoke >= QUIET_S:
            await self._say(_COMMENT)

    async def _say(self, words: bytes) -> None:
        async with self._turn:
            if self._over or not self.events:
                return
            if not self._began:
                await self._start({**self.headers, **_EVENT_HEADERS})
            await self._body(words, more=True)

    async def _start(self, headers: Mapping[str, str], status: int = OK) -> None:
        self._began = True
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": raw})

    async def _body(self, words: bytes, *, more: bool) -> None:
        self._spoke = anyio.current_time()
        await self.send({"type": "http.response.body", "body": words, "more_body": more})


@dataclass(frozen=True)
class Streams:
    """The answers that are on their way, so that none of them is silent for too long."""

    _open: set[Stream] = field(default_factory=set[Stream])

    @contextmanager
    def kept(self, stream: Stream) -> Generator[None]:
        """Look after a stream while the block lasts."""
        self._open.add(stream)
        try:
            yield
        finally:
            self._open.discard(stream)

    async def look_after(self) -> None:
        """Break long silences, for ever."""
        while True:
            await anyio.sleep(QUIET_S)
            async with anyio.create_task_group() as tasks:
                for stream in tuple(self._open):
                    tasks.start_soon(_break_silence, stream)


async def _break_silence(stream: Stream) -> None:
    with anyio.move_on_after(QUIET_S), suppress(OSError):  # a client that does not read holds nobody else up
        await stream.comment()


def _event(message: Mapping[str, Any]) -> bytes:
    return b"event: message\r\ndata: " + _encoder.encode(message) + b"\r\n\r\n"
