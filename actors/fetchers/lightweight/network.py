"""Answers everything that a page asks of the network, by the client of the tier, until a limit ends the page."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
import msgspec
from anyio import CancelScope, CapacityLimiter, Event
from anyio.abc import TaskGroup

from actors.fetchers.lightweight import origins
from actors.fetchers.lightweight.answers import (
    HTML,
    JSON_MODULE,
    Answer,
    headers_of,
    is_json,
    onward,
    shows,
    without_inner_documents,
)
from actors.fetchers.lightweight.asked import Asked, asked
from actors.fetchers.lightweight.engine.cdp import CdpError, ClosedError
from actors.fetchers.lightweight.following import Got, RefusedError, Wanted, Web, follow
from actors.fetchers.lightweight.frames import NOWHERE, Frames
from actors.fetchers.lightweight.jars import Jars
from actors.fetchers.lightweight.keeping import OwnCookies
from actors.fetchers.lightweight.tally import Tally, Terms
from actors.fetchers.web.client import Response
from actors.fetchers.web.cookies import Jar
from protocol.browse import Freshness
from protocol.faults import Code, FaultError

MAX_REQUESTS: Final = 300
MAX_DOCUMENTS: Final = 8
"""Where a page's own window may go."""

MAX_FRAMES: Final = 16
"""Documents of frames that are got; there is nothing in those beyond."""

MAX_BYTES: Final = 8_000_000
"""What one page may get, and what it may send."""

CONFINED: Final = "sandboxed_frame"
"""The limit of a page with a login that confines a frame: the engine would run it as the page itself."""

AT_ONCE: Final = 8
_TIMEOUT_MS: Final = 10_000
_OTHERS_TIMEOUT_MS: Final = 3_000
"""What scripts and styles of other sites get: a counter that is slow holds up no page."""

_EMPTY_ANSWERS: Final = frozenset({"Image", "Font", "Media"})
_FIRST_ERROR, _FIRST_SERVER_ERROR = 400, 500


