"""The endpoints of the router (004): its table, what calls came to, overrides, what was learned, and the providers."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, structs
from starlette.responses import Response

from actors.gateway import models
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from protocol.browse import SCHEMA_VERSION
from protocol.models import ModelName, Provider
from protocol.routes import (
    AskMetrics,
    ListOptimizations,
    Optimizations,
    ProviderList,
    ProviderState,
    RouteChange,
    RouteConfig,
    RouteMetrics,
    RouteTable,
    ToolPattern,
)
from protocol.shapes import Worded

MAX_MS = 2**53 - 1
"""The largest integer that every reader of JSON takes as it is (RFC 8259 §6)."""

ToolName = Annotated[str, Meta(min_length=1, max_length=128, description="Name of the tool, such as browser_click.")]


class TestedProvider(ProviderState, frozen=True, kw_only=True, rename="camel"):
    """How a provider stands after it was asked."""

    schema_version: str = SCHEMA_VERSION


class ToolPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tool is meant."""

    tool: ToolName


class OverridePath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tools are meant: one by its name, or those that begin so, with a star at the end."""

    pattern: Annotated[ToolPattern, Meta(description="Name of a tool, or its beginning and a star.")]


class OverrideRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that tools of a pattern go to."""

    provider: Provider
    model: Annotated[Worded, Meta(max_length=200)]


class MetricsRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which calls are counted."""

    tool: ToolName | None = None
    since: (
        Annotated[int, Meta(ge=0, le=MAX_MS, description="Milliseconds since the epoch; 30 days at most.")] | None
    ) = None


class AuditRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of the audit is listed."""

    limit: Annotated[int, Meta(ge=1, le=1_000, description="Entries at most.")] = 50


class ProviderPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which provider is meant."""

    provider: Provider


class ProviderTest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """With which model it is tried; without one, with the one that is asked first."""

    model: Annotated[Worded, Meta(max_length=200)] | None = None


async def _routes(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(await models.routes(app))


async def _metrics(app: AppContext, _request: RequestContext, arguments: MetricsRequest) -> Response:
    return answer(await models.metrics(app, AskMetrics(tool=arguments.tool, since=arguments.since)))


async def _route(app: AppContext, _request: RequestContext, arguments: ToolPath) -> Response:
    return answer(await models.route(app, arguments.tool))


async def _config(app: AppContext, _request: RequestContext, arguments: ToolPath) -> Response:
    return answer(await models.config(app, arguments.tool))


async def _set(
    app: AppContext, _request: RequestContext, arguments: Addressed[OverridePath, OverrideRequest]
) -> Response:
    name = ModelName(provider=arguments.body.provider, model=arguments.body.model)
    return answer(await models.set_route(app, arguments.params.pattern, name))


async def _unset(app: AppContext, _request: RequestContext, arguments: OverridePath) -> Response:
    return answer(await models.unset_route(app, arguments.pattern))


async def _audit(app: AppContext, _request: RequestContext, arguments: AuditRequest) -> Response:
    return answer(await models.audit(app, ListOptimizations(limit=arguments.limit)))


async def _providers(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(await models.providers(app))


async def _test(
    app: AppContext, _request: RequestContext, arguments: Addressed[ProviderPath, ProviderTest]
) -> Response:
    state = await models.try_provider(app, arguments.params.provider, arguments.body.model)
    return answer(TestedProvider(**structs.asdict(state)))


_INSIDE = frozenset({500, 501, 503, 504})
_TOOL = {"tool": "browser_click"}
_PATTERN = {"pattern": "browser_tab_*"}
_READ: dict[str, Any] = {"method": "GET", "scope": Scope.OPERATE, "tag": Tag.ROUTER, "errors": _INSIDE}
_WRITE: dict[str, Any] = {"scope": Scope.ROUTES, "tag": Tag.ROUTER, "errors": _INSIDE}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/router",
        name="listRoutes",
        summary="List which model is asked for which tools, and the providers that can be asked.",
        about="In the order in which they are tried: overrides, then the table, exact names before patterns.",
        run=_routes,
        answer=RouteTable,
        **_READ,
    ),
    Endpoint(
        path="/router/metrics",
        name="getRouteMetrics",
        summary="Tell what calls of models came to, by tool, provider and model.",
        run=_metrics,
        params=MetricsRequest,
        answer=RouteMetrics,
        example={"tool": "web_answer", "since": 1_767_225_600_000},
        **_READ,
    ),
    Endpoint(
        path="/router/route/{tool}",
        name="getRoute",
        summary="Tell which model would be asked for a tool, and why; none is.",
        about="With the candidates, the figures of each, and why it was not chosen.",
        run=_route,
        params=ToolPath,
        answer=models.RouteAnswer,
        example=_TOOL,
        **_READ,
    ),
    Endpoint(
        path="/router/config/{tool}",
        name="getRouteConfig",
        summary="Tell what a call for a tool is made with; of keys, only whether there are any.",
        about="A 404 where no provider can be asked.",
        run=_config,
        params=ToolPath,
        answer=RouteConfig,
        example=_TOOL,
        **_READ,
    ),
    Endpoint(
        method="PUT",
        path="/router/overrides/{pattern}",
        name="setRoute",
        summary="Send tools to a model, whatever the table says and is learned.",
        run=_set,
        params=OverridePath,
        body=OverrideRequest,
        answer=RouteChange,
        where=_PATTERN,
        example={"provider": "openai", "model": "gpt-4o-mini"},
        **_WRITE,
    ),
    Endpoint(
        method="DELETE",
        path="/router/overrides/{pattern}",
        name="unsetRoute",
        summary="Take back where tools were sent.",
        run=_unset,
        params=OverridePath,
        answer=RouteChange,
        example=_PATTERN,
        **_WRITE,
    ),
    Endpoint(
        path="/router/audit",
        name="listOptimizations",
        summary="List what was learned of the models, the newest first.",
        run=_audit,
        params=AuditRequest,
        answer=Optimizations,
        example={"limit": 10},
        **_READ,
    ),
    Endpoint(
        path="/router/providers",
        name="listProviders",
        summary="List the providers of models: which can be asked, and what the others lack.",
        run=_providers,
        answer=ProviderList,
        **_READ,
    ),
    Endpoint(
        method="POST",
        path="/router/providers/{provider}/test",
        name="testProvider",
        summary="Ask a provider for a few words, and tell how it stands then.",
        about="That costs what a few words cost. The body may be left out.",
        run=_test,
        params=ProviderPath,
        body=ProviderTest,
        optional=True,
        answer=TestedProvider,
        where={"provider": "ollama"},
        example={"model": "qwen3:4b"},
        **_WRITE,
    ),
)
