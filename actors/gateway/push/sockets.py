"""The sockets of push: what comes in is read within bounds, what goes out waits for no slow client."""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import anyio
import structlog
from msgspec import Struct
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from actors.gateway.push import frames
from actors.gateway.push.channels import Channels
from actors.gateway.push.frames import ClientFrame, Close
from actors.gateway.push.signatures import PushApp
from actors.gcra import Rate, earliest, taken

log = structlog.stdlib.get_logger()

PUSH_SOCKET_CUT: Final = "push_socket_cut"

MAX_FRAMES: Final = 256
MAX_BEHIND_CHARS: Final = 262_144
"""What a client may be behind, beside what the kernel holds, before it is cut off."""

SEND_S: Final = 15.0
"""What a client may take to take one frame."""

PONG_S: Final = 30.0
"""What a pong may take, as Pusher has it, or the activity timeout where that is less."""

LAST_WORDS_S: Final = 1.0
"""What a client that is cut off gets to take why."""

FRAME_RATE: Final = Rate(interval_ms=100.0, burst=250)
"""What a client may say: all its channels at once, and after that ten frames a second."""

_ID_PART: Final = 10**10


class PushSockets(Struct, frozen=True):
    """Runs the sockets of one replica, so many at once at most; without an app all are refused."""

    app: PushApp | None
    channels: Channels
    most: int
    activity_timeout_s: int

    async def run(self, socket: WebSocket) -> None:
        """Have one socket from its handshake to its end.

        Who is refused is accepted first: clients take nothing else for more than a broken line, and try again for ever.
        """
        await socket.accept()
        app, refused = self.app, self._refusal(socket)
        if app is None or refused is not None:
            await _close(socket, refused or frames.UNKNOWN_APP)
            return
        opened = PushSocket(socket, app, self.channels, self.activity_timeout_s)
        with self.channels.connected(opened):
            await opened.run()
        if opened.ending is not None:
            log.info(PUSH_SOCKET_CUT, code=opened.ending.code, reason=opened.ending.message)
            await _close(socket, opened.ending)

    def _refusal(self, socket: WebSocket) -> Close | None:
        protocol = socket.query_params.get("protocol", "")
        if self.app is None or socket.path_params["key"] != self.app.key:
            return frames.UNKNOWN_APP
        if not protocol:
            return frames.NO_PROTOCOL
        if protocol not in frames.PROTOCOLS:
            return frames.UNKNOWN_PROTOCOL
        if self.channels.closing:
            return frames.GOING_AWAY
        return frames.OVER_CAPACITY if self.channels.sockets >= self.most else None


@dataclass(eq=False)
class PushSocket:
    """One socket that was let in; `ending` is why it is closed, where it is not its client who goes."""

    socket: WebSocket
    app: PushApp
    channels: Channels
    activity_timeout_s: int
    clock: Callable[[], float] = anyio.current_time
    id: str = field(default_factory=lambda: f"{secrets.randbelow(_ID_PART)}.{secrets.randbelow(_ID_PART)}")
    ending: Close | None = field(default=None, init=False)
    _outbox: deque[str] = field(default_factory=deque[str], init=False, repr=False)
    _behind_chars: int = field(default=0, init=False)
    _queued: anyio.Event = field(default_factory=anyio.Event, init=False, repr=False)
    _active: anyio.Event = field(default_factory=anyio.Event, init=False, repr=False)
    _work: anyio.CancelScope = field(default_factory=anyio.CancelScope, init=False, repr=False)
    _arrival_ms: float = field(default=0.0, init=False)

    async def run(self) -> None:
        """Speak with the client until one of both ends it."""
        self.send(frames.established(self.id, self.activity_timeout_s))
        with self._work:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write)
                tasks.start_soon(self._watch)
                await self._read()
                tasks.cancel_scope.cancel()

    def send(self, text: str) -> None:
        """Queue a frame; a client that is too far behind is cut off, and keeps nothing waiting."""
        if len(self._outbox) >= MAX_FRAMES or self._behind_chars + len(text) > MAX_BEHIND_CHARS:
            self.end(frames.TOO_SLOW)
            return
        self._outbox.append(text)
        self._behind_chars += len(text)
        self._queued.set()

    def end(self, close: Close) -> None:
        """Close the socket for this reason, unless it is being closed already."""
        if self.ending is None:
            self.ending = close
            self._work.cancel()

    async def _read(self) -> None:
        while True:
            message = await self.socket.receive()
            if message["type"] != "websocket.receive":
                return
            self._active.set()
            text: str = message.get("text") or ""
            if len(text.encode()) > frames.MAX_FRAME_BYTES or not self._is_within_rate():
                self.end(frames.TOO_MUCH)
                await anyio.sleep_forever()
            self._dispatch(frames.read_frame(text))

    async def _write(self) -> None:
        """Send what is queued, as fast as the client takes it."""
        while True:
            while self._outbox:
                text = self._outbox.popleft()
                self._behind_chars -= len(text)
                try:
                    with anyio.fail_after(SEND_S):
                        await self.socket.send_text(text)
                except TimeoutError:
                    self.end(frames.TOO_SLOW)
                except WebSocketDisconnect:
                    self._work.cancel()
            self._queued = anyio.Event()
            await self._queued.wait()

    async def _watch(self) -> None:
        """Ask a client that says nothing whether it is still there."""
        while True:
            if await self._is_active_within(self.activity_timeout_s):
                continue
            self.send(frames.frame(frames.PING, "{}"))
            if not await self._is_active_within(min(PONG_S, self.activity_timeout_s)):
                self.end(frames.NO_PONG)

    async def _is_active_within(self, within_s: float) -> bool:
        self._active = active = anyio.Event()
        with anyio.move_on_after(within_s):
            await active.wait()
        return active.is_set()

    def _is_within_rate(self) -> bool:
        now_ms = self.clock() * 1_000
        if earliest(FRAME_RATE, self._arrival_ms, now_ms) > now_ms:
            return False
        self._arrival_ms = taken(FRAME_RATE, self._arrival_ms, now_ms)
        return True

    def _dispatch(self, given: ClientFrame | None) -> None:
        wanted = None if given is None else frames.read_subscription(given.data)
        match given:
            case ClientFrame(event=frames.PING):
                self.send(frames.frame(frames.PONG, "{}"))
            case ClientFrame(event=frames.PONG):
                pass
            case ClientFrame(event=frames.SUBSCRIBE) if wanted is not None:
                self.channels.subscribe(self, self.app, wanted.channel, wanted.auth)
            case ClientFrame(event=frames.UNSUBSCRIBE) if wanted is not None:
                self.channels.unsubscribe(self, wanted.channel)
            case ClientFrame(event=event) if event.startswith(frames.CLIENT_EVENT):
                self.send(frames.error(*frames.NO_CLIENT_EVENTS))
            case _:
                self.send(frames.error(None, "This is no message of the Pusher protocol that a server takes."))


async def _close(socket: WebSocket, close: Close) -> None:
    """Say why, and close; who does not take even that is cut off by the server."""
    if socket.client_state is WebSocketState.DISCONNECTED:
        return
    with anyio.move_on_after(LAST_WORDS_S):
        try:
            await socket.send_text(frames.error(close.code, close.message))
            await socket.close(close.code, close.message)
        except WebSocketDisconnect:
            return
