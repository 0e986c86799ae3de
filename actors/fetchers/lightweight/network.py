"""Answers the requests of a page by the web client of the tier, until a limit ends the page."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import msgspec
from anyio import CancelScope, CapacityLimiter, Event
from anyio.abc import TaskGroup

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.cdp import CdpCalls, CdpError, ClosedError
from actors.fetchers.lightweight.cookie_sync import PageCookies, SyncedCookies
from actors.fetchers.lightweight.origins import NOWHERE, Frames
from actors.fetchers.lightweight.page_requests import (
    HTML,
    JSON_MODULE,
    EngineAnswer,
    FollowedResponse,
    OutgoingRequest,
    PausedRequest,
    RequestRefusedError,
    Web,
    follow,
    headers_of,
    is_json,
    onward,
    parse_paused,
    shows,
    without_inner_documents,
)
from actors.fetchers.lightweight.rendering import NAVIGATION_LOOP, Counters, RequestTerms
from actors.fetchers.sampling import ExchangeLog
from actors.web.cookies import Jar
from actors.web.exchange import WebResponse
from protocol.browse import Freshness
from protocol.faults import Code, FaultError

MAX_REQUESTS: Final = 300
MAX_DOCUMENTS: Final = 8
"""How many documents a page's own window may load."""

MAX_FRAMES: Final = 16
"""How many documents of frames are fetched; frames beyond stay empty."""

MAX_BYTES: Final = 8_000_000
"""What one page may receive, and what it may send."""

CONFINED: Final = "sandboxed_frame"
"""The limit of a page with a login that confines a frame: the engine would run it as the page itself."""

AT_ONCE: Final = 8
_TIMEOUT_MS: Final = 10_000
_OTHERS_TIMEOUT_MS: Final = 3_000
"""The timeout of scripts and styles of other sites: a slow counter holds up no page."""

_EMPTY_ANSWERS: Final = frozenset({"Image", "Font", "Media"})
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500


