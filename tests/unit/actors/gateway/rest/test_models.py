"""The router over REST (004): what is asked of it, what a client gets, and who may."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import Struct, structs

from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelClass, ModelName, Provider, RouteCandidate, RouteDecision, RouteReason
from protocol.routes import (
    AskMetrics,
    AskRoute,
    ListOptimizations,
    ListProviders,
    ListRoutes,
    NamedProvider,
    Optimization,
    Optimizations,
    ProviderList,
    ProviderState,
    Route,
    RouteChange,
    RouteConfig,
    RouteMetric,
    RouteMetrics,
    RouteTable,
    SetRoute,
    UnsetRoute,
)
from protocol.subject_kinds import Call
from tests.unit.actors.gateway.rest.calling import Replying, client, error_of
from tests.unit.actors.gateway_data import FakeBus

HAIKU = ModelName(provider=Provider.ANTHROPIC, model="claude-haiku-4-5-20251001")
MINI = ModelName(provider=Provider.OPENAI, model="gpt-4o-mini")
DECISION = RouteDecision(
    provider=HAIKU.provider,
    model=HAIKU.model,
    reason=RouteReason.DEFAULT,
    candidates=(RouteCandidate(name=MINI, calls=3, success_rate=0.5, cost_usd=0.1, why_not="no credentials"),),
)
CHANGE = RouteChange(tool_pattern="browser_tab_*", decision=DECISION)
TABLE = RouteTable(
    routes=(
        Route(
            tool_pattern="browser_click",
            provider=HAIKU.provider,
            model=HAIKU.model,
            category=ModelClass.SIMPLE,
            is_override=False,
        ),
    ),
    available=(Provider.ANTHROPIC,),
)
METRICS = RouteMetrics(
    metrics=(
        RouteMetric(
            tool_name="web_answer",
            provider=MINI.provider,
            model=MINI.model,
            total_calls=2,
            success_count=1,
            failure_count=1,
            success_rate=0.5,
            avg_latency_ms=12.5,
            total_cost=0.01,
            last_used="2026-01-01T00:00:00Z",
        ),
    )
)
AUDIT = Optimizations(
    optimizations=(
        Optimization(
            tool_name="web_answer",
            old_provider=HAIKU.provider,
            old_model=HAIKU.model,
            new_provider=HAIKU.provider,
            new_model="claude-sonnet-4-5-20250929",
            reason="its success rate fell below 0.7",
            timestamp="2026-01-01T00:00:00Z",
        ),
    )
)
CONFIG = RouteConfig(
    provider=HAIKU.provider,
    model=HAIKU.model,
    reason=RouteReason.DEFAULT,
    has_api_key=True,
    has_secret_key=False,
)
STATE = ProviderState(provider=Provider.OLLAMA, available=True, source="environment", works=True)


@pytest.mark.parametrize(
    ("method", "path", "body", "call", "asked", "answer"),
    [
        ("GET", "", None, subjects.ROUTES, ListRoutes(), TABLE),
        (
            "GET",
            "/metrics?tool=web_answer&since=7",
            None,
            subjects.ROUTE_METRICS,
            AskMetrics(tool="web_answer", since=7),
            METRICS,
        ),
        ("GET", "/config/browser_click", None, subjects.ROUTE_CONFIG, AskRoute(tool="browser_click"), CONFIG),
        ("GET", "/audit?limit=7", None, subjects.ROUTE_AUDIT, ListOptimizations(limit=7), AUDIT),
        ("GET", "/providers", None, subjects.PROVIDERS, ListProviders(), ProviderList(providers=(STATE,))),
        (
            "PUT",
            "/overrides/browser_tab_*",
            {"provider": "openai", "model": "gpt-4o-mini"},
            subjects.ROUTE_SET,
            SetRoute(pattern="browser_tab_*", name=MINI),
            CHANGE,
        ),
        ("DELETE", "/overrides/browser_tab_*", None, subjects.ROUTE_UNSET, UnsetRoute(pattern="browser_tab_*"), CHANGE),
        (
            "POST",
            "/providers/ollama/test",
            None,
            subjects.PROVIDER_TEST,
            NamedProvider(provider=Provider.OLLAMA),
            STATE,
        ),
        (
            "POST",
            "/providers/ollama/test",
            {"model": "qwen3:4b"},
            subjects.PROVIDER_TEST,
            NamedProvider(provider=Provider.OLLAMA, model="qwen3:4b"),
            STATE,
        ),
    ],
)
async def test_what_is_asked_reaches_the_router(  # noqa: PLR0913, PLR0917 - the columns of a table
    method: str, path: str, body: object, call: Call[Any, Any], asked: Struct, answer: Struct
) -> None:
    bus = Replying({call.pattern: answer})
    async with client(bus) as http:
        told = await http.request(method, f"/router{path}", json=body)

    assert [(made, sent) for made, sent, *_ in bus.calls] == [(call, asked)]
    assert (told.status_code, msgspec.json.decode(told.content, type=type(answer))) == (200, answer)


async def test_a_decision_is_told_as_the_contract_has_it() -> None:
    async with client(Replying({subjects.ROUTE.pattern: CHANGE})) as http:
        told = (await http.get("/router/route/browser_tab_new")).json()

    assert told == {
        "provider": "anthropic",
        "model": "claude-haiku-4-5-20251001",
        "reason": "default",
        "candidates": [
            {
                "name": {"provider": "openai", "model": "gpt-4o-mini"},
                "calls": 3,
                "successRate": 0.5,
                "costUsd": 0.1,
                "whyNot": "no credentials",
            }
        ],
        "schemaVersion": "1.0",
    }


async def test_where_no_provider_can_be_asked_there_is_no_config() -> None:
    unavailable = structs.replace(CONFIG, reason=RouteReason.NO_PROVIDERS_AVAILABLE, has_api_key=False)
    async with client(Replying({subjects.ROUTE_CONFIG.pattern: unavailable})) as http:
        told = await http.get("/router/config/browser_click")
    async with client(FakeBus(FaultError(fault(Code.CONFIG_NO_MODEL, "No provider has credentials.")))) as http:
        refused = await http.get("/router/config/browser_click")

    assert [one.status_code for one in (told, refused)] == [404, 404]
    assert error_of(refused).error == "No provider has credentials."
    assert "weft providers add" in str(error_of(told).recommended_actions)


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "", "operate"),
        ("GET", "/metrics", "operate"),
        ("GET", "/route/x", "operate"),
        ("GET", "/config/x", "operate"),
        ("GET", "/audit", "operate"),
        ("GET", "/providers", "operate"),
        ("PUT", "/overrides/x", "routes"),
        ("DELETE", "/overrides/x", "routes"),
        ("POST", "/providers/ollama/test", "routes"),
    ],
)
async def test_who_looks_needs_operate_and_who_changes_needs_routes(method: str, path: str, scope: str) -> None:
    bus = FakeBus()
    async with client(bus) as http:
        others = [one for one in ("browse", "models", "operate", "routes") if one != scope]
        key = (await http.post("/api/keys", json={"name": "other", "scopes": others})).json()["key"]
        told = await http.request(method, f"/router{path}", headers={"authorization": f"Bearer {key}"})

    assert (told.status_code, bus.calls) == (403, [])
    assert f'scope="{scope}"' in told.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/overrides/a*b", {"provider": "openai", "model": "x"}),
        ("PUT", "/overrides/a", {"provider": "nobody", "model": "x"}),
        ("PUT", "/overrides/a", {"provider": "openai", "model": ""}),
        ("PUT", "/overrides/a", {"provider": "openai"}),
        ("POST", "/providers/nobody/test", {}),
        ("GET", "/metrics?since=yesterday", None),
        ("GET", "/audit?limit=0", None),
    ],
)
async def test_what_is_no_route_is_refused(method: str, path: str, body: object) -> None:
    bus = FakeBus()
    async with client(bus) as http:
        told = await http.request(method, f"/router{path}", json=body)

    assert (told.status_code, error_of(told).code, bus.calls) == (400, Code.VALIDATION_INVALID_REQUEST, [])
