"""The whole ASGI application of the gateway, and each HTTP exchange from first byte to last.

An exchange has a span and a conversation, and ends when the client leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, NamedTuple, cast

import anyio
import structlog
from anyio.abc import TaskGroup
from msgspec import Struct
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from actors.gateway.access.authentication import AccessControl, access_control
from actors.gateway.access.gate import RequestGate, SocketGate, SocketRoute
from actors.gateway.access.limits import RateLimits
from actors.gateway.access.rules import SecurityHeaders
from actors.gateway.app_context import AppContext, BusClient
from actors.gateway.http import FRONT, refusal
from actors.gateway.mcp import PATH as MCP_PATH
from actors.gateway.mcp.on_demand import McpOnDemand
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.toolsets import toolsets_of
from actors.gateway.push import server_api
from actors.gateway.push.server import pushing
from actors.gateway.push.server_api import ServerApi
from actors.gateway.rest import console, endpoints, operation
from actors.gateway.rest.compatible import Enveloped
from actors.gateway.rest.docs import FrontPage
from actors.gateway.rest.routing import router
from actors.gateway.shown_settings import shown_settings
from actors.gcra import Rate
from actors.settings import Settings
from bus import conversation, span
from bus.context import new_id
from bus.stats import Meter
from bus.tracing import Span
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

REQUEST_FAILED = "request_failed"

CLIENT_LEFT = "client_left"

WATCH_AFTER_S = 0.02
"""Most work is done sooner, and needs no task that watches whether its client is still there."""

SOCKETS: tuple[SocketRoute, ...] = ()
"""The WebSockets that clients may open, besides those of push."""

PUSH_PATH = "/app/{key}"
"""Where clients of the Pusher protocol connect to: it lets them in by its own rules."""


class Edge(NamedTuple):
    """The application, and what ends the requests it has in hand when there is no more time for them."""

    app: ASGIApp
    abandon: Callable[[], None]


@asynccontextmanager
async def edge(
    bus: BusClient,
    settings: Settings,
    version: str,
    state: ReplicaState | None = None,
    origins: Mapping[str, str] | None = None,
) -> AsyncGenerator[Edge, None]:
    """Make the application that is served at `settings.host` and `settings.port`; it works within the block.

    `state` is what others on the bus address by the name of this replica; without it, none do. `origins` says where
    settings come from.
    """
    state = state or ReplicaState(new_id())
    async with (
        access_control(bus, settings, endpoints.OPEN_PATHS | console.PATHS, state.replica) as access,
        pushing(bus, settings, access.authenticator.key_store.has_ended) as push,
    ):
        state.push = push
        shown = shown_settings(settings, origins or {})
        app = replace(_app_context(bus, settings, version, state, access), settings=shown)
        mcp = McpOnDemand(app, state, toolsets_of(settings))
        table = (*endpoints.ENDPOINTS, *operation.metadata_endpoints(settings))
        files = console.ConsoleFiles(console.FOLDER)
        front = FrontPage(version, files, settings.public_url)
        further: dict[str, ASGIApp] = {MCP_PATH: mcp, FRONT: front, server_api.PATH: ServerApi(push)}
        routes = router(app, table, {**further, **console.console_files(files)})
        async with mcp.running(), anyio.create_task_group() as watchers:
            meter = bus.meter("http")
            access.accounts = meter.accounts
            exchanges = Exchanges(
                RequestGate(routes, access),
                SecurityHeaders(access.rules),
                endpoints.PATHS | console.PATHS | {MCP_PATH, FRONT},
                endpoints.PROBES | console.PATHS,
                meter,
                watchers,
            )

            def abandon() -> None:
                app.closing.set()
                exchanges.abandon()

            sockets = SocketGate(access, (*SOCKETS, SocketRoute(PUSH_PATH, push.sockets.run, scope=None)))
            yield Edge(_behind_proxies(EdgeApp(Enveloped(exchanges), sockets), settings), abandon)
            watchers.cancel_scope.cancel()


def _app_context(
    bus: BusClient, settings: Settings, version: str, state: ReplicaState, access: AccessControl
) -> AppContext:
    return AppContext(
        bus=bus,
        grace_ms=settings.restart_grace_ms,
        version=version,
        watchers=state.watchers,
        approval_news=state.approval_news,
        collection_news=state.collection_news,
        naming=settings.api_key.encode(),
        keys=access.authenticator.key_store,
        ledger=access.ledger,
        interacts=_per_minute(settings.interact_per_minute),
        chats=_per_minute(settings.chat_per_minute),
        mirrored=settings.interact_mirrored,
        push=state.push,
    )


def _per_minute(count: int) -> RateLimits:
    return RateLimits(Rate.per_minute(count, max(count, 1)))


def _behind_proxies(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Read of trusted proxies, where there are some, who the client is."""
    if not settings.trusted_proxies:
        return app
    return cast("ASGIApp", ProxyHeadersMiddleware(cast("Any", app), list(settings.trusted_proxies)))


