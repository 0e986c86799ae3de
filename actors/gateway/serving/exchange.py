"""One HTTP request from first byte to last: its span, its conversation, and its end when the client leaves."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from http import HTTPStatus

import anyio
import structlog
from anyio.abc import TaskGroup
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.access.security_headers import SecurityHeaders
from actors.gateway.http.answers import refusal
from bus import conversation, span
from bus.stats import Meter
from bus.tracing import Span
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

FAILED = "request_failed"

CLIENT_LEFT = "client_left"

WATCH_AFTER_S = 0.02
"""Most work is done sooner, and needs no task that watches whether its client is still there."""


class Exchanges:
    """ASGI: the requests that are in hand.

    `paths` are the routes there are, which name the spans; all are counted but `probes`, who only look at us. What
    watches whether clients leave runs in `watchers`.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what all exchanges have in common
        self,
        app: ASGIApp,
        security_headers: SecurityHeaders,
        paths: frozenset[str],
        probes: frozenset[str],
        meter: Meter,
        watchers: TaskGroup,
    ) -> None:
        self._app = app
        self._marks = security_headers
        self._watchers = watchers
        self._paths = paths
        self._probes = probes
        self._meter = meter
        self._in_hand: set[_Exchange] = set()
        self._stopped = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # a WebSocket is closed; what is not let in here passes no gate either
            return
        method, path = scope["method"], scope["path"]
        route = {"http.route": path} if path in self._paths else {}
        facts = {"http.request.method": method, "url.path": path, "url.scheme": scope["scheme"], **route}
        title = f"{method} {path}" if route else method
        with span(title, "server", facts, Headers(scope=scope)) as recording, conversation() as name:
            exchange = _Exchange(scope, receive, send, name, recording, self._marks, self._watchers)
            await self._finish(exchange, counted=path not in self._probes)

    async def _finish(self, exchange: _Exchange, *, counted: bool) -> None:
        started = time.perf_counter()
        self._in_hand.add(exchange)
        self._meter.in_flight += counted
        try:
            await exchange.run(self._app, abandoned=self._stopped)
        finally:
            self._meter.in_flight -= counted
            self._in_hand.discard(exchange)
            failed = exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            if counted:
                self._meter.count(time.perf_counter() - started, str(exchange.status) if failed else "")

    def abandon(self) -> None:
        """End what is in hand, and whatever comes in yet, with a Fault: the time to finish is over."""
        self._stopped = True
        for exchange in self._in_hand:
            exchange.abandon()


@dataclass(eq=False)
class _Exchange:
    """A request under way, between the server's ends of ASGI and the application's."""

    scope: Scope
    receive: Receive
    send: Send
    conversation: str
    recording: Span
    security_headers: SecurityHeaders
    watchers: TaskGroup
    work: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    watch: anyio.CancelScope | None = None
    watch_begins: asyncio.TimerHandle | None = None
    started: bool = False
    finished: bool = False
    left: bool = False
    status: int = 0

    async def run(self, app: ASGIApp, *, abandoned: bool) -> None:
        try:
            with self.work:
                if abandoned:
                    self.work.cancel()
                await self._answer(app)
            if not self.started and not self.left:
                error = FaultError(fault(Code.INTERNAL_UNAVAILABLE, "This gateway is about to stop."))
                await refusal(error)(self.scope, self.receive, self.tell)
        finally:
            if self.watch_begins is not None:
                self.watch_begins.cancel()
            if self.watch is not None:
                self.watch.cancel()

    def abandon(self) -> None:
        self.work.cancel()

    async def hear(self) -> Message:
        """Receive what the client says; the watch begins when it has said all."""
        if self.watch_begins is not None:  # all that can come is the client's leaving, which ends the work
            await anyio.sleep_forever()
        message = await self.receive()
        if message["type"] == "http.disconnect":
            self._end()
        elif not message.get("more_body", False):
            self.watch_begins = asyncio.get_running_loop().call_later(WATCH_AFTER_S, self._begin_watch)
        return message

    async def tell(self, message: Message) -> None:
        """Send, with our marks on the answer."""
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            message["headers"] = self.security_headers.on(message.get("headers", ()), self.scope, self.conversation)
            self.recording.set_attribute("http.response.status_code", self.status)
            if self.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                self.recording.fail(str(self.status))
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self.finished = True
        await self.send(message)

    async def _answer(self, app: ASGIApp) -> None:
        """Let the application answer; what nobody foresaw becomes INTERNAL_ERROR, and its text stays in the log."""
        try:
            await app(self.scope, self.hear, self.tell)
        except Exception:
            log.exception(FAILED, method=self.scope["method"], path=self.scope["path"])
            self.recording.fail(Code.INTERNAL_ERROR)
            if not self.started:
                await refusal(FaultError(fault(Code.INTERNAL_ERROR)))(self.scope, self.hear, self.tell)

    def _begin_watch(self) -> None:
        self.watch = anyio.CancelScope()
        self.watchers.start_soon(self._watch, self.watch)

    async def _watch(self, watch: anyio.CancelScope) -> None:
        """Wait for the client to leave; a server says so of a finished answer, too."""
        with watch:
            while (await self.receive())["type"] != "http.disconnect":
                pass
            self._end()

    def _end(self) -> None:
        if not self.finished:
            self.left = True
            self.recording.fail(CLIENT_LEFT)
            self.work.cancel()
