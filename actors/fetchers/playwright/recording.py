"""Writes down what a page does: requests, console, dialogs, downloads, and whether anything is under way."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast

import anyio
from msgspec.structs import replace
from playwright.async_api import ConsoleMessage as Line
from playwright.async_api import Dialog as Asked
from playwright.async_api import Download, Error, Page, Request, Response

from actors.fetchers.observed_apis import is_json
from actors.fetchers.playwright.faults import code_of
from actors.fetchers.web import redact
from bus.clock import now_ms
from protocol.browse import ConsoleMessage, NetworkRequest
from protocol.pages import Dialog

_MAX_EXCHANGES = 500
_MAX_BODIES = 50
_MAX_LINES = 200
_MAX_LINE_CHARS = 2_000
_MAX_DIALOGS = 20
_MAX_DOWNLOADS = 5
_ENDLESS = frozenset({"eventsource", "websocket", "media", "ping", "manifest", "texttrack", "cspviolationreport"})
"""Kinds of requests that a page is not waiting for."""

_UNREAD_S = 1.0
"""A page that has an answer and does not read it, or not to its end, waits for no more of it."""

_POLL_S = 0.01
_ABORTED = "ERR_ABORTED"
"""What the page itself stopped, or another navigation did."""

_SCRIPTED = frozenset({"xhr", "fetch"})
_REDIRECTS = range(300, 400)
_OWN = ("data:", "blob:")
"""What a page has in itself."""

_Level = Literal["log", "debug", "info", "warning", "error"]
_Kind = Literal["alert", "confirm", "prompt", "beforeunload"]
_LEVELS: dict[str, _Level] = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "assert": "error",
}


@dataclass(frozen=True)
class Exchange:
    """A request with its place in the order of them; `kind` is the browser's word, `failed` tells that none answered.

    One that the page itself gave up is none that failed.
    """

    number: int
    kind: str
    request: NetworkRequest
    failed: bool = False


class Attendant(Protocol):
    """Takes what a page calls for."""

    async def dialog(self, asked: Asked) -> None:
        """Take a dialog."""
        ...

    async def popup(self, page: Page) -> None:
        """Take a window that the page opened."""
        ...

    async def download(self, download: Download) -> None:
        """Take a file that the page had the browser download."""
        ...


@dataclass(eq=False)
class Recorder:
    """What was seen of one page since `attach`; times of the clock that only goes forward, in seconds.

    Without an attendant dialogs are dismissed, windows closed and a few downloads remembered.
    """

    page: Page
    bodies: bool = False
    attendant: Attendant | None = None
    crashed: bool = False
    failure: str = ""
    """What kept the last document from coming, in the browser's words."""

    leaving: bool = False
    """Whether another document was asked for, and does not come yet."""

    broken: bool = False
    """Whether the main document broke off before its end."""

    live: bool = False
    """Whether the page has a socket or a worker, whose words nothing announces."""

    scripts: int = 0
    documents: int = 0
    main: Response | None = None
    main_url: str = ""
    exchanges: deque[NetworkRequest] = field(default_factory=lambda: deque(maxlen=_MAX_EXCHANGES))
    """Those that came to an end."""

    traffic: dict[Request, Exchange] = field(default_factory=dict[Request, Exchange])
    """What an attendant may want to know: also those that are under way, or failed."""

    requests: int = 0
    calls: deque[NetworkRequest] = field(default_factory=lambda: deque(maxlen=_MAX_EXCHANGES))
    """Those that the page's scripts made, and that brought JSON."""

    lines: deque[ConsoleMessage] = field(default_factory=lambda: deque(maxlen=_MAX_LINES))
    dialogs: list[Dialog] = field(default_factory=list[Dialog])
    downloads: list[Download] = field(default_factory=list[Download])
    _under_way: set[Request] = field(default_factory=set[Request])
    _answered_s: dict[Request, float] = field(default_factory=dict[Request, float])
    _last_s: float = field(default_factory=time.monotonic)
    _reading: int = 0
    _bodies_read: int = 0

    def attach(self) -> None:
        """Begin."""
        page = self.page
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.on("requestfinished", self._finished)
        page.on("requestfailed", self._failed)
        page.on("console", self._said)
        page.on("pageerror", self._broke)
        page.on("dialog", self.attendant.dialog if self.attendant else self._dialog)
        page.on("download", self.attendant.download if self.attendant else self._download)
        page.on("popup", self.attendant.popup if self.attendant else _close)
        page.on("crash", self._crash)
        page.on("websocket", self._lives)
        page.on("worker", self._lives)

    @property
    def under_way(self) -> int:
        """Requests that the page waits for."""
        return len(self._under_way)

    def quiet_ms(self) -> float:
        """Tell for how long nothing came or went; 0 while something is under way."""
        now = time.monotonic()
        if any(now - self._answered_s.get(request, now) < _UNREAD_S for request in self._under_way):
            return 0.0
        return (now - self._last_s) * 1000

    async def finish(self) -> None:
        """Record what was answered and never read, and wait for what is still being read."""
        for request in [request for request in self._under_way if request in self._answered_s]:
            self._done(request)
            with suppress(Error):
                await self._record(request, unread=True)
        while self._reading:  # noqa: ASYNC110 - Playwright reads in tasks of its own
            await anyio.sleep(_POLL_S)

    def _asked(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.main_url = request.url
            self.broken = False
            self.leaving = True
            self.documents += 1
            self._under_way.clear()
        if request.resource_type == "eventsource":
            self.live = True
        if request.resource_type == "script":
            self.scripts += 1
        if request.resource_type not in _ENDLESS and not request.url.startswith(_OWN):
            self._under_way.add(request)
            self._last_s = time.monotonic()

    def _answered(self, response: Response) -> None:
        request = response.request
        self._answered_s[request] = time.monotonic()
        if self.attendant is not None and not request.url.startswith(_OWN):
            self._note(request, _exchange(request, response))
        if request.is_navigation_request() and response.frame == self.page.main_frame:
            self.main = response
            self.leaving = response.status in _REDIRECTS
            if response.status not in _REDIRECTS:
                self._done(request)

    def _failed(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.failure = request.failure or ""
            self.leaving = False
        main = self.main.request if self.main is not None else None
        if request == main and _ABORTED not in (request.failure or ""):
            self.broken = True
        self._done(request)
        if self.attendant is not None and not request.url.startswith(_OWN):
            self._unanswered(request)

    async def _finished(self, request: Request) -> None:
        self._done(request)
        with suppress(Error):
            await self._record(request)

    def _done(self, request: Request) -> None:
        self._answered_s.pop(request, None)
        if request in self._under_way:
            self._under_way.discard(request)
            self._last_s = time.monotonic()

    async def _record(self, request: Request, *, unread: bool = False) -> None:
        response = request.existing_response
        if response is None or request.url.startswith(_OWN):
            return
        content_type = response.headers.get("content-type", "")
        self._reading += 1
        try:
            body = b"" if unread else await self._body(request, response, content_type)
            sent = await request.all_headers() if self._is_call(request, content_type) else request.headers
        finally:
            self._reading -= 1
        exchange = replace(
            _exchange(request, response),
            request_headers=redact.headers(sent.items()),
            response_body=redact.json_body(body, content_type if body else ""),
            duration=max(round(request.timing["responseEnd"]), 0),
        )
        self.exchanges.append(exchange)
        if self.attendant is not None:
            self._note(request, exchange)
        if self._is_call(request, content_type):
            self.calls.append(exchange)

    def _unanswered(self, request: Request) -> None:
        """Record a request that came to nothing."""
        given_up = _ABORTED in (request.failure or "")
        exchange = NetworkRequest(
            url=redact.url(request.url),
            method=request.method,
            status=0,
            status_text="given up" if given_up else code_of(request.failure or "").value,
            headers={},
            request_headers=redact.headers(request.headers.items()),
            timestamp=max(round(request.timing["startTime"]), 0) or now_ms(),
        )
        self._note(request, exchange, failed=not given_up)

    def _note(self, request: Request, exchange: NetworkRequest, *, failed: bool = False) -> None:
        known = self.traffic.get(request)
        if known is None:
            self.requests += 1
        number = known.number if known else self.requests
        self.traffic[request] = Exchange(number, request.resource_type, exchange, failed)
        if len(self.traffic) > _MAX_EXCHANGES:
            del self.traffic[next(iter(self.traffic))]

    def _is_call(self, request: Request, content_type: str) -> bool:
        """Whether a script of the page asked for data: then it is told by which credentials it was let in."""
        return request.resource_type in _SCRIPTED and is_json(content_type)

    async def _body(self, request: Request, response: Response, content_type: str) -> bytes:
        """Read a body that is JSON, while there are not too many of them and it is not too long."""
        length = response.headers.get("content-length", "")
        long = length.isdecimal() and int(length[:12]) > redact.MAX_RECORDED_BODY_BYTES
        if not self.bodies or not is_json(content_type) or long or self._bodies_read >= _MAX_BODIES:
            return b""
        self._bodies_read += 1
        if not length and (await request.sizes())["responseBodySize"] > redact.MAX_RECORDED_BODY_BYTES:
            return b""
        return await response.body()

    def _said(self, line: Line) -> None:
        level: _Level = _LEVELS.get(line.type, "log")
        text = line.text[:_MAX_LINE_CHARS]
        self.lines.append(ConsoleMessage(level=level, text=text, timestamp=now_ms()))

    def _broke(self, error: Error) -> None:
        self.lines.append(ConsoleMessage(level="error", text=error.message[:_MAX_LINE_CHARS], timestamp=now_ms()))

    async def _dialog(self, dialog: Asked) -> None:
        if len(self.dialogs) < _MAX_DIALOGS:
            kind = cast("_Kind", dialog.type)
            self.dialogs.append(Dialog(kind=kind, message=dialog.message[:_MAX_LINE_CHARS]))
        with suppress(Error):
            await dialog.dismiss()

    async def _download(self, download: Download) -> None:
        if len(self.downloads) < _MAX_DOWNLOADS:
            self.downloads.append(download)
            return
        with suppress(Error):
            await download.cancel()

    def _lives(self, _: object) -> None:
        self.live = True

    def _crash(self, _: Page) -> None:
        self.crashed = True


def _exchange(request: Request, response: Response) -> NetworkRequest:
    """Record an answer as far as it is known when it begins to come."""
    timing = request.timing
    return NetworkRequest(
        url=redact.url(request.url),
        method=request.method,
        status=response.status,
        status_text=response.status_text,
        headers=redact.headers(response.headers.items()),
        request_headers=redact.headers(request.headers.items()),
        timestamp=round(timing["startTime"]),
        content_type=response.headers.get("content-type", ""),
        duration=max(round(timing["responseStart"]), 0),
    )


async def _close(popup: Page) -> None:
    """Close a window that a page opened: nobody looks at it."""
    with suppress(Error):
        await popup.close()
