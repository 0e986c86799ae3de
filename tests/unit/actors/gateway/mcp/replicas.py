"""Replicas of the MCP endpoint with a bus between them, a server of tools that try the transport, and clients."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import anyio
import httpx2
from anyio.lowlevel import checkpoint
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitationCapability,
    ListRootsRequest,
    ListRootsResult,
    ListToolsResult,
    PaginatedRequestParams,
    RootsCapability,
    SamplingCapability,
    SamplingMessage,
    TextContent,
    Tool,
)
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from actors.gateway.access.caller import Caller
from actors.gateway.access.rules import SecurityHeaders, origin_rules
from actors.gateway.app_context import AppContext, BusClient
from actors.gateway.edge import Exchanges
from actors.gateway.mcp import PATH
from actors.gateway.mcp.notifications import progress_middleware
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS
from actors.gateway.mcp.transport.http import McpEndpoint
from actors.gateway.request import RequestContext, with_request
from actors.gateway.server import serving
from bus import Bus
from bus.memory import Broker
from protocol.replicas import ClientReply, Progress, ReplyTaken
from protocol.subject_kinds import Call
from protocol.subjects import CALL_CANCELLED, EDGE_REPLY, PROGRESS
from tests.unit.actors.gateway_data import settings

TEST_S = 240.0
CALLER = "x-test-caller"
"""The header by which a test says who asks: there is no gate."""

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ERAS = ["legacy", "auto"]

_FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


CAPABILITIES = {
    "elicitation": ClientCapabilities(elicitation=ElicitationCapability()),
    "roots": ClientCapabilities(roots=RootsCapability()),
    "sampling": ClientCapabilities(sampling=SamplingCapability()),
}


class Nothing(Struct, frozen=True, kw_only=True):
    """What is asked of an actor that never answers."""


HANG = Call("test.hang", Nothing, Nothing)
FLUSH = Call("test.flush", Nothing, Nothing)
"""Answered after everything that was told before it."""


@dataclass
class Loom:
    """Replicas that serve: their ports, and what an actor that is asked something hears."""

    ports: list[int]
    here: list[ReplicaState]
    asked: anyio.Event = field(default_factory=anyio.Event)
    cancelled: anyio.Event = field(default_factory=anyio.Event)

    async def hang(self, _asked: Nothing) -> Nothing:
        """Never answer."""
        self.asked.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            self.cancelled.set()
            raise
        return Nothing()

    async def flush(self, asked: Nothing) -> Nothing:
        """Answer."""
        await checkpoint()
        return asked


@asynccontextmanager
async def replicas(number: int = 2) -> AsyncGenerator[Loom]:
    """Serve while the block lasts."""
    loom = Loom([], [])
    async with Broker() as broker, AsyncExitStack() as stack:
        actor = Bus(broker.connect("loom"), "loom", "loom-1")
        await stack.enter_async_context(actor.running())
        await actor.serve(HANG, loom.hang, at_once=8)
        await actor.serve(FLUSH, loom.flush, at_once=8)
        for index in range(number):
            bus = Bus(broker.connect("gateway"), "gateway", f"gateway-{index}")
            await stack.enter_async_context(bus.running())
            here = ReplicaState(bus.replica)
            await _hear(bus, here)
            loom.here.append(here)
            loom.ports.append(await stack.enter_async_context(_replica(bus, here)))
        yield loom


async def _hear(bus: Bus, here: ReplicaState) -> None:
    """Hear what the actor of the gateway hears."""

    async def replied(reply: ClientReply) -> ReplyTaken:
        return ReplyTaken(taken=here.questions.resolve(reply))

    async def cancelled(call: Any) -> None:
        here.in_flight.cancel(call)

    await bus.serve(EDGE_REPLY.answered_by(bus.replica), replied, at_once=8)
    await bus.serve(CALL_CANCELLED, cancelled, at_once=1)
    await bus.serve(PROGRESS.answered_by(bus.replica), here.watchers.on_news, at_once=1)


@asynccontextmanager
async def _replica(bus: Bus, here: ReplicaState) -> AsyncGenerator[int]:
    app = AppContext(bus=bus, grace_ms=1_000, version="1.2.3", watchers=here.watchers)
    endpoint = McpEndpoint(loom_server(app), app, here, DEFAULT_TOOLSETS)

    async def gate(scope: Scope, receive: Receive, send: Send) -> None:
        names = [value.decode() for name, value in scope["headers"] if name == CALLER.encode()]
        request = RequestContext(caller=Caller(names[0] if names else "somebody"))
        await endpoint(with_request(scope, request), receive, send)

    security_headers, listener = SecurityHeaders(origin_rules(settings(), ())), socket.create_server(("127.0.0.1", 0))
    async with endpoint.running(), anyio.create_task_group() as watchers:
        exchanges = Exchanges(gate, security_headers, frozenset({PATH}), frozenset(), bus.meter("http"), watchers)
        async with serving(exchanges, listener, 500, exchanges.abandon):
            yield listener.getsockname()[1]
        watchers.cancel_scope.cancel()


def loom_server(app: AppContext) -> Server[Any]:
    """Make a server whose tools try what a transport has to be able to do."""

    async def list_tools(
        _ctx: ServerRequestContext[RequestContext], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        names = ["who", "elicit", "sample", "roots", "progress", "log", "hang", "boom"]
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in names])

    async def call_tool(ctx: ServerRequestContext[RequestContext], params: CallToolRequestParams) -> CallToolResult:
        text = await _run(app.bus, ctx, params)
        return CallToolResult(content=[TextContent(type="text", text=text)])

    listen = ListenHandler(InMemorySubscriptionBus())
    server = Server[Any](
        "loom", version="1", on_list_tools=list_tools, on_call_tool=call_tool, on_subscriptions_listen=listen
    )
    server.middleware[:] = [progress_middleware(app.watchers)]
    return server


async def _run(bus: BusClient, ctx: ServerRequestContext[RequestContext], params: CallToolRequestParams) -> str:  # noqa: PLR0911 - a table
    match params.name:
        case "who":
            request = ctx.lifespan_context
            return f"{request.caller.name} {request.client_id} {','.join(sorted(request.toolsets))}"
        case "can":
            return " ".join(name for name, one in CAPABILITIES.items() if ctx.session.check_client_capability(one))
        case "elicit":
            answer = await ctx.session.elicit_form("Who are you?", _FORM)
            return f"{answer.action} {answer.content}"
        case "sample":
            message = SamplingMessage(role="user", content=TextContent(type="text", text="Hello"))
            asked = CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=9))
            sampled = await ctx.session.send_request(asked, CreateMessageResult)
            return str(getattr(sampled.content, "text", ""))
        case "roots":
            found = await ctx.session.send_request(ListRootsRequest(), ListRootsResult)
            return " ".join(str(root.uri) for root in found.roots)
        case "progress":
            await _progress(bus, ctx.lifespan_context)
            return "done"
        case "hang":
            await bus.call(HANG, Nothing(), timeout_ms=60_000)
            return "never"
        case "boom":
            msg = "secret inside"
            raise RuntimeError(msg)
        case _:
            return ""


async def _progress(bus: BusClient, request: RequestContext) -> None:
    """Report progress over the bus, as an actor does; what does not grow is no progress."""
    mine = request.watch
    if mine is None:
        return
    for done in (0, 1, 1, 2):
        progress = Progress(token=mine.token, done=done, message=f"Step {done}.", total=3)
        await bus.tell(PROGRESS.at(replica=mine.replica), progress)
    await bus.call(FLUSH, Nothing())


class RoundRobin(httpx2.AsyncBaseTransport):
    """Sends each request to the next replica, as a balancer that knows of no sessions does."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = cycle(ports)
        self._transport = httpx2.AsyncHTTPTransport(verify=False)
        self.sent: list[httpx2.Request] = []
        self.statuses: list[int] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(port=next(self._ports))
        self.sent.append(request)
        response = await self._transport.handle_async_request(request)
        self.statuses.append(response.status_code)
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


@asynccontextmanager
async def http(loom: Loom, who: str = "somebody") -> AsyncGenerator[httpx2.AsyncClient]:
    """Return a client of all replicas in turn."""
    async with httpx2.AsyncClient(
        transport=RoundRobin(loom.ports), base_url="http://127.0.0.1", headers={CALLER: who}, timeout=TEST_S
    ) as made:
        yield made


@asynccontextmanager
async def connected(loom: Loom, mode: str, path: str = PATH, **callbacks: Any) -> AsyncGenerator[Client]:
    """Connect the official client to all replicas in turn."""
    async with (
        http(loom) as made,
        Client(streamable_http_client(f"http://127.0.0.1{path}", http_client=made), mode=mode, **callbacks) as client,
    ):
        yield client
