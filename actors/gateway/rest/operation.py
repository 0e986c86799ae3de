"""The endpoints by which a Weft is operated: liveness, readiness, figures, keys, and the metadata for tokens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, Literal

from msgspec import Struct
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

from actors.gateway.access import keys
from actors.gateway.access.caller import Scope, Usage
from actors.gateway.access.keys import AddKey, NamedKey
from actors.gateway.access.rules import RESOURCES, base_url, metadata_paths
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Endpoint
from actors.settings import Settings
from bus.stats import BUCKET_BOUNDS_S, AccountStats, EndpointStats, Replica
from protocol.access import KeysAnswer, NewKey, RevokedKey
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Code, FaultError, fault

NEEDED = ("navigator", "verifier")
"""The actors without which no page is read, besides a fetcher."""

FETCHERS = "fetchers."

LOOK_MS = 200
"""How long replicas get to tell that they live."""

READY_MS = 800
"""The same where one that is busy must not be taken for gone; probes of orchestrators wait a second."""

_LOOK_ERRORS = frozenset({503})
METRICS_MEDIA = CONTENT_TYPE_LATEST
_PROCESS = ("actor", "replica", "host")
_ENDPOINT = ("actor", "replica", "subject")
_KEY = ("actor", "replica", "key")
_OF_REPLICAS: tuple[tuple[str, str, Callable[[Replica], float]], ...] = (
    ("weft_process_start_time_seconds", "When a replica started.", lambda one: one.started / 1_000),
    ("weft_process_restarts", "How often a replica was started again in its place.", lambda one: one.restarts),
    ("weft_process_resident_memory_bytes", "Memory of a replica's process.", lambda one: one.memory_bytes),
)
_OF_KEYS: tuple[tuple[str, str, Callable[[AccountStats], int]], ...] = (
    ("weft_key_calls", "Calls begun for a key, by its id.", lambda one: one.calls),
    ("weft_key_refused", "Calls of a key beyond what it may have.", lambda one: one.refused),
)
_OF_MODELS: tuple[tuple[str, str, Callable[[Usage], float]], ...] = (
    ("weft_key_model_calls", "Calls of models for a key today, by its id.", lambda one: one.model_calls),
    ("weft_key_input_tokens", "Tokens that models have read for a key today.", lambda one: one.input_tokens),
    ("weft_key_output_tokens", "Tokens that models have written for a key today.", lambda one: one.output_tokens),
    ("weft_key_model_cost_usd", "What models cost for a key today, as far as known.", lambda one: one.model_cost_usd),
)
_BOUNDS = (*(str(bound) for bound in BUCKET_BOUNDS_S), "+Inf")
_NOT_KEPT = {"Cache-Control": "no-store"}
_KEY_ERRORS = frozenset({500, 503, 504})
_EXAMPLE_KEY = {"id": "laptop"}
MAX_AGE_S = 3_600


class Health(Struct, frozen=True, kw_only=True, rename="camel"):
    """The gateway is alive."""

    status: Literal["alive"] = "alive"
    schema_version: str = SCHEMA_VERSION


class Readiness(Struct, frozen=True, kw_only=True, rename="camel"):
    """Every actor that is needed lives: the number of replicas of each."""

    replicas: dict[str, int]
    status: Literal["ready"] = "ready"
    schema_version: str = SCHEMA_VERSION


def missing(replicas: Sequence[Replica]) -> tuple[str, ...]:
    """Return the names of what a browse needs and is not among the live replicas."""
    actors = {replica.actor for replica in replicas}
    lacking = tuple(name for name in NEEDED if name not in actors)
    return lacking if any(name.startswith(FETCHERS) for name in actors) else (*lacking, "fetcher")


async def _healthz(_app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(Health())


async def _readyz(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    live = await app.bus.replicas(READY_MS, enough=lambda replicas: not missing(replicas))
    if lacking := missing(live):
        message = f"Not ready: no live {', no live '.join(lacking)}."
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, message))
    return answer(Readiness(replicas=dict(Counter(replica.actor for replica in live))))


async def _metrics(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    replicas = await app.bus.replicas(LOOK_MS)
    return Response(render_metrics(replicas, await app.ledger.usages(app.bus)), media_type=METRICS_MEDIA)


def render_metrics(replicas: Sequence[Replica], usages: Mapping[str, Usage]) -> bytes:
    """Write the figures in the text format of Prometheus.

    Counters start again with each replica, those of what keys have used of models with each day (UTC).
    """
    registry = CollectorRegistry()
    registry.register(_Figures(replicas))
    registry.register(_ModelFigures(usages))
    return generate_latest(registry)


class _Figures:
    """A collector of what was read already."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self._replicas = replicas

    def collect(self) -> Iterator[Metric]:
        for name, text, figure in _OF_REPLICAS:
            gauge = GaugeMetricFamily(name, text, labels=_PROCESS)
            for replica in self._replicas:
                gauge.add_metric((replica.actor, replica.replica, replica.host), figure(replica))
            yield gauge
        yield self._filled(
            CounterMetricFamily("weft_calls", "Calls answered.", labels=_ENDPOINT), lambda one: one.calls
        )
        yield self._filled(
            CounterMetricFamily("weft_errors", "Answers that were errors.", labels=_ENDPOINT), lambda one: one.errors
        )
        yield self._filled(
            GaugeMetricFamily("weft_in_flight", "Calls at work.", labels=_ENDPOINT), lambda one: one.in_flight
        )
        yield self._filled(
            GaugeMetricFamily("weft_queued", "Calls that wait.", labels=_ENDPOINT), lambda one: one.queued
        )
        durations = HistogramMetricFamily("weft_call_duration_seconds", "Seconds a call took.", labels=_ENDPOINT)
        for labels, endpoint in self._endpoints():
            durations.add_metric(labels, _cumulative(endpoint.buckets), endpoint.duration_sum_s)
        yield durations
        for name, text, read in _OF_KEYS:
            family = CounterMetricFamily(name, text, labels=_KEY)
            for replica in self._replicas:
                for key, one in replica.accounts.items():
                    family.add_metric((replica.actor, replica.replica, key), read(one))
            yield family

    def _filled(
        self, family: CounterMetricFamily | GaugeMetricFamily, read: Callable[[EndpointStats], int]
    ) -> CounterMetricFamily | GaugeMetricFamily:
        for labels, endpoint in self._endpoints():
            family.add_metric(labels, read(endpoint))
        return family

    def _endpoints(self) -> Iterator[tuple[tuple[str, str, str], EndpointStats]]:
        for replica in self._replicas:
            for endpoint in replica.endpoints:
                yield (replica.actor, replica.replica, endpoint.subject), endpoint


