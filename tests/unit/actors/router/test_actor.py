"""What the router answers about routes and providers, and that no key ever leaves it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
import structlog.testing
from msgspec import structs

from actors.router.actor import TEST_TOOL, Router
from actors.router.provider import ProviderCredentials
from bus import Bus, tracing
from bus.tracing import Attributes, Span, SpanKind, Value
from protocol import subjects
from protocol.codec import encode
from protocol.faults import Code
from protocol.models import CallErrorKind, ModelCalled, ModelName, Provider, RouteReason
from protocol.routes import (
    AskRoute,
    ListProviders,
    ListRoutes,
    NamedProvider,
    Override,
    ProviderState,
    Route,
    RouteConfig,
    SetRoute,
    UnsetRoute,
)
from protocol.routing import model_name
from tests.requirements import requirement
from tests.unit.actors.router.world import KEY, World, call, fails, routing, says, serving

ANTHROPIC, OPENAI = Provider.ANTHROPIC, Provider.OPENAI
HAIKU, SONNET = model_name("anthropic/claude-haiku-4-5-20251001"), model_name("anthropic/claude-sonnet-4-5-20250929")
MINE = model_name("openai/mine")


def learned(pattern: str, name: ModelName) -> Override:
    return Override(pattern=pattern, name=name, reason="optimized", manual=False, updated_at=0)


async def chosen(world: World, tool: str) -> tuple[ModelName, RouteReason]:
    decision = (await world.bus.call(subjects.ROUTE, AskRoute(tool=tool))).decision
    return ModelName(provider=decision.provider, model=decision.model), decision.reason


@asynccontextmanager
async def second(world: World) -> AsyncGenerator[Router]:
    """Run another replica of the router on the same bus."""
    transport = world.router.bus.transport
    async with Bus(transport, "router", "r2").running() as bus:
        bus.seal = world.router.bus.seal
        router = Router(
            bus=bus, settings=world.settings, environment=world.router.environment, kinds=world.router.kinds
        )
        async with serving(router):
            yield router


@requirement("004.routing.override")
async def test_an_override_counts_at_once_for_every_replica_and_after_a_restart_until_it_is_taken_back() -> None:
    async with routing({ANTHROPIC: [says("a")], OPENAI: [says("o")]}) as world:
        before = await chosen(world, "browser_click")
        changed = await world.bus.call(subjects.ROUTE_SET, SetRoute(pattern="browser_*", name=MINE))
        async with second(world):
            for _ in range(8):
                assert await chosen(world, "browser_click") == (MINE, RouteReason.OPTIMIZED)
        answered = await world.ask("browser_click")
        taken_back = await world.bus.call(subjects.ROUTE_UNSET, UnsetRoute(pattern="browser_*"))
        again = await world.bus.call(subjects.ROUTE_UNSET, UnsetRoute(pattern="browser_*"))

        assert before == await chosen(world, "browser_click") == (HAIKU, RouteReason.DEFAULT)
        assert (changed.tool_pattern, changed.decision.model) == ("browser_*", "mine")
        assert (answered.served, answered.reason) == (MINE, RouteReason.OPTIMIZED)
        assert taken_back == again


async def test_what_the_learner_writes_is_followed() -> None:
    async with routing({ANTHROPIC: [says("a")], OPENAI: [says("o")]}) as world:
        bucket = await world.router.bus.table(subjects.ROUTE_OVERRIDES)
        row = learned("a.b_*", MINE)
        await bucket.put(row.key, row)
        await until_chosen(world, "a.b_c", MINE)
        tested = structs.replace(row, name=HAIKU, reason="downgrade_test", share=1.0)
        await bucket.put(tested.key, tested)
        with anyio.fail_after(90):
            while (await world.ask("a.b_c")).reason is not RouteReason.DOWNGRADE_TEST:
                await anyio.sleep(0.002)
        await bucket.delete(tested.key)
        await bucket.delete(row.key)
        await until_chosen(world, "a.b_c", SONNET)


async def until_chosen(world: World, tool: str, name: ModelName) -> None:
    with anyio.fail_after(90):
        while (await chosen(world, tool))[0] != name:
            await anyio.sleep(0.002)


async def test_the_routes_are_listed_with_the_overrides_and_who_can_be_asked() -> None:
    async with routing({OPENAI: [says("o")], ANTHROPIC: [says("a")]}) as world:
        await world.bus.call(subjects.ROUTE_SET, SetRoute(pattern="mine_*", name=MINE))
        table = await world.bus.call(subjects.ROUTES, ListRoutes())

    assert table.available == (ANTHROPIC, OPENAI)
    assert len(table.routes) == 17
    assert table.routes[0] == Route(
        tool_pattern="mine_*", provider=OPENAI, model="mine", category=table.routes[-1].category, is_override=True,
        manual=True,
    )  # fmt: skip


@requirement("004.providers")
async def test_a_config_has_no_secret_and_callers_in_the_process_get_all_of_it() -> None:
    async with routing({OPENAI: [says("o")]}) as world:
        config = await world.bus.call(subjects.ROUTE_CONFIG, AskRoute(tool="browser_click"))
        decision, credentials = world.router.build_config_for_tool("browser_click")

    assert config == RouteConfig(
        provider=OPENAI,
        model="gpt-4o-mini",
        reason=RouteReason.FALLBACK,
        has_api_key=True,
        has_secret_key=False,
        base_url="https://openai.example/v1",
    )
    assert (decision.model, credentials) == (
        "gpt-4o-mini",
        ProviderCredentials(api_key=KEY, base_url="https://openai.example/v1"),
    )


async def test_a_provider_is_tested_by_asking_it() -> None:
    async with routing({OPENAI: [says("yes"), fails(CallErrorKind.AUTH)], ANTHROPIC: [says("a")]}) as world:
        works = await world.bus.call(subjects.PROVIDER_TEST, NamedProvider(provider=OPENAI))
        fails_now = await world.bus.call(subjects.PROVIDER_TEST, NamedProvider(provider=OPENAI, model="gpt-4o"))
        listed = await world.bus.call(subjects.PROVIDERS, ListProviders())
        lines = [line for line in await world.lines() if isinstance(line, ModelCalled)]

    state = ProviderState(
        provider=OPENAI, available=True, source="environment", base_url="https://openai.example/v1", works=True
    )
    assert works == state
    assert structs.replace(fails_now, cooling_ms=0) == structs.replace(state, works=False, message="it failed: auth")
    assert [(one.provider, one.works, one.cooling_ms > 0) for one in listed.providers] == [
        (ANTHROPIC, None, False),
        (OPENAI, None, True),
    ]
    assert [(line.tool, line.model, line.success) for line in lines] == [
        (TEST_TOOL, "gpt-4o-mini", True),
        (TEST_TOOL, "gpt-4o", False),
    ]


async def test_no_key_is_ever_told_logged_or_written_down() -> None:
    heard = list[bytes]()
    with structlog.testing.capture_logs() as logs:
        async with routing({OPENAI: [fails(CallErrorKind.AUTH)], ANTHROPIC: [says("a")]}) as world:

            async def listen() -> None:
                async for message in world.bus.tap():
                    heard.append(message.payload)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen)
                await anyio.wait_all_tasks_blocked()
                await world.ask()
                await world.refused(subjects.CALL_MODEL, call(pin=MINE))
                heard += [
                    encode(await world.bus.call(subjects.PROVIDERS, ListProviders())),
                    encode(await world.bus.call(subjects.ROUTE_CONFIG, AskRoute(tool="x"))),
                    encode(await world.bus.call(subjects.PROVIDER_TEST, NamedProvider(provider=OPENAI))),
                ]
                tasks.cancel_scope.cancel()
            lines = await world.lines()

    assert len(heard) > 6
    assert KEY.encode() not in b"".join(heard)
    assert KEY not in repr((logs, lines, world.router))


class Recorded:
    """A span as it was recorded."""

    def __init__(self, name: str, kind: SpanKind, attributes: Attributes | None) -> None:
        self.name, self.kind, self.failure = name, kind, ""
        self.attributes: dict[str, Value] = dict(attributes or {})

    def __enter__(self) -> Span:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def set_attribute(self, key: str, value: Value, /) -> None:
        self.attributes[key] = value

    def fail(self, reason: str) -> None:
        self.failure = reason


class Recording:
    """Keeps the spans of all that is done."""

    def __init__(self) -> None:
        self.spans = list[Recorded]()

    def span(self, name: str, kind: SpanKind, attributes: Attributes | None, headers: object) -> Recorded:
        del headers
        self.spans.append(Recorded(name, kind, attributes))
        return self.spans[-1]

    def inject(self, headers: dict[str, str]) -> None:
        """Add nothing."""

    def trace_id(self) -> str | None:
        return None

    def close(self) -> None:
        """Close nothing."""


async def test_each_try_is_a_span_by_the_conventions_without_a_word_of_what_was_said() -> None:
    recording = Recording()
    tracing.use(recording)
    try:
        models = {ANTHROPIC: [fails(CallErrorKind.TIMEOUT)], OPENAI: [says("secret words", model="gpt-4o-2")]}
        async with routing(models) as world:
            await world.ask(text="secret question", conversation="c")
    finally:
        tracing.use(tracing.OFF)
    spans = [span for span in recording.spans if span.name.startswith("chat ")]

    common: dict[str, Value] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.max_tokens": 1_024,
        "gen_ai.output.type": "text",
        "gen_ai.conversation.id": "c",
        "weft.tool": "web_answer",
        "weft.route.reason": "fallback",
    }
    assert [(span.name, span.kind, span.failure) for span in spans] == [
        (f"chat {SONNET.model}", "client", "timeout"),
        ("chat gpt-4o", "client", ""),
    ]
    assert spans[0].attributes == common | {
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": SONNET.model,
        "error.type": "timeout",
    }
    assert spans[1].attributes == common | {
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.response.model": "gpt-4o-2",
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 0,
    }


async def test_a_pattern_that_is_none_is_refused() -> None:
    async with routing({ANTHROPIC: [says("a")]}) as world:
        refused = await world.refused(subjects.ROUTE_SET, SetRoute(pattern="browser *", name=MINE))

    assert refused.code in (Code.VALIDATION_INVALID_PACKET, Code.VALIDATION_INVALID_REQUEST)


@pytest.mark.parametrize("pattern", ["*", "browser_*", "a.b", "a.b.*", ".a", "a."])
async def test_every_pattern_has_a_place_in_the_bucket(pattern: str) -> None:
    async with routing({OPENAI: [says("o")]}) as world:
        await world.bus.call(subjects.ROUTE_SET, SetRoute(pattern=pattern, name=MINE))
        listed = await world.bus.call(subjects.ROUTES, ListRoutes())

    assert (pattern, True) in [(route.tool_pattern, route.manual) for route in listed.routes]
