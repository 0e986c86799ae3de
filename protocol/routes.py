"""Routes as they are listed, set and learned: overrides, metrics and the audit of what was learned (004)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from protocol.browse import SCHEMA_VERSION
from protocol.documents import NonEmpty
from protocol.models import ModelClass, ModelName, Provider, RouteDecision, RouteReason

ToolPattern = Annotated[str, Meta(min_length=1, max_length=128, pattern=r"^(?:[A-Za-z0-9_.-]+\*?|\*)$(?!\n)")]
"""A name of a tool, or the beginning of some with a star at its end."""


class Override(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of ROUTE_OVERRIDES: tools of this pattern go to that model; `updated_at` in ms since the epoch.

    What a person set (`manual`) is never changed by what is learned. `share` of the calls go to a model that is being
    tested (`reason` downgrade_test); all do elsewhere.
    """

    pattern: ToolPattern
    name: ModelName
    reason: Literal["optimized", "downgrade_test"]
    manual: bool
    updated_at: int
    share: Annotated[float, Meta(ge=0.0, le=1.0)] = 1.0

    @property
    def key(self) -> str:
        """The key of its row: a pattern has room for two, one that is tested beside the one that holds."""
        return f"{override_key(self.pattern)}{'.test' if self.reason == 'downgrade_test' else ''}"


def override_key(pattern: str) -> str:
    """Return the key under which the override of a pattern lies; a key can hold no star, and no dot at its end."""
    return pattern.replace(".", "/").replace("*", "=")


class Route(Struct, frozen=True, kw_only=True, rename="camel"):
    """A row of the routing table as it stands, overrides beyond the default table included."""

    tool_pattern: str
    provider: Provider
    model: str
    category: ModelClass | None
    is_override: bool
    manual: bool = False


class ListRoutes(Struct, frozen=True, kw_only=True):
    """ROUTES: list the routes."""


class RouteTable(Struct, frozen=True, kw_only=True, rename="camel"):
    """The routes, in the order in which they are tried, and the providers that can be asked."""

    routes: tuple[Route, ...]
    available: tuple[Provider, ...]
    schema_version: str = SCHEMA_VERSION


class AskRoute(Struct, frozen=True, kw_only=True):
    """ROUTE and ROUTE_CONFIG: who would be asked for this tool."""

    tool: Annotated[str, Meta(min_length=1, max_length=128)]


class RouteConfig(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a call for a tool is made with, without its secrets (004 "LLMConfig Output"); None: not needed."""

    provider: Provider
    model: str
    reason: RouteReason
    has_api_key: bool
    has_secret_key: bool
    base_url: str | None = None
    resource_name: str | None = None
    region: str | None = None
    schema_version: str = SCHEMA_VERSION


class SetRoute(Struct, frozen=True, kw_only=True):
    """ROUTE_SET: send tools of a pattern to a model, until that is taken back."""

    pattern: ToolPattern
    name: ModelName


class UnsetRoute(Struct, frozen=True, kw_only=True):
    """ROUTE_UNSET: take an override back."""

    pattern: ToolPattern


class RouteChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """How tools of a pattern are routed after a change."""

    tool_pattern: str
    decision: RouteDecision
    schema_version: str = SCHEMA_VERSION


class AskMetrics(Struct, frozen=True, kw_only=True):
    """ROUTE_METRICS: the figures of calls, of one tool or all, since a time (ms since the epoch) or in 30 days."""

    tool: str | None = None
    since: int | None = None


class RouteMetric(Struct, frozen=True, kw_only=True, rename="camel"):
    """What the calls of a tool to one model came to (004 "Aggregation"); `last_used` as ISO 8601.

    `total_cost` counts the calls whose price is known; `infrastructure_failures` are among the failures.
    """

    tool_name: str
    provider: Provider
    model: str
    total_calls: int
    success_count: int
    failure_count: int
    success_rate: float
    avg_latency_ms: float
    total_cost: float
    last_used: str
    verified_calls: int = 0
    infrastructure_failures: int = 0
    unpriced_calls: int = 0


class RouteMetrics(Struct, frozen=True, kw_only=True, rename="camel"):
    """The figures, by tool, the most successful model first."""

    metrics: tuple[RouteMetric, ...]
    schema_version: str = SCHEMA_VERSION


class ListOptimizations(Struct, frozen=True, kw_only=True):
    """ROUTE_AUDIT: what was learned, the newest first."""

    limit: Annotated[int, Meta(ge=1, le=1000)] = 50


class Optimization(Struct, frozen=True, kw_only=True, rename="camel"):
    """A row of the audit (004 "Audit Trail"); `timestamp` as ISO 8601, rates None where nothing is known."""

    tool_name: str
    old_provider: Provider
    old_model: str
    new_provider: Provider
    new_model: str
    reason: NonEmpty
    timestamp: str
    old_success_rate: float | None = None
    new_success_rate: float | None = None
    cost_savings: float | None = None


class Optimizations(Struct, frozen=True, kw_only=True, rename="camel"):
    """The audit, the newest first."""

    optimizations: tuple[Optimization, ...]
    schema_version: str = SCHEMA_VERSION


class ListProviders(Struct, frozen=True, kw_only=True):
    """PROVIDERS: list the providers."""


class NamedProvider(Struct, frozen=True, kw_only=True):
    """PROVIDER_TEST: ask a provider for a few words, with a model of it or the one that it is asked first."""

    provider: Provider
    model: str | None = None


class ProviderState(Struct, frozen=True, kw_only=True, rename="camel"):
    """How a provider stands: whether it has its credentials and from where, what is missing, and whether it answers.

    `missing` are fields by their names in 004 (`apiKey`). `works` is None where it was not tried, `cooling_ms` for how
    long it is not asked.
    """

    provider: Provider
    available: bool
    source: Literal["environment", "stored", "built_in"] | None = None
    missing: tuple[str, ...] = ()
    base_url: str | None = None
    works: bool | None = None
    message: str = ""
    cooling_ms: int = 0


class ProviderList(Struct, frozen=True, kw_only=True, rename="camel"):
    """The providers, in the order in which they are asked where no rule says otherwise."""

    providers: tuple[ProviderState, ...]
    schema_version: str = SCHEMA_VERSION
