"""Gateways with an offering actor on one bus, and clients of them."""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from anyio.lowlevel import checkpoint
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.types import Receive, Scope, Send

from actors.gateway.access.caller import EVERY_SCOPE, Caller
from actors.gateway.access.caller import Scope as KeyScope
from actors.gateway.access.rules import SecurityHeaders, origin_rules
from actors.gateway.app_context import AppContext
from actors.gateway.edge import Exchanges
from actors.gateway.mcp import PATH
from actors.gateway.mcp.offer_catalogue import OfferChange, Offers
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.server import make_server
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS
from actors.gateway.mcp.transport.http import McpEndpoint
from actors.gateway.request import RequestContext, with_request
from actors.gateway.server import serving
from actors.offering import LiveOffer, offering
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal
from protocol.offers.offer import AskOffer, Offer, OfferedTool
from protocol.offers.results import OfferAnswer, OfferNews, Outcome, Said
from protocol.replicas import ClientReply, ReplyTaken, Watch
from protocol.subjects import EDGE_REPLY, OFFER_NEWS, OFFER_SAID, OFFERED
from tests.unit.actors.gateway.mcp.replicas import CALLER, RoundRobin
from tests.unit.actors.gateway_data import VAULT_KEY, settings

TEST_S = 240.0
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
TASKS = "io.modelcontextprotocol/tasks"
ACTOR = "loom"
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
SCOPES = "x-test-scopes"
"""The header by which a test says what its key is good for, where that is not everything."""

Answering = Callable[[AskOffer], Awaitable[Outcome]]


def tool(name: str, **fields: Any) -> OfferedTool:
    return OfferedTool(name=name, description=f"Tool {name}", input_schema=NOTHING, **fields)


@dataclass
class Loom:
    """An actor that offers: `answer` says what comes of what it is asked, `asked` is all that it was."""

    bus: Bus
    answer: Answering
    asked: list[AskOffer] = field(default_factory=list[AskOffer])
    said: int = 0

    async def handle(self, asked: AskOffer) -> OfferAnswer:
        """Answer what a gateway asks."""
        self.asked.append(asked)
        self.said = 0
        came = await self.answer(asked)
        return OfferAnswer(outcome=came, messages=self.said)

    async def say(self, watch: Watch | None, says: Any) -> None:
        """Say something on the way."""
        if watch is not None:
            self.said += 1
            await self.bus.tell(OFFER_SAID.at(replica=watch.replica), Said(token=watch.token, says=says))

    async def tell(self, news: Any) -> None:
        """Publish a change to all gateways."""
        await self.bus.tell(OFFER_NEWS, OfferNews(news=news))


@dataclass
class Market:
    """Gateways that serve, and what is offered there."""

    ports: list[int]
    offers: list[Offers]
    loom: Loom
    standing: LiveOffer

    async def until(self, settled: Callable[[Offers], bool]) -> None:
        """Wait until every gateway knows of what was offered last."""
        for offers in self.offers:
            heard = anyio.Event()

            def changed(_news: OfferChange, heard: anyio.Event = heard) -> None:
                heard.set()

            with offers.subscribed(changed), anyio.fail_after(TEST_S):
                while not settled(offers):
                    await heard.wait()
                    heard = anyio.Event()


@asynccontextmanager
async def market(offer: Offer, answer: Answering, *, gateways: int = 1) -> AsyncGenerator[Market]:
    """Have an actor offer this at some gateways, which share a key as replicas do."""
    async with Broker() as broker, AsyncExitStack() as stack:
        actor = Bus(broker.connect(ACTOR), ACTOR, "loom-1")
        await stack.enter_async_context(actor.running())
        loom = Loom(actor, answer)
        await actor.serve(OFFERED.at(actor=ACTOR), loom.handle, at_once=8)
        standing = await stack.enter_async_context(offering(actor, ACTOR, offer))
        ports, known = list[int](), list[Offers]()
        for index in range(gateways):
            bus = Bus(broker.connect("gateway"), "gateway", f"gateway-{index}")
            bus.seal = Seal.of(VAULT_KEY)
            await stack.enter_async_context(bus.running())
            here = ReplicaState(bus.replica)
            here.offers = Offers()
            for event, heard in here.events:
                await bus.serve(event.answered_by(bus.replica), heard, at_once=1)
            await bus.serve(EDGE_REPLY.answered_by(bus.replica), _replied(here), at_once=8)
            known.append(here.offers)
            ports.append(await stack.enter_async_context(_gateway(bus, here)))
        made = Market(ports, known, loom, standing)
        await made.until(
            lambda offers: bool(offers.current.tools or offers.current.resources or offers.current.prompts)
        )
        yield made


def _replied(here: ReplicaState) -> Callable[[ClientReply], Awaitable[ReplyTaken]]:
    async def replied(reply: ClientReply) -> ReplyTaken:
        await checkpoint()
        return ReplyTaken(taken=here.questions.resolve(reply))

    return replied


@asynccontextmanager
async def _gateway(bus: Bus, here: ReplicaState) -> AsyncGenerator[int]:
    app = AppContext(bus=bus, grace_ms=0, version="1.2.3", watchers=here.watchers)
    endpoint = McpEndpoint(make_server(app, here.offers), app, here, DEFAULT_TOOLSETS)

    async def gate(scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        scopes = frozenset(KeyScope(one) for one in headers[SCOPES].split(",")) if SCOPES in headers else EVERY_SCOPE
        request = RequestContext(caller=Caller(headers.get(CALLER, "somebody"), scopes))
        await endpoint(with_request(scope, request), receive, send)

    security_headers, listener = SecurityHeaders(origin_rules(settings(), ())), socket.create_server(("127.0.0.1", 0))
    async with endpoint.running(), anyio.create_task_group() as watchers:
        exchanges = Exchanges(gate, security_headers, frozenset({PATH}), frozenset(), bus.meter("http"), watchers)
        async with serving(exchanges, listener, 500, exchanges.abandon):
            yield listener.getsockname()[1]
        watchers.cancel_scope.cancel()


@asynccontextmanager
async def http(at: Market, **headers: str) -> AsyncGenerator[httpx2.AsyncClient]:
    """Return a client of all gateways in turn."""
    async with httpx2.AsyncClient(
        transport=RoundRobin(at.ports), base_url="http://127.0.0.1", headers=headers, timeout=TEST_S
    ) as made:
        yield made


@asynccontextmanager
async def connected(at: Market, mode: str, path: str = PATH, **callbacks: Any) -> AsyncGenerator[Client]:
    """Connect the official client to all gateways in turn."""
    async with (
        http(at) as made,
        Client(streamable_http_client(f"http://127.0.0.1{path}", http_client=made), mode=mode, **callbacks) as client,
    ):
        yield client


NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


async def post(
    client: httpx2.AsyncClient,
    method: str,
    params: dict[str, Any],
    capabilities: dict[str, Any] | None = None,
    *,
    path: str = PATH,
    **headers: str,
) -> dict[str, Any]:
    """Ask as a client of the newer era, and give the whole JSON-RPC response."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities or {},
    }
    name = params.get(NAMES.get(method, "taskId"))
    named = {"Mcp-Name": name} if isinstance(name, str) else {}
    answer = await client.post(
        path,
        json={"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}},
        headers={
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": method,
            "Accept": "application/json",
            **named,
            **headers,
        },
    )
    told: dict[str, Any] = answer.json()
    return told


async def never(_asked: AskOffer) -> Outcome:
    """Answer nothing that anybody should ask."""
    await checkpoint()
    raise AssertionError
