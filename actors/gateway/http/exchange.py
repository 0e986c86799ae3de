"""One HTTP request from first byte to last: its span, its conversation, and its end when the client leaves."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

import anyio
import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.rest.answers import refusal
from actors.gateway.rest.contract import CONVERSATION
from bus import conversation, span
from bus.stats import Meter
from bus.tracing import Span
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

FAILED = "request_failed"

CLIENT_LEFT = "client_left"


class Exchanges:
    """ASGI: the requests that are in hand.

    `paths` are the routes there are, which name the spans; all are counted but `probes`, who only look at us.
    """

    def __init__(self, app: ASGIApp, paths: frozenset[str], probes: frozenset[str], meter: Meter) -> None:
        self._app = app
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
            exchange = _Exchange(receive, send, name, recording)
            with self._held(exchange, counted=path not in self._probes):
                await exchange.run(self._app, scope, abandoned=self._stopped)

    @contextmanager
    def _held(self, exchange: _Exchange, *, counted: bool) -> Generator[None]:
        started = time.perf_counter()
        self._in_hand.add(exchange)
        self._meter.in_flight += counted
        try:
            yield
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

    receive: Receive
    send: Send
    conversation: str
    recording: Span
    work: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    heard: bool = False
    started: bool = False
    finished: bool = False
    left: bool = False
    status: int = 0

    async def run(self, app: ASGIApp, scope: Scope, *, abandoned: bool) -> None:
        async with anyio.create_task_group() as tasks:

            async def hear() -> Message:
                if self.heard:  # all that can come is the client's leaving, which ends the work
                    await anyio.sleep_forever()
                message = await self.receive()
                if message["type"] == "http.disconnect":
                    self._end()
                elif not message.get("more_body", False):
                    self.heard = True
                    tasks.start_soon(self._watch)
                return message

            with self.work:
                if abandoned:
                    self.work.cancel()
                await self._answer(app, scope, hear)
            if not self.started and not self.left:
                error = FaultError(fault(Code.INTERNAL_UNAVAILABLE, "This gateway is about to stop."))
                await refusal(error)(scope, self.receive, self.tell)
            if not self.finished:  # else the server tells the watcher, who need not be cancelled
                tasks.cancel_scope.cancel()

    def abandon(self) -> None:
        self.work.cancel()

    async def tell(self, message: Message) -> None:
        """Send, with the name of the conversation on the answer."""
        if message["type"] == "http.response.start":
            self.started = True
            self.status = message["status"]
            MutableHeaders(scope=message)[CONVERSATION] = self.conversation
            self.recording.set_attribute("http.response.status_code", message["status"])
            if message["status"] >= HTTPStatus.INTERNAL_SERVER_ERROR:
                self.recording.fail(str(message["status"]))
        elif message["type"] == "http.response.body" and not message.get("more_body", False):
            self.finished = True
        await self.send(message)

    async def _answer(self, app: ASGIApp, scope: Scope, hear: Receive) -> None:
        """Let the application answer; what nobody foresaw becomes INTERNAL_ERROR, and its text stays in the log."""
        try:
            await app(scope, hear, self.tell)
        except Exception:
            log.exception(FAILED, method=scope["method"], path=scope["path"])
            self.recording.fail(Code.INTERNAL_ERROR)
            if not self.started:
                await refusal(FaultError(fault(Code.INTERNAL_ERROR)))(scope, hear, self.tell)

    async def _watch(self) -> None:
        """Wait for the client to leave; a server says so of a finished answer, too."""
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self._end()

    def _end(self) -> None:
        if not self.finished:
            self.left = True
            self.recording.fail(CLIENT_LEFT)
            self.work.cancel()
