"""The endpoints for clients that expect addresses under /v1, and the envelope `{success, data}` around every answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct, structs
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.gateway.access.caller import Usage
from actors.gateway.app_context import AppContext
from actors.gateway.errors import to_error, to_failure
from actors.gateway.http import JSON, answer
from actors.gateway.interact_errors import to_interact_failure
from actors.gateway.pages import DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS, BatchRequest, BatchResult
from actors.gateway.request import RequestContext
from actors.gateway.rest import browse
from actors.gateway.rest.browse import BrowseRequest, DomainRequest
from actors.gateway.rest.operation import Health
from actors.gateway.rest.routing import Endpoint, Tag, in_envelope, of_interact
from actors.gateway.rest.streaming import EventForm, EventStream
from protocol.browse import SCHEMA_VERSION, BrowseOptions, BrowseResult, StructuredError
from protocol.domains import DomainKnowledge, Preview
from protocol.pages import Url
from protocol.tiers import TIERS
from protocol.tools.web import DEFAULT_AT_ONCE, MAX_AT_ONCE

A = TypeVar("A", bound=Struct)
MAX_URLS = 10
Work = Callable[[AppContext, RequestContext, A], Awaitable[Struct]]
T = TypeVar("T")
_FIRST_ERROR = 400

_MAX_ERROR_BYTES = 1_000_000
"""No error of ours is as large."""

_errors = msgspec.json.Decoder(StructuredError)


class FetchRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A page to read without running its scripts."""

    url: Url
    options: BrowseOptions = BrowseOptions()


class SmallBatchRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A few pages to read, how each is read, how many at once, and how long all of it may take."""

    urls: Annotated[tuple[Url, ...], Meta(min_length=1, max_length=MAX_URLS, description="Full addresses.")]
    options: Annotated[BrowseOptions, Meta(description="For each page, as /v1/browse takes them.")] = BrowseOptions()
    concurrency: Annotated[int, Meta(ge=1, le=MAX_AT_ONCE, description="Pages at once.")] = DEFAULT_AT_ONCE
    timeout_ms: Annotated[int, Meta(ge=1, le=MAX_TIMEOUT_MS, description="Milliseconds for the whole batch.")] = (
        DEFAULT_TIMEOUT_MS
    )


_FORM = EventForm(result=lambda data: Success(data=data), error=lambda error: to_failure(to_error(error)))


def _answered(work: Work[A]) -> Callable[[AppContext, RequestContext, A], Awaitable[Response]]:
    async def run(app: AppContext, request: RequestContext, arguments: A) -> Response:
        return answer(Success(data=await work(app, request, arguments)), headers=browse.VARY)

    return run


def _events(work: Work[A]) -> Callable[[AppContext, RequestContext, A], Awaitable[Response]]:
    async def run(app: AppContext, request: RequestContext, arguments: A) -> Response:
        return EventStream(app, request, lambda watched: work(app, watched, arguments), _FORM)

    return run


async def _fetch(app: AppContext, request: RequestContext, arguments: FetchRequest) -> BrowseResult:
    cheap = TIERS[0]
    options = structs.replace(arguments.options, force_tier=arguments.options.force_tier or cheap, max_cost_tier=cheap)
    return await browse.read(app, request, BrowseRequest(url=arguments.url, options=options))


async def _batch(app: AppContext, request: RequestContext, arguments: SmallBatchRequest) -> BatchResult:
    return await browse.read_many(app, request, BatchRequest(**structs.asdict(arguments)))


async def _usage(app: AppContext, request: RequestContext, _arguments: Any) -> Usage:
    return await app.ledger.usage(app.bus, request.caller.name)


async def _health(_app: AppContext, _request: RequestContext, _arguments: Any) -> Health:
    return Health()


class Success(Struct, Generic[T], frozen=True, kw_only=True, rename="camel"):
    """An answer in its envelope."""

    success: Literal[True] = True
    data: T
    schema_version: str = SCHEMA_VERSION


class Enveloped:
    """ASGI: puts every error at the paths of an envelope into it, whoever gave it: the gates, too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "http":
            if in_envelope(scope["path"]):
                send = _Rewriting(send, lambda error, _status: to_failure(error)).tell
            elif of_interact(scope["path"]):
                send = _Rewriting(send, to_interact_failure).tell
        await self._app(scope, receive, send)