class _ModelFigures:
    """A collector of what keys have used of models today."""

    def __init__(self, usages: Mapping[str, Usage]) -> None:
        self._usages = usages

    def collect(self) -> Iterator[Metric]:
        for name, text, read in _OF_MODELS:
            family = CounterMetricFamily(name, text, labels=("key",))
            for key, usage in self._usages.items():
                family.add_metric((key,), read(usage))
            yield family


def _cumulative(buckets: Iterable[int]) -> list[tuple[str, float]]:
    return list(zip(_BOUNDS, accumulate(buckets), strict=True))


async def _add_key(app: AppContext, request: RequestContext, arguments: AddKey) -> Response:
    return answer(await keys.add_key(app.bus, app.keys, request.caller, arguments), headers=_NOT_KEPT)


async def _list_keys(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(keys.list_keys(app.keys))


async def _revoke_key(app: AppContext, _request: RequestContext, arguments: NamedKey) -> Response:
    return answer(await keys.revoke_key(app.bus, app.keys, arguments))


def metadata_endpoints(settings: Settings) -> tuple[Endpoint, ...]:
    """Return the endpoints of the metadata: the same at the root and at the path of MCP, each for its own resource."""
    return tuple(
        Endpoint(
            method="GET",
            path=path,
            name=f"protectedResource{number}",
            summary="Tell where tokens for this Weft are to be had.",
            run=_fixed(_metadata_document(settings, resource)),
            open=True,
        )
        for number, (path, resource) in enumerate(zip(metadata_paths(settings), RESOURCES, strict=False))
    )


class ProtectedResource(Struct, frozen=True, kw_only=True):
    """The metadata (RFC 9728 §2)."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes_supported: tuple[str, ...] = tuple(scope.value for scope in Scope)
    bearer_methods_supported: tuple[str, ...] = ("header",)
    resource_name: str = "Weft"


def _metadata_document(settings: Settings, resource: str) -> ProtectedResource:
    return ProtectedResource(resource=base_url(settings) + resource, authorization_servers=(settings.oauth_issuer,))


def _fixed(document: ProtectedResource) -> Callable[[AppContext, RequestContext, Any], Awaitable[Response]]:
    async def tell(_app: Any, _request: RequestContext, _arguments: Any) -> Response:
        return answer(document, headers={"Cache-Control": f"max-age={MAX_AGE_S}"})

    return tell


HEALTH_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", "/healthz", "healthz", "Tell that the gateway is alive.", _healthz, Health, open=True),
    Endpoint(
        method="GET",
        path="/readyz",
        name="readyz",
        summary="Tell whether every actor that a browse needs is alive; 503 says which is not.",
        run=_readyz,
        answer=Readiness,
        errors=_LOOK_ERRORS,
        open=True,
    ),
    Endpoint(
        method="GET",
        path="/metrics",
        name="metrics",
        summary="Tell the figures of every replica to Prometheus.",
        run=_metrics,
        media=(METRICS_MEDIA,),
        errors=_LOOK_ERRORS,
        scope=Scope.OPERATE,
    ),
)
KEY_ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/keys",
        name="listKeys",
        summary="List the keys that were given out; none of them is shown.",
        run=_list_keys,
        answer=KeysAnswer,
        scope=Scope.OPERATE,
        errors=_KEY_ERRORS,
    ),
    Endpoint(
        method="POST",
        path="/api/keys",
        name="addKey",
        summary="Make a key, with scopes, limits and a life of your own at most; it is shown this once.",
        run=_add_key,
        body=AddKey,
        answer=NewKey,
        scope=Scope.OPERATE,
        errors=_KEY_ERRORS | {409},
        example={"name": "laptop", "scopes": ["browse"]},
    ),
    Endpoint(
        method="DELETE",
        path="/api/keys/{id}",
        name="revokeKey",
        summary="Take a key back, by its id or its name; within a second no gateway lets it in.",
        run=_revoke_key,
        params=NamedKey,
        answer=RevokedKey,
        scope=Scope.OPERATE,
        errors=_KEY_ERRORS | {404},
        example=_EXAMPLE_KEY,
    ),
)