class Engine(Protocol):
    """What is used of a connection."""

    async def call(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> Any:
        """Call a method and give its result."""
        ...

    async def post(self, method: str, params: dict[str, Any] | None = None, *, session: str | None = None) -> None:
        """Call a method, and return when it is sent."""
        ...


@dataclass(kw_only=True)
class Network:
    """The network of one page, whose first document is there already; `session` is the engine's."""

    engine: Engine
    session: str
    tasks: TaskGroup
    web: Web
    frames: Frames
    jar: Jar
    cookies: OwnCookies
    first: Response
    terms: Terms
    alarm: str = ""
    """The address that is asked for before a frame runs that should be confined, and cannot be."""

    tally: Tally = field(default_factory=Tally, init=False)
    touched_at: float = field(default_factory=anyio.current_time, init=False)
    """When a request began or ended last, in seconds of the loop's clock."""

    _open: dict[str, float] = field(default_factory=dict[str, float], init=False)
    _held: list[str] = field(default_factory=list[str], init=False)
    _scopes: dict[str, CancelScope] = field(default_factory=dict[str, CancelScope], init=False)
    _changed: Event = field(default_factory=Event, init=False)
    _over_with: bool = field(default=False, init=False)
    _ended: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Have the first document ready."""
        self.status = self.first.status
        self._own = origins.site(self.first.url)
        self._jars = Jars(self.frames, self.jar, self.cookies, self._own, self.tally)
        self._kept: dict[str, Response] = {self.first.url.partition("#")[0]: self.first}
        self._slots = CapacityLimiter(AT_ONCE)

    @property
    def in_flight(self) -> int:
        """How many requests have no answer yet."""
        return len(self._open)

    def newest_ms(self, now: float) -> float:
        """Return how long the newest of those without an answer has been under way."""
        return min((now - since for since in self._open.values()), default=0.0) * 1000

    async def changed(self) -> None:
        """Wait until a request begins or ends."""
        await self._changed.wait()

    def touch(self) -> None:
        """Wake whoever waits."""
        self.touched_at = anyio.current_time()
        self._changed.set()
        self._changed = Event()

    def paused(self, params: dict[str, Any], _: str) -> None:
        """Take Fetch.requestPaused."""
        if self._ended:
            return
        try:
            request = asked(params)
        except msgspec.ValidationError:
            return
        self.tally.requests += 1
        if self.alarm and request.url.startswith(self.alarm):
            self._warned(request)
            return
        if self._over(request):
            self.tasks.start_soon(self._fail, request.request_id)
            return
        self._open[request.request_id] = anyio.current_time()
        self.touch()
        self.tasks.start_soon(self._serve, request)

    def end(self) -> None:
        """Take no request any more."""
        self._ended = True

    async def give_up(self) -> None:
        """Fail everything that is under way, so that the page can be read; what is asked for later fails at once."""
        self._over_with = True
        names = (*self._open, *self._held)
        for scope in tuple(self._scopes.values()):
            scope.cancel()
        for name in names:
            await self._fail(name)

    def _warned(self, request: Asked) -> None:
        """Take the alarm: the frame that gives it waits for an answer, and gets none before all is over."""
        if request.url == self.alarm:
            self.tally.limit = CONFINED
            self._held.append(request.request_id)
            self.touch()
        else:
            self.tally.left_out += 1
            self.tasks.start_soon(self._fail, request.request_id)

    def _over(self, request: Asked) -> bool:
        tally = self.tally
        if self._stays(request) and request.url not in self._kept:
            tally.documents += 1
        if not tally.limit:
            if tally.requests > MAX_REQUESTS:
                tally.limit = "too_many_requests"
            elif tally.documents > MAX_DOCUMENTS:
                tally.limit = "nav_loop"
            if tally.limit:
                self.touch()
        return bool(tally.limit) or self._over_with

    async def _serve(self, request: Asked) -> None:
        name = request.request_id
        with CancelScope() as self._scopes[name]:
            try:
                async with self._slots:
                    answer = await self._answer(request)
                if answer is not None:
                    await self._hand(name, answer)
            except (RefusedError, FaultError) as error:
                await self._refuse(request, error)
            except (ClosedError, CdpError):
                pass
            finally:
                self._open.pop(name, None)
                del self._scopes[name]
                self.touch()

    async def _refuse(self, request: Asked, error: RefusedError | FaultError) -> None:
        tally = self.tally
        if isinstance(error, RefusedError):
            tally.refused += 1
        elif request.resource_type == "Script":
            tally.failed_scripts += 1
        elif request.resource_type == "XHR":
            tally.failed += 1
        if isinstance(error, FaultError) and error.fault.code is Code.CONTENT_TOO_LARGE:
            tally.limit = tally.limit or "too_large"
        if request.resource_type != "Document":
            await self._fail(request.request_id)
        elif not self._stays(request):
            # The engine would write into the frame that navigation has failed.
            self.frames.handed(request.network_id, NOWHERE)
            with suppress(ClosedError):
                await self._hand(request.request_id, Answer(200, HTML))

    def _stays(self, request: Asked) -> bool:
        """Whether to leave a request without an answer: the page then stays as it is."""
        return request.resource_type == "Document" and request.frame_id == self.frames.main

    async def _fail(self, name: str) -> None:
        asked = {"requestId": name, "errorReason": "Failed"}
        with suppress(ClosedError):
            await self.engine.post("Fetch.failRequest", asked, session=self.session)

    async def _hand(self, name: str, answer: Answer) -> None:
        params = {
            "requestId": name,
            "responseCode": answer.status,
            "responseHeaders": [{"name": key, "value": value} for key, value in answer.headers],
            "body": base64.b64encode(answer.body).decode("ascii"),
        }
        await self.engine.post("Fetch.fulfillRequest", params, session=self.session)

    async def _answer(self, request: Asked) -> Answer | None:
        kind = request.resource_type
        if kind == "Document":
            return await self._document(request)
        if kind in _EMPTY_ANSWERS:
            return Answer(200)
        if kind not in ("Script", "XHR", "Stylesheet") or request.streams:
            raise RefusedError
        got = await self._got(request)
        if kind == "Script":
            return self._script(request, got)
        if kind == "XHR":
            self._noted(got)
        return Answer(got.response.status, headers_of(got), got.response.body)

    async def _document(self, request: Asked) -> Answer | None:
        if not self.frames.known(request.frame_id) and request.frame_id != self.frames.main:
            raise RefusedError  # a window that nobody looks at
        kept = self._kept.pop(request.url, None) if request.request.method == "GET" else None
        if kept is None:
            self._count_frame(request)
            got = await self._got(request)
            kept = got.response
            if (last := got.url.partition("#")[0]) != request.url:
                self._kept[last] = kept
                self.frames.handed(request.network_id, request.url)
                return Answer(200, HTML, onward(got.url))
        if not shows(kept):
            if self._stays(request):
                return None
            kept = Response(kept.status, kept.url, kept.headers, b"", "text/html", kept.from_cache, 0, ())
        self.frames.handed(request.network_id, request.request.url)
        if self._stays(request):
            self.status = kept.status
        headers = origins.shown(kept.headers.multi_items(), foreign=False)
        return Answer(kept.status, headers, self._confined(kept.body) if self.alarm else kept.body)

    def _confined(self, body: bytes) -> bytes:
        """Leave out what a page with a login writes into frames: the engine would run it as the page."""
        body, count = without_inner_documents(body)
        self.tally.left_out += count
        return body

    def _count_frame(self, request: Asked) -> None:
        self.tally.frames += not self._stays(request)
        if self.tally.frames > MAX_FRAMES:
            raise RefusedError

    def _script(self, request: Asked, got: Got) -> Answer:
        response = got.response
        if response.status >= _FIRST_ERROR:
            self.tally.failed_scripts += 1
        else:
            self.tally.scripts += 1
        if not is_json(response):
            return Answer(response.status, headers_of(got), response.body)
        own = origins.same_origin(origins.origin(got.url), self.frames.origin(request.frame_id))
        if not own and not origins.readable(response.headers, "*"):
            raise RefusedError
        return Answer(response.status, (("content-type", "text/javascript"),), JSON_MODULE + response.body)

    def _noted(self, got: Got) -> None:
        status = got.response.status
        self.tally.api_4xx += _FIRST_ERROR <= status < _FIRST_SERVER_ERROR
        self.tally.api_5xx += status >= _FIRST_SERVER_ERROR
        self.tally.apis += got.exchanges[-1:]

    async def _got(self, request: Asked) -> Got:
        body = request.body
        if body is None:
            self.tally.oversized += 1
            raise RefusedError
        if not origins.known_method(request.request.method):
            raise RefusedError
        self.tally.sent += len(body)
        trip = self._jars.trip(request)
        await self._jars.catch_up(request, self.engine)
        got = await follow(self.web, self._wanted(request, body), trip, self._timeout_ms(request))
        if self.terms.record:
            self.tally.exchanges += got.exchanges
        self.tally.retries += got.response.retry_count
        self._weigh(len(got.response.body))
        if trip.own:
            await self.cookies.hand_over(self.engine, self.session)
        return got

    def _weigh(self, size: int) -> None:
        self.tally.received += size
        if max(self.tally.received, self.tally.sent) > MAX_BYTES:
            self.tally.limit = self.tally.limit or "too_large"
            raise RefusedError

    def _wanted(self, request: Asked, body: bytes) -> Wanted:
        kind = request.resource_type
        document = self.frames.document(request.frame_id)
        return Wanted(
            url=request.url,
            method=request.request.method,
            headers=origins.sendable(request.headers) if kind != "Script" else (("Accept", "*/*"),),
            body=body,
            document=document,
            guarded=kind == "XHR",
            partition=self.terms.profile,
            freshness=self._freshness(kind),
            record=kind == "XHR",
            is_page=self._stays(request),
            obey_robots=self.terms.obey_robots,
            single_shot=self.terms.single_shot,
        )

    def _timeout_ms(self, request: Asked) -> int:
        other = request.resource_type in ("Script", "Stylesheet") and origins.site(request.url) != self._own
        return _OTHERS_TIMEOUT_MS if other else _TIMEOUT_MS

    def _freshness(self, kind: str) -> Freshness:
        """Ask the site anew for what changes; its scripts are as fresh as HTTP says."""
        wanted = self.terms.freshness
        return Freshness.ANY if wanted is Freshness.REALTIME and kind in ("Script", "Stylesheet") else wanted
