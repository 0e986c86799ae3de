"""Asks the router and the learner for a client: which models are asked, what that came to, and the providers."""

from __future__ import annotations

from http import HTTPStatus

from msgspec import Struct, structs

from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Code, FaultError, fault
from protocol.models import ModelName, Provider, RouteCandidate, RouteReason
from protocol.routes import (
    AskMetrics,
    AskRoute,
    ListOptimizations,
    ListProviders,
    ListRoutes,
    NamedProvider,
    Optimizations,
    ProviderList,
    ProviderState,
    RouteChange,
    RouteConfig,
    RouteMetrics,
    RouteTable,
    SetRoute,
    UnsetRoute,
)
from protocol.subjects import (
    PROVIDER_TEST,
    PROVIDERS,
    ROUTE,
    ROUTE_AUDIT,
    ROUTE_CONFIG,
    ROUTE_METRICS,
    ROUTE_SET,
    ROUTE_UNSET,
    ROUTES,
)


async def routes(app: AppContext) -> RouteTable:
    """List the routes, in the order in which they are tried."""
    return await app.bus.call(ROUTES, ListRoutes(), wait_ms=app.grace_ms)


class RouteAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who would be asked, and why (004 "RouteDecision"), with the candidates, and why they were not chosen."""

    provider: Provider
    model: str
    reason: RouteReason
    candidates: tuple[RouteCandidate, ...] = ()
    schema_version: str = SCHEMA_VERSION


async def route(app: AppContext, tool: str) -> RouteAnswer:
    """Return who would be asked for a tool, and why."""
    change = await app.bus.call(ROUTE, AskRoute(tool=tool), wait_ms=app.grace_ms)
    return RouteAnswer(**structs.asdict(change.decision))


async def config(app: AppContext, tool: str) -> RouteConfig:
    """Return what a call for a tool is made with, without its secrets.

    Raises:
        HttpStatusError: 404, no provider can be asked (004 "LLMConfig Output").
    """
    try:
        route_config = await app.bus.call(ROUTE_CONFIG, AskRoute(tool=tool), wait_ms=app.grace_ms)
    except FaultError as error:
        if error.fault.code is Code.CONFIG_NO_MODEL:
            raise HttpStatusError(error.fault, HTTPStatus.NOT_FOUND) from None
        raise
    if route_config.reason is RouteReason.NO_PROVIDERS_AVAILABLE:
        raise HttpStatusError(fault(Code.CONFIG_NO_MODEL), HTTPStatus.NOT_FOUND)
    return route_config


async def set_route(app: AppContext, pattern: str, name: ModelName) -> RouteChange:
    """Send tools of a pattern to a model, until that is taken back."""
    return await app.bus.call(ROUTE_SET, SetRoute(pattern=pattern, name=name), wait_ms=app.grace_ms)


async def unset_route(app: AppContext, pattern: str) -> RouteChange:
    """Take back where tools of a pattern were sent."""
    return await app.bus.call(ROUTE_UNSET, UnsetRoute(pattern=pattern), wait_ms=app.grace_ms)


async def metrics(app: AppContext, question: AskMetrics) -> RouteMetrics:
    """Return what calls came to, by tool and model."""
    return await app.bus.call(ROUTE_METRICS, question, wait_ms=app.grace_ms)


async def audit(app: AppContext, question: ListOptimizations) -> Optimizations:
    """List what was learned, the newest first."""
    return await app.bus.call(ROUTE_AUDIT, question, wait_ms=app.grace_ms)


async def providers(app: AppContext) -> ProviderList:
    """List the providers, and how each stands."""
    return await app.bus.call(PROVIDERS, ListProviders(), wait_ms=app.grace_ms)


async def try_provider(app: AppContext, provider: Provider, model: str | None = None) -> ProviderState:
    """Ask a provider for a few words, and return how it stands then."""
    return await app.bus.call(PROVIDER_TEST, NamedProvider(provider=provider, model=model), wait_ms=app.grace_ms)
