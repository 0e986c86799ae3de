"""The endpoints by which others look after a Weft: liveness, readiness, figures."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from msgspec import Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http.answers import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest import metrics
from actors.gateway.rest.contract import Endpoint
from bus.stats import Replica
from protocol.browse import SCHEMA_VERSION
from protocol.faults import Code, FaultError, fault

NEEDED = ("navigator", "verifier")
"""The actors without which no page is read, besides a fetcher."""

FETCHERS = "fetchers."

LOOK_MS = 200
"""How long replicas get to tell that they live."""

READY_MS = 800
"""The same where one that is busy must not be taken for gone; probes of orchestrators wait a second."""


class Health(Struct, frozen=True, kw_only=True, rename="camel"):
    """The gateway is alive."""

    status: Literal["alive"] = "alive"
    schema_version: str = SCHEMA_VERSION


class Readiness(Struct, frozen=True, kw_only=True, rename="camel"):
    """Every actor that is needed lives: the number of replicas of each."""

    replicas: dict[str, int]
    status: Literal["ready"] = "ready"
    schema_version: str = SCHEMA_VERSION


def missing(replicas: list[Replica] | tuple[Replica, ...]) -> tuple[str, ...]:
    """Name what a browse needs and is not among the live replicas."""
    actors = {replica.actor for replica in replicas}
    lacking = tuple(name for name in NEEDED if name not in actors)
    return lacking if any(name.startswith(FETCHERS) for name in actors) else (*lacking, "fetcher")


async def _healthz(_app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(Health())


async def _readyz(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    found = await app.bus.replicas(READY_MS, enough=lambda replicas: not missing(replicas))
    if lacking := missing(found):
        message = f"Not ready: no live {', no live '.join(lacking)}."
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE, message))
    return answer(Readiness(replicas=dict(Counter(replica.actor for replica in found))))


async def _metrics(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return Response(metrics.render(await app.bus.replicas(LOOK_MS)), media_type=metrics.MEDIA_TYPE)


_LOOK_ERRORS = frozenset({503})
ENDPOINTS: tuple[Endpoint, ...] = (
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
        media=(metrics.MEDIA_TYPE,),
        errors=_LOOK_ERRORS,
        scope=Scope.OPERATE,
    ),
)
