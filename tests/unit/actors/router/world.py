"""A router on a bus in memory, with providers whose models say what a test has written down."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import anyio
from msgspec import structs

from actors.actor import grant_of, handlers
from actors.router.actor import Router
from actors.router.provider import (
    Capabilities,
    ModelCompletion,
    ModelRequest,
    ProviderClient,
    ProviderCredentials,
    ProviderError,
    ProviderKind,
    Write,
)
from actors.settings import Settings
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.faults import Fault, FaultError
from protocol.models import (
    CallErrorKind,
    CallLine,
    CallModel,
    ModelAnswer,
    ModelMessage,
    ModelText,
    Provider,
    TextPart,
    TokenUsage,
)
from protocol.replicas import Watch
from protocol.subject_kinds import Call

TEST_S = 90.0
KEY = "sk-planted-4f7c09d1"
PRICES: Mapping[Provider, str] = {Provider.ANTHROPIC: "anthropic", Provider.OPENAI: "openai", Provider.GOOGLE: "google"}

A = TypeVar("A")
R = TypeVar("R")

Say = Callable[[ModelRequest, Write | None], Awaitable[ModelCompletion]]
"""What a model does when it is asked."""


def says(text: str, *, usage: TokenUsage | None = None, **more: Any) -> Say:
    """Answer, streamed by words."""

    async def say(request: ModelRequest, write: Write | None) -> ModelCompletion:
        for word in text.split(" ") if write is not None else ():
            assert write is not None
            await write(word)
        used = usage or TokenUsage(input=1_000, output=100)
        plain = ModelCompletion(text=text, usage=used, finish="stop", model=request.model)
        return structs.replace(plain, **more)

    return say


def fails(kind: CallErrorKind, *, after: str = "", retry_after_ms: int | None = None) -> Say:
    """Fail, maybe after some words."""

    async def say(_: ModelRequest, write: Write | None) -> ModelCompletion:
        if after and write is not None:
            await write(after)
        raise ProviderError(kind, f"it failed: {kind}", retry_after_ms=retry_after_ms)

    return say


@dataclass
class FakeClient:
    """Does the next of its turns each time it is asked, and the last of them for good; see ProviderClient."""

    turns: list[Say]
    asked: list[ModelRequest] = field(default_factory=list[ModelRequest])

    async def answer(self, request: ModelRequest, write: Write | None = None) -> ModelCompletion:
        """Do the next turn."""
        self.asked.append(request)
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        return await turn(request, write)

    async def aclose(self) -> None:
        """Close nothing."""


@dataclass
class World:
    """Who asks, the models, and the lines of the journal."""

    bus: Bus
    router: Router
    clients: dict[Provider, FakeClient]
    settings: Settings
    texts: list[ModelText] = field(default_factory=list[ModelText])

    async def ask(self, tool: str = "web_answer", text: str = "Why?", **more: Any) -> ModelAnswer:
        """Ask a model."""
        return await self.bus.call(subjects.CALL_MODEL, call(tool, text, **more))

    async def refused(self, asked: Call[A, R], args: A) -> Fault:
        """Return the fault that a request is answered with."""
        try:
            await self.bus.call(asked, args)
        except FaultError as error:
            return error.fault
        raise AssertionError

    async def lines(self) -> list[CallLine]:
        """Read the journal."""
        journal = await self.router.bus.journal(subjects.MODEL_CALLS)
        return [line.value async for line in journal.read()]

    def count(self, provider: Provider) -> int:
        """Return how often a provider was asked."""
        return len(self.clients[provider].asked)


def call(tool: str = "web_answer", text: str = "Why?", **more: Any) -> CallModel:
    """Make a call."""
    return CallModel(tool=tool, messages=(ModelMessage(role="user", parts=(TextPart(text=text),)),), **more)


def kinds(
    clients: Mapping[Provider, FakeClient], capabilities: Mapping[Provider, Capabilities]
) -> dict[Provider, ProviderKind]:
    """Return the providers of a test; each needs a key, and has one."""

    def maker(client: FakeClient) -> Callable[[ProviderCredentials, Collection[str]], ProviderClient]:
        return lambda _credentials, _hosts: client

    return {
        provider: ProviderKind(
            provider=provider,
            requires=("api_key",),
            environment={"api_key": (f"{provider.name}_API_KEY",)},
            make=maker(client),
            capabilities=capabilities.get(provider, Capabilities()),
            defaults={"base_url": f"https://{provider.value}.example/v1"},
            price_id=PRICES.get(provider),
        )
        for provider, client in clients.items()
    }


@asynccontextmanager
async def routing(
    models: Mapping[Provider, list[Say]],
    capabilities: Mapping[Provider, Capabilities] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> AsyncGenerator[World]:
    """Run a router whose models do what a test has written down, and somebody who asks."""
    clients = {provider: FakeClient(list(turns)) for provider, turns in models.items()}
    environment = {f"{provider.name}_API_KEY": KEY for provider in models}
    async with running(kinds(clients, capabilities or {}), environment, settings or {}) as world:
        world.clients.update(clients)
        yield world


@asynccontextmanager
async def running(
    providers: Mapping[Provider, ProviderKind], environment: Mapping[str, str], settings: Mapping[str, Any]
) -> AsyncGenerator[World]:
    """Run a router with the grant that it has in a system, and somebody who asks."""
    with anyio.fail_after(TEST_S), TemporaryDirectory() as folder:
        async with (
            Broker() as broker,
            Bus(broker.connect("router", grant_of(Router)), "router", "r1").running() as own,
            Bus(broker.connect("asker"), "asker", "a1").running() as asker,
        ):
            own.seal = Seal.of(new_key())
            chosen = structs.replace(Settings(data_dir=Path(folder)), **settings)
            router = Router(bus=own, settings=chosen, environment=environment, kinds=providers)
            world = World(asker, router, {}, chosen)

            async def hear(text: ModelText) -> None:
                world.texts.append(text)

            await asker.serve(subjects.MODEL_TEXT.at(replica="a1"), hear, at_once=1)
            async with serving(router):
                yield world


@asynccontextmanager
async def serving(router: Router) -> AsyncGenerator[None]:
    """Have a router answer while the block lasts."""
    async with router.open():
        for handler in handlers(Router):
            await router.bus.serve(handler.subject, getattr(router, handler.method), at_once=handler.at_once)
        yield


WATCH = Watch(replica="a1", token="t1")
