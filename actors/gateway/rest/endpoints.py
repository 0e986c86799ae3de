"""The REST endpoints of Weft: one table that routes, decodes and documents them."""

from __future__ import annotations

from functools import cache
from typing import Any

from starlette.responses import Response

from actors.gateway.app_context import AppContext
from actors.gateway.http.answers import answer
from actors.gateway.request import RequestContext
from actors.gateway.rest import browse, compatible, docs, domains, health, keys, packets, runs, sessions
from actors.gateway.rest.contract import Endpoint
from actors.gateway.rest.openapi import openapi


@cache
def document(version: str) -> dict[str, Any]:
    """Describe the endpoints of this version."""
    return openapi(ENDPOINTS, version)


@cache
def _page(version: str) -> str:
    return docs.page(document(version))


async def _openapi(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(document(app.version))


async def _docs(app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return Response(_page(app.version), headers=docs.HEADERS, media_type=docs.MEDIA)


ENDPOINTS: tuple[Endpoint, ...] = (
    *browse.ENDPOINTS,
    *domains.ENDPOINTS,
    *sessions.ENDPOINTS,
    *runs.ENDPOINTS,
    *packets.ENDPOINTS,
    *compatible.ENDPOINTS,
    *keys.ENDPOINTS,
    *health.ENDPOINTS,
    Endpoint("GET", "/docs", "docs", "Show these endpoints to people.", _docs, media=(docs.MEDIA,), open=True),
    Endpoint("GET", "/openapi.json", "openapi", "Describe these endpoints.", _openapi, open=True),
)

PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS)
OPEN_PATHS = frozenset(endpoint.path for endpoint in ENDPOINTS if endpoint.open)
PROBES = OPEN_PATHS | {"/metrics"}