@dataclass(kw_only=True)
class Network:
    """The network of one page, whose first document is there already; `session` is the engine's."""

    engine: CdpCalls
    session: str
    tasks: TaskGroup
    web: Web
    frames: Frames
    jar: Jar
    cookies: SyncedCookies
    first: WebResponse
    terms: RequestTerms
    alarm: str = ""
    """The address that is requested before a frame runs that should be confined, and cannot be."""

    samples: ExchangeLog | None = None
    """Where what scripts were answered in JSON is gathered."""

    counters: Counters = field(default_factory=Counters, init=False)
    touched_at: float = field(default_factory=anyio.current_time, init=False)
    """When a request began or ended last, in seconds of the loop's clock."""

    _open: dict[str, float] = field(default_factory=dict[str, float], init=False)
    _held: list[str] = field(default_factory=list[str], init=False)
    _scopes: dict[str, CancelScope] = field(default_factory=dict[str, CancelScope], init=False)
    _changed: Event = field(default_factory=Event, init=False)
    _over_with: bool = field(default=False, init=False)
    _ended: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Keep the first document ready."""
        self.status = self.first.status
        self._own = origins.site(self.first.url)
        self._cookies = PageCookies(self.frames, self.jar, self.cookies, self._own, self.counters)
        self._kept: dict[str, WebResponse] = {self.first.url.partition("#")[0]: self.first}
        self._slots = CapacityLimiter(AT_ONCE)

    @property
    def in_flight(self) -> int:
        """The number of requests without an answer."""
        return len(self._open)

    def newest_ms(self, now: float) -> float:
        """Return how long the newest request without an answer has been in flight."""
        return min((now - since for since in self._open.values()), default=0.0) * 1000

    async def changed(self) -> None:
        """Wait until a request begins or ends."""
        await self._changed.wait()

    def touch(self) -> None:
        """Wake those who wait for `changed`."""
        self.touched_at = anyio.current_time()
        self._changed.set()
        self._changed = Event()

    def paused(self, params: dict[str, Any], _: str) -> None:
        """Handle Fetch.requestPaused."""
        if self._ended:
            return
        try:
            request = parse_paused(params)
        except msgspec.ValidationError:
            return
        self.counters.requests += 1
        if self.alarm and request.url.startswith(self.alarm):
            self._alarmed(request)
            return
        if self._over(request):
            self.tasks.start_soon(self._fail, request.request_id)
            return
        self._open[request.request_id] = anyio.current_time()
        self.touch()
        self.tasks.start_soon(self._serve, request)

    def end(self) -> None:
        """Ignore further requests."""
        self._ended = True

    async def give_up(self) -> None:
        """Fail all requests in flight, so that the page can be read; later ones fail at once."""
        self._over_with = True
        names = (*self._open, *self._held)
        for scope in tuple(self._scopes.values()):
            scope.cancel()
        for name in names:
            await self._fail(name)

    def _alarmed(self, request: PausedRequest) -> None:
        """Handle the alarm: the frame that raises it waits for an answer, and gets none before all is over."""
        if request.url == self.alarm:
            self.counters.limit = CONFINED
            self._held.append(request.request_id)
            self.touch()
        else:
            self.counters.left_out += 1
            self.tasks.start_soon(self._fail, request.request_id)

    def _over(self, request: PausedRequest) -> bool:
        counters = self.counters
        if self._navigates(request) and request.url not in self._kept:
            counters.documents += 1
        if not counters.limit:
            if counters.requests > MAX_REQUESTS:
                counters.limit = "too_many_requests"
            elif counters.documents > MAX_DOCUMENTS:
                counters.limit = NAVIGATION_LOOP
            if counters.limit:
                self.touch()
        return bool(counters.limit) or self._over_with

    async def _serve(self, request: PausedRequest) -> None:
        name = request.request_id
        with CancelScope() as self._scopes[name]:
            try:
                async with self._slots:
                    answer = await self._answer(request)
                if answer is not None:
                    await self._fulfill(name, answer)
            except (RequestRefusedError, FaultError) as error:
                await self._refuse(request, error)
            except (ClosedError, CdpError):
                pass
            finally:
                self._open.pop(name, None)
                del self._scopes[name]
                self.touch()

    async def _refuse(self, request: PausedRequest, error: RequestRefusedError | FaultError) -> None:
        counters = self.counters
        if isinstance(error, RequestRefusedError):
            counters.refused += 1
        elif request.resource_type == "Script":
            counters.failed_scripts += 1
        elif request.resource_type == "XHR":
            counters.failed += 1
            if self.samples is not None:
                self.samples.note_status(request.request.method, request.url, 0)
        if isinstance(error, FaultError) and error.fault.code is Code.CONTENT_TOO_LARGE:
            counters.limit = counters.limit or "too_large"
        if request.resource_type != "Document":
            await self._fail(request.request_id)
        elif not self._navigates(request):
            # The engine would write into the frame that navigation has failed.
            self.frames.handed(request.network_id, NOWHERE)
            with suppress(ClosedError):
                await self._fulfill(request.request_id, EngineAnswer(200, HTML))

    def _navigates(self, request: PausedRequest) -> bool:
        """Return whether a request is for a document of the main frame: without an answer the page stays as it is."""
        return request.resource_type == "Document" and request.frame_id == self.frames.main

    async def _fail(self, name: str) -> None:
        params = {"requestId": name, "errorReason": "Failed"}
        with suppress(ClosedError):
            await self.engine.post("Fetch.failRequest", params, session=self.session)

    async def _fulfill(self, name: str, answer: EngineAnswer) -> None:
        params = {
            "requestId": name,
            "responseCode": answer.status,
            "responseHeaders": [{"name": key, "value": value} for key, value in answer.headers],
            "body": base64.b64encode(answer.body).decode("ascii"),
        }
        await self.engine.post("Fetch.fulfillRequest", params, session=self.session)

    async def _answer(self, request: PausedRequest) -> EngineAnswer | None:
        kind = request.resource_type
        if kind == "Document":
            return await self._document(request)
        if kind in _EMPTY_ANSWERS:
            return EngineAnswer(200)
        if kind not in ("Script", "XHR", "Stylesheet") or request.streams:
            raise RequestRefusedError
        followed = await self._fetch(request)
        if kind == "Script":
            return self._script(request, followed)
        if kind == "XHR":
            self._count_api(followed)
            self._sample(request, followed)
        return EngineAnswer(followed.response.status, headers_of(followed), followed.response.body)

    async def _document(self, request: PausedRequest) -> EngineAnswer | None:
        if not self.frames.known(request.frame_id) and request.frame_id != self.frames.main:
            raise RequestRefusedError  # a window that nobody looks at
        kept = self._kept.pop(request.url, None) if request.request.method == "GET" else None
        if kept is None:
            self._count_frame(request)
            followed = await self._fetch(request)
            kept = followed.response
            if (last := followed.url.partition("#")[0]) != request.url:
                self._kept[last] = kept
                self.frames.handed(request.network_id, request.url)
                return EngineAnswer(200, HTML, onward(followed.url))
        if not shows(kept):
            if self._navigates(request):
                return None
            kept = WebResponse(kept.status, kept.url, kept.headers, b"", "text/html", kept.from_cache, 0, ())
        self.frames.handed(request.network_id, request.request.url)
        if self._navigates(request):
            self.status = kept.status
        headers = origins.shown(kept.headers.multi_items(), foreign=False)
        return EngineAnswer(kept.status, headers, self._confined(kept.body) if self.alarm else kept.body)

    def _confined(self, body: bytes) -> bytes:
        """Remove what a page with a login writes into frames: the engine would run it as the page."""
        body, count = without_inner_documents(body)
        self.counters.left_out += count
        return body

    def _count_frame(self, request: PausedRequest) -> None:
        self.counters.frames += not self._navigates(request)
        if self.counters.frames > MAX_FRAMES:
            raise RequestRefusedError

    def _script(self, request: PausedRequest, followed: FollowedResponse) -> EngineAnswer:
        response = followed.response
        if response.status >= _FIRST_ERROR:
            self.counters.failed_scripts += 1
        else:
            self.counters.scripts += 1
        if not is_json(response):
            return EngineAnswer(response.status, headers_of(followed), response.body)
        own = origins.same_origin(origins.origin(followed.url), self.frames.origin(request.frame_id))
        if not own and not origins.readable(response.headers, "*"):
            raise RequestRefusedError
        return EngineAnswer(response.status, (("content-type", "text/javascript"),), JSON_MODULE + response.body)

    def _count_api(self, followed: FollowedResponse) -> None:
        status = followed.response.status
        self.counters.api_4xx += _FIRST_ERROR <= status < _FIRST_SERVER_ERROR
        self.counters.api_5xx += status >= _FIRST_SERVER_ERROR
        self.counters.apis += followed.exchanges[-1:]

    def _sample(self, request: PausedRequest, followed: FollowedResponse) -> None:
        response, samples, method = followed.response, self.samples, request.request.method
        if samples is None:
            return
        samples.note_status(method, request.url, response.status)
        if not samples.wants(method, response.status, response.content_type, len(response.body)):
            return
        last = followed.exchanges[-1]
        cookie = {"cookie": ""} if "cookie" in last.request_headers else {}
        samples.begin()
        samples.add(
            request.url,
            method,
            dict(origins.sendable(request.headers)) | cookie,
            sent=request.body or b"",
            status=response.status,
            content_type=response.content_type,
            body=response.body,
            took_ms=last.duration or 0,
        )

    async def _fetch(self, request: PausedRequest) -> FollowedResponse:
        body = request.body
        if body is None:
            self.counters.oversized += 1
            raise RequestRefusedError
        if not origins.known_method(request.request.method):
            raise RequestRefusedError
        self.counters.sent += len(body)
        cookies = self._cookies.of_request(request)
        await self._cookies.catch_up(request, self.engine)
        followed = await follow(self.web, self._outgoing(request, body), cookies, self._timeout_ms(request))
        if self.terms.record:
            self.counters.exchanges += followed.exchanges
        self.counters.retries += followed.response.retry_count
        self._add_received(len(followed.response.body))
        if cookies.own:
            await self.cookies.hand_over(self.engine, self.session)
        return followed

    def _add_received(self, size: int) -> None:
        self.counters.received += size
        if max(self.counters.received, self.counters.sent) > MAX_BYTES:
            self.counters.limit = self.counters.limit or "too_large"
            raise RequestRefusedError

    def _outgoing(self, request: PausedRequest, body: bytes) -> OutgoingRequest:
        kind = request.resource_type
        document = self.frames.document(request.frame_id)
        return OutgoingRequest(
            url=request.url,
            method=request.request.method,
            headers=origins.sendable(request.headers) if kind != "Script" else (("Accept", "*/*"),),
            body=body,
            document=document,
            guarded=kind == "XHR",
            partition=self.terms.partition,
            freshness=self._freshness(kind),
            record=kind == "XHR",
            is_page=self._navigates(request),
            obey_robots=self.terms.obey_robots,
            single_shot=self.terms.single_shot,
        )

    def _timeout_ms(self, request: PausedRequest) -> int:
        other = request.resource_type in ("Script", "Stylesheet") and origins.site(request.url) != self._own
        return _OTHERS_TIMEOUT_MS if other else _TIMEOUT_MS

    def _freshness(self, kind: str) -> Freshness:
        """Return the freshness of a kind of resource: with REALTIME, scripts and styles are as fresh as HTTP says."""
        wanted = self.terms.freshness
        return Freshness.ANY if wanted is Freshness.REALTIME and kind in ("Script", "Stylesheet") else wanted
