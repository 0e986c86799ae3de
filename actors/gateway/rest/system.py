"""The endpoints that say who asks, and what every replica does now, as figures for a program that shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType
from starlette.responses import Response

from actors.gateway.access.caller import Scope, Usage, summed
from actors.gateway.app_context import AppContext
from actors.gateway.http import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.operation import LOOK_MS, missing
from actors.gateway.rest.routing import Endpoint
from actors.gateway.shown_settings import ShownSetting
from bus.clock import now_ms
from bus.stats import EndpointStats, Replica
from protocol.access import KeyLimits, caller_key
from protocol.browse import SCHEMA_VERSION
from protocol.faults import KINDS, Code

_NOT_KEPT = {"Cache-Control": "no-store"}
_CODES: Mapping[str, Code] = {code.value: code for code in Code}


class CallerInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """Who asks: `name` is that of the key, `caller` by whom everything is counted and kept."""

    name: str
    caller: str
    scopes: tuple[Scope, ...]
    limits: KeyLimits
    version: str
    schema_version: str = SCHEMA_VERSION


class SubjectFigures(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one replica has done on one subject since it started; `mean_ms` is 0 before the first call."""

    subject: str
    calls: int
    errors: int
    in_flight: int
    queued: int
    mean_ms: float
    last_error: str = ""


class ReplicaFigures(Struct, frozen=True, kw_only=True, rename="camel"):
    """One live replica: `started` in ms since the epoch; `p50_ms` and `p99_ms` look back on its last calls.

    `restarts` is how often it was started again in its place, `memory_bytes` what its process has in memory, with what
    it shares with others (0: its system does not say).
    """

    actor: str
    replica: str
    host: str
    pid: int
    version: str
    started: int
    uptime_ms: int
    in_flight: int
    queued: int
    served: int
    errors: int
    slow: int
    p50_ms: float
    p99_ms: float
    subjects: tuple[SubjectFigures, ...]
    restarts: int = 0
    memory_bytes: int = 0


class SubjectFailure(Struct, frozen=True, kw_only=True, rename="camel"):
    """A subject at which calls have failed: its last error, what that means, and the first thing to try."""

    actor: str
    replica: str
    subject: str
    errors: int
    calls: int
    code: str
    meaning: str | UnsetType = UNSET
    action: str | UnsetType = UNSET


class SystemFigures(Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole system at the time `at` (ms since the epoch): `missing` are the actors that a browse lacks.

    `failing` begins with what fails most often; `today` is what all keys together have used (UTC).
    """

    at: int
    version: str
    status: Literal["ready", "not_ready"]
    missing: tuple[str, ...]
    replicas: tuple[ReplicaFigures, ...]
    failing: tuple[SubjectFailure, ...]
    today: Usage | None
    schema_version: str = SCHEMA_VERSION


class SettingList(Struct, frozen=True, kw_only=True, rename="camel"):
    """Every setting of the host of this gateway."""

    settings: tuple[ShownSetting, ...]
    schema_version: str = SCHEMA_VERSION


async def _me(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    caller = request.caller
    key = caller_key(caller.name)
    names = (record.name for record in app.keys.records() if key and record.id == key)
    info = CallerInfo(
        name=next(names, caller.name),
        caller=caller.name,
        scopes=tuple(scope for scope in Scope if scope in caller.scopes),
        limits=caller.limits,
        version=app.version,
    )
    return answer(info, headers=_NOT_KEPT)


async def _system(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    replicas = await app.bus.replicas(LOOK_MS)
    usages = await app.ledger.usages(app.bus)
    return answer(figures(replicas, usages.values(), now_ms(), app.version), headers=_NOT_KEPT)


async def _settings(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(SettingList(settings=app.settings), headers=_NOT_KEPT)


def figures(replicas: tuple[Replica, ...], usages: Iterable[Usage], now: int, version: str) -> SystemFigures:
    """Return the figures of the replicas that have answered at the time `now`."""
    lacking = missing(replicas)
    used = tuple(usages)
    failing = sorted(_failures(replicas), key=lambda one: (-one.errors, one.actor, one.subject))
    return SystemFigures(
        at=now,
        version=version,
        status="not_ready" if lacking else "ready",
        missing=lacking,
        replicas=tuple(_replica(one, now) for one in replicas),
        failing=tuple(failing),
        today=summed(used[0].day, used) if used else None,
    )


def _replica(one: Replica, now: int) -> ReplicaFigures:
    return ReplicaFigures(
        actor=one.actor,
        replica=one.replica,
        host=one.host,
        pid=one.pid,
        version=one.version,
        started=one.started,
        uptime_ms=max(now - one.started, 0),
        in_flight=one.in_flight,
        queued=one.queued,
        served=one.served,
        errors=one.errors,
        slow=one.slow,
        p50_ms=one.p50_ms,
        p99_ms=one.p99_ms,
        subjects=tuple(_subject(endpoint) for endpoint in one.endpoints),
        restarts=one.restarts,
        memory_bytes=one.memory_bytes,
    )


def _subject(one: EndpointStats) -> SubjectFigures:
    return SubjectFigures(
        subject=one.subject,
        calls=one.calls,
        errors=one.errors,
        in_flight=one.in_flight,
        queued=one.queued,
        mean_ms=round(one.duration_sum_s / one.calls * 1_000, 3) if one.calls else 0.0,
        last_error=one.last_error,
    )


def _failures(replicas: Iterable[Replica]) -> Iterator[SubjectFailure]:
    for replica in replicas:
        for one in replica.endpoints:
            if not one.errors:
                continue
            code = _CODES.get(one.last_error)
            kind = None if code is None else KINDS[code]
            yield SubjectFailure(
                actor=replica.actor,
                replica=replica.replica,
                subject=one.subject,
                errors=one.errors,
                calls=one.calls,
                code=one.last_error,
                meaning=UNSET if kind is None else kind.meaning,
                action=UNSET if kind is None or not kind.actions else kind.actions[0].description,
            )


_LOOK: dict[str, Any] = {"method": "GET", "errors": frozenset({500, 503, 504})}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/api/me",
        name="me",
        summary="Tell whose key this is: its name, what it is good for, and its limits.",
        about="Any key is told of itself, whatever its scopes.",
        run=_me,
        answer=CallerInfo,
        own_scopes=True,
        **_LOOK,
    ),
    Endpoint(
        path="/api/system",
        name="system",
        summary="Tell what every replica does now, what fails, and what was used today.",
        about="The figures of /metrics and of `weft status` as JSON. They count from the start of each replica: ask "
        "again after some seconds, and the difference is what happened since.",
        run=_system,
        answer=SystemFigures,
        scope=Scope.OPERATE,
        **_LOOK,
    ),
    Endpoint(
        path="/api/settings",
        name="listSettings",
        summary="List every setting: its value, where that comes from, and what it does; no secret is told.",
        about="Those that `weft up` was started with at the host of this gateway, as `weft doctor` lists them.",
        run=_settings,
        answer=SettingList,
        scope=Scope.OPERATE,
        **_LOOK,
    ),
)
