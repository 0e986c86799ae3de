"""Answers of the gateway in which every text is hostile, made of the types of all endpoints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from playwright.sync_api import Route

from actors.gateway.http import EVENTS
from actors.gateway.rest.endpoints import ENDPOINTS
from actors.gateway.rest.routing import Endpoint
from actors.gateway.tapping import TappedPackets
from actors.runner.crawl_types import CrawlResult
from protocol.browse import BrowseResult, StructuredError
from protocol.policy import Approval
from protocol.runs.responses import RunEvent

ROWS: Final = 40
"""Of each list: so many different texts are shown in each of its columns."""

_FEW: Final = 2
_DEEP: Final = 9
_STREAMS: Final[Mapping[str, tuple[str, Any]]] = {
    "/api/browse": ("result", BrowseResult),
    "/api/bus/tap": ("packets", TappedPackets),
    "/api/approvals/events": ("pending", Approval),
    "/api/runs/{runId}/events": ("step", RunEvent),
}
ADDRESSES: Final = (
    *("#/", "#/page?url=https://a.example/", "#/visits", "#/visits/vis_a?against=vis_b", "#/runs", "#/runs/run_a"),
    *("#/approvals?all=1", "#/approvals/app_a", "#/conversations", "#/conversations/con_a", "#/collections"),
    *("#/collections/col_a", "#/collections/src_a?version=2&against=1", "#/crawls", "#/crawls/run_a", "#/browsers"),
    *("#/browsers/sess_a", "#/logins", "#/patterns", "#/patterns/pat_a", "#/actors", "#/recordings", "#/recordings/a"),
    *("#/bus", "#/bus/tap", "#/routes?tool=web_answer", "#/settings", "#/keys"),
)
"""Every page, and of each of its things one."""

SHOWN_BY: Final[Mapping[str, tuple[str, str]]] = {
    "#/bus": ("Look at it", ".letter pre"),
    "#/keys": ("Revoke", ".danger"),
    "#/patterns/pat_a": ("Verify", "[role=status] .badge"),
    "#/routes?tool=web_answer": ("Test", "td [role=status]"),
    "#/page?url=https://a.example/": ("Have a browser show it", "canvas"),
    "#/browsers/sess_a": ("Take it in hand", ".hand, [role=group]"),
}
"""What is shown when a button is pressed: its words, and what comes of it."""


_PICTURE: Final = "image/jpeg"


@dataclass
class HostileGateway:
    """Answers in the place of a gateway; while it is `failing`, each answer is an error."""

    vectors: Sequence[str]
    failing: bool = False
    _chance: Random = field(default_factory=lambda: Random(7))

    def answer(self, route: Route) -> None:
        """Answer one request; what is no endpoint goes on to the gateway."""
        request = route.request
        endpoint = _endpoint(request.method, urlsplit(request.url).path)
        if endpoint is None:
            route.continue_()
        elif "text/event-stream" in request.headers.get("accept", ""):
            route.fulfill(body=self._events(endpoint), content_type="text/event-stream")
        elif self.failing and endpoint.path != "/api/me":
            route.fulfill(status=400, json=self.made(endpoint.failure or StructuredError))
        elif _PICTURE in endpoint.media:
            route.fulfill(body=self.vectors[0], content_type=_PICTURE)
        else:
            route.fulfill(json=self._whole(endpoint))

    def _whole(self, endpoint: Endpoint) -> Any:
        answer = self.made(endpoint.answer)
        match endpoint.path:
            case "/api/visits/{id}":
                answer["visit"]["code"] = None  # it was a page
            case "/api/runs/{runId}":
                answer["result"] = self.made(CrawlResult)
            case _:
                pass
        return answer

    def _events(self, endpoint: Endpoint) -> str:
        if endpoint.path not in _STREAMS:
            return ": follows\n\n"
        name, kind = _STREAMS[endpoint.path]
        name, kind = ("error", endpoint.failure or StructuredError) if self.failing else (name, kind)
        return f"event: {name}\ndata: {json.dumps(self.made(kind))}\n\n"

    def made(self, kind: Any) -> Any:
        """Return JSON of a type in which every text is the next of the vectors."""
        schema = msgspec.json.schema(kind)
        return self._value(schema, schema.get("$defs", {}), 0)

    @cached_property
    def _texts(self) -> cycle[str]:
        return cycle(self.vectors)

    def _value(self, shape: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
        if "$ref" in shape:
            return self._value(defs[shape["$ref"].rpartition("/")[2]], defs, depth)
        if choices := shape.get("anyOf"):
            some = [one for one in choices if one != {"type": "null"}]
            return None if depth > _DEEP else self._value(self._chance.choice(some), defs, depth + 1)
        if "enum" in shape:
            return self._chance.choice(shape["enum"])
        kind = shape.get("type", "")
        made: Any = {"object": self._object, "array": self._array}.get(kind, self._plain)(shape, defs, depth)
        return made

    def _plain(self, shape: dict[str, Any], _defs: dict[str, Any], _depth: int) -> Any:
        match shape.get("type"):
            case "string":
                return shape.get("const") or ("" if shape.get("contentEncoding") else next(self._texts))
            case "integer" | "number" as number:
                return max(shape.get("minimum", 0), 1 if number == "integer" else 0.5)
            case "boolean" | "null" as word:
                return True if word == "boolean" else None
            case _:
                return {next(self._texts): next(self._texts)}

    def _object(self, shape: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
        fields = {name: self._value(one, defs, depth + 1) for name, one in shape.get("properties", {}).items()}
        others: Any = shape.get("additionalProperties")
        if others or not fields:
            fields |= {next(self._texts): self._value(others or {}, defs, depth + 1) for _ in range(_FEW)}
        return fields

    def _array(self, shape: dict[str, Any], defs: dict[str, Any], depth: int) -> Any:
        if "prefixItems" in shape:
            return [self._value(one, defs, depth + 1) for one in shape["prefixItems"]]
        items: dict[str, Any] = shape.get("items") or {}
        known: Any = defs[items["$ref"].rpartition("/")[2]] if "$ref" in items else items
        if "enum" in known:
            return known["enum"]
        rows = 0 if depth > _DEEP else _FEW if depth > _FEW else ROWS
        return [self._value(items, defs, depth + 1) for _ in range(rows)]


def _endpoint(method: str, path: str) -> Endpoint | None:
    """Return what answers at a path: one of just that path before one with a slot."""
    fitting = [
        one for one in ENDPOINTS if one.method == method and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one.path), path)
    ]
    named = [one for one in fitting if one.answer is not None or one.media == (EVENTS,) or _PICTURE in one.media]
    return min(named, key=lambda one: one.path.count("{"), default=None)