class _Rewriting:
    """Holds an error back until it is whole, and sends it in the envelope."""

    def __init__(self, send: Send, written: Callable[[StructuredError, int], Struct]) -> None:
        self._send = send
        self._written = written
        self._start: Message | None = None
        self._body = bytearray()

    async def tell(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_error(message):
            self._start = message
            return
        if self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False) or len(self._body) > _MAX_ERROR_BYTES:
            start, self._start = self._start, None
            body = self._rewritten(bytes(self._body), start["status"])
            MutableHeaders(scope=start)["Content-Length"] = str(len(body))
            await self._send(start)
            await self._send({**message, "body": body})

    def _rewritten(self, body: bytes, status: int) -> bytes:
        try:
            return msgspec.json.encode(self._written(_errors.decode(body), status))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return body


def _is_error(start: Message) -> bool:
    essence = Headers(scope=start).get("content-type", "").partition(";")[0]
    return start["status"] >= _FIRST_ERROR and essence == JSON


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/v1/browse",
        name="browseV1",
        summary="Read a web page, as /api/browse does.",
        run=_answered(browse.read),
        events=_events(browse.read),
        body=BrowseRequest,
        answer=Success[BrowseResult],
        errors=browse.PAGE_ERRORS,
        tag=Tag.COMPATIBLE,
        example=browse.PAGE_EXAMPLE,
    ),
    Endpoint(
        method="POST",
        path="/v1/fetch",
        name="fetchV1",
        summary="Read a web page in the cheapest tier alone.",
        run=_answered(_fetch),
        events=_events(_fetch),
        body=FetchRequest,
        answer=Success[BrowseResult],
        errors=browse.PAGE_ERRORS,
        tag=Tag.COMPATIBLE,
        example={"url": "https://example.com/"},
    ),
    Endpoint(
        method="POST",
        path="/v1/batch",
        name="batchV1",
        summary=f"Read up to {MAX_URLS} pages, as /api/browse/batch does.",
        run=_answered(_batch),
        events=_events(_batch),
        body=SmallBatchRequest,
        answer=Success[BatchResult],
        errors=browse.LOOK_ERRORS,
        tag=Tag.COMPATIBLE,
        example=browse.BATCH_EXAMPLE,
    ),
    Endpoint(
        method="POST",
        path="/v1/browse/preview",
        name="previewV1",
        summary="Tell what reading a page would take and cost, as /api/browse/preview does.",
        run=_answered(browse.look_ahead),
        body=BrowseRequest,
        answer=Success[Preview],
        errors=browse.LOOK_ERRORS,
        tag=Tag.COMPATIBLE,
        example=browse.PAGE_EXAMPLE,
    ),
    Endpoint(
        method="GET",
        path="/v1/domains/{domain}/intelligence",
        name="domainV1",
        summary="Tell what is known of a domain, as /api/domains does.",
        run=_answered(browse.know),
        params=DomainRequest,
        answer=Success[DomainKnowledge],
        errors=browse.DOMAIN_ERRORS,
        tag=Tag.COMPATIBLE,
        example={"domain": "example.com"},
    ),
    Endpoint(
        method="GET",
        path="/v1/usage",
        name="usageV1",
        summary="Tell what the key that asks has used today (UTC): requests, pages by tier and cost units.",
        run=_answered(_usage),
        answer=Success[Usage],
        errors=browse.DOMAIN_ERRORS,
        tag=Tag.COMPATIBLE,
    ),
    Endpoint(
        method="GET",
        path="/health",
        name="healthV1",
        summary="Tell that the gateway is alive.",
        run=_answered(_health),
        answer=Success[Health],
        open=True,
        tag=Tag.COMPATIBLE,
    ),
)