class EdgeApp(Struct, frozen=True):
    """ASGI: the two ways in, requests and WebSockets."""

    http: ASGIApp
    websocket: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what comes in."""
        await (self.websocket if scope["type"] == "websocket" else self.http)(scope, receive, send)


@dataclass(eq=False)
class Exchanges:
    """ASGI: the requests that are in flight.

    `paths` are the routes there are, which name the spans; all are counted but `probes`, who only look at us. What
    watches whether clients leave runs in `watchers`.
    """

    app: ASGIApp
    security_headers: SecurityHeaders
    paths: frozenset[str]
    probes: frozenset[str]
    meter: Meter
    watchers: TaskGroup
    _in_flight: set[_Exchange] = field(default_factory=set["_Exchange"], init=False)
    _stopped: bool = field(default=False, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":  # a WebSocket is closed; what is not let in here passes no gate either
            return
        method, path = scope["method"], scope["path"]
        route = {"http.route": path} if path in self.paths else {}
        facts = {"http.request.method": method, "url.path": path, "url.scheme": scope["scheme"], **route}
        title = f"{method} {path}" if route else method
        with span(title, "server", facts, Headers(scope=scope)) as recording, conversation() as name:
            exchange = _Exchange(scope, receive, send, name, recording, self.security_headers, self.watchers)
            await self._finish(exchange, counted=path not in self.probes)

    async def _finish(self, exchange: _Exchange, *, counted: bool) -> None:
        started = time.perf_counter()
        self._in_flight.add(exchange)
        self.meter.in_flight += counted
        try:
            await exchange.run(self.app, abandoned=self._stopped)
        finally:
            self.meter.in_flight -= counted
            self._in_flight.discard(exchange)
            failed = exchange.status >= HTTPStatus.INTERNAL_SERVER_ERROR
            if counted:
                self.meter.count(time.perf_counter() - started, str(exchange.status) if failed else "")

    def abandon(self) -> None:
        """End what is in flight, and whatever comes in yet, with a Fault: the time to finish is over."""
        self._stopped = True
        for exchange in self._in_flight:
            exchange.abandon()


@dataclass(eq=False)
class _Exchange:
    """A request in flight, between the server's ends of ASGI and the application's."""

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
                await refusal(error)(self.scope, self.receive, self.send_with_headers)
        finally:
            if self.watch_begins is not None:
                self.watch_begins.cancel()
            if self.watch is not None:
                self.watch.cancel()

    def abandon(self) -> None:
        self.work.cancel()

    async def receive_watched(self) -> Message:
        """Receive from the client; the watch begins when it has said all."""
        if self.watch_begins is not None:  # all that can come is the client's leaving, which ends the work
            await anyio.sleep_forever()
        message = await self.receive()
        if message["type"] == "http.disconnect":
            self._end()
        elif not message.get("more_body", False):
            self.watch_begins = asyncio.get_running_loop().call_later(WATCH_AFTER_S, self._begin_watch)
        return message

    async def send_with_headers(self, message: Message) -> None:
        """Send, with our headers on the answer."""
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
            await app(self.scope, self.receive_watched, self.send_with_headers)
        except Exception:
            log.exception(REQUEST_FAILED, method=self.scope["method"], path=self.scope["path"])
            self.recording.fail(Code.INTERNAL_ERROR)
            if not self.started:
                await refusal(FaultError(fault(Code.INTERNAL_ERROR)))(
                    self.scope, self.receive_watched, self.send_with_headers
                )

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
