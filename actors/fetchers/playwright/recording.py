"""Records what a page does: requests, console, dialogs, downloads, and whether requests are in flight."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, Protocol, cast

import anyio
from msgspec import Struct
from msgspec.structs import replace
from playwright.async_api import ConsoleMessage as ConsoleLine
from playwright.async_api import Dialog as OpenDialog
from playwright.async_api import Download, Error, Page, Request, Response

from actors import redact
from actors.extraction.parse.text import clean
from actors.fetchers.page_answer import MANY_DIALOGS, is_json
from actors.fetchers.playwright.browser import close_page
from actors.fetchers.playwright.event_meter import EventKind, EventMeter
from actors.fetchers.playwright.faults import code_of
from actors.fetchers.sampling import ExchangeLog
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
"""Resource types that a page does not wait for."""

_UNREAD_S = 1.0
"""A page that does not read a response to its end for so long does not wait for it."""

_POLL_S = 0.01
_ABORTED = "ERR_ABORTED"
"""The failure of a request that the page itself stopped, or another navigation did."""

_SCRIPTED = frozenset({"xhr", "fetch"})
_REDIRECTS = range(300, 400)
_OWN = ("data:", "blob:")
"""Schemes of what a page contains itself."""

_Level = Literal["log", "debug", "info", "warning", "error"]
DialogKind = Literal["alert", "confirm", "prompt", "beforeunload"]
_LEVELS: dict[str, _Level] = {
    "debug": "debug",
    "info": "info",
    "warning": "warning",
    "error": "error",
    "assert": "error",
}


class RecordedRequest(Struct, frozen=True):
    """A request with its sequence number; `kind` is Chromium's resource type, `failed` where there was no response.

    One that the page itself cancelled has not failed.
    """

    number: int
    kind: str
    request: NetworkRequest
    failed: bool = False


class PageListener(Protocol):
    """Handles what a page opens."""

    async def dialog(self, dialog: OpenDialog) -> None:
        """Handle a dialog."""
        ...

    async def popup(self, page: Page) -> None:
        """Handle a window."""
        ...

    async def download(self, download: Download) -> None:
        """Handle a download."""
        ...


@dataclass(eq=False)
class PageRecorder:
    """What one page has done since `attach`; times of the monotonic clock, in seconds.

    Without a listener dialogs are dismissed, windows closed and a few downloads kept.
    """

    page: Page
    bodies: bool = False
    listener: PageListener | None = None
    samples: ExchangeLog | None = None
    """Where what scripts were answered in JSON is gathered; the page waits for none of it."""

    crashed: bool = False
    meter: EventMeter = field(default_factory=EventMeter)
    when_gone: Callable[[], None] = lambda: None
    """Called once the page has crashed, or was ended."""

    failure: str = ""
    """Chromium's error text of the last document that was not loaded."""

    leaving: bool = False
    """Whether another document was requested, and has not responded yet."""

    broken: bool = False
    """Whether the main document broke off before its end."""

    whole: bool = False
    """Whether the main document has come to its end."""

    live: bool = False
    """Whether the page has a socket or a worker, whose messages no event announces."""

    scripts: int = 0
    documents: int = 0
    """How many documents the page has gone to, redirects not counted."""

    main: Response | None = None
    main_url: str = ""
    exchanges: deque[NetworkRequest] = field(default_factory=lambda: deque(maxlen=_MAX_EXCHANGES))
    """Those that are complete."""

    traffic: dict[Request, RecordedRequest] = field(default_factory=dict[Request, RecordedRequest])
    """Recorded for a listener alone: also those that are in flight, or failed."""

    _sequence: int = 0
    calls: deque[NetworkRequest] = field(default_factory=lambda: deque(maxlen=_MAX_EXCHANGES))
    """Those that the page's scripts made, and whose response is JSON."""

    lines: deque[ConsoleMessage] = field(default_factory=lambda: deque(maxlen=_MAX_LINES))
    dialogs: list[Dialog] = field(default_factory=list[Dialog])
    downloads: list[Download] = field(default_factory=list[Download])
    _popups: deque[Page] = field(default_factory=lambda: deque(maxlen=_MAX_LINES))
    _in_flight: set[Request] = field(default_factory=set[Request])
    _responded_s: dict[Request, float] = field(default_factory=dict[Request, float])
    _last_s: float = field(default_factory=time.monotonic)
    _reading: int = 0
    _bodies_read: int = 0

    def attach(self) -> None:
        """Subscribe to the events of the page."""
        page = self.page
        page.on("request", self._on_request)
        page.on("response", self._on_response)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)
        page.on("console", self._on_console)
        page.on("pageerror", self._on_page_error)
        page.on("dialog", self.listener.dialog if self.listener else self._dismiss)
        page.on("dialog", lambda dialog: self._count("dialog", len(dialog.message)))
        page.on("download", self.listener.download if self.listener else self._keep_download)
        page.on("download", lambda download: self._count("download", len(download.url)))
        page.on("popup", self.listener.popup if self.listener else close_page)
        page.on("popup", self._on_popup)
        page.on("frameattached", lambda _: self._count("frame"))
        page.on("framenavigated", lambda frame: self._count("frame", len(frame.url)))
        page.on("crash", self._on_crash)
        page.on("websocket", lambda socket: self._on_live("socket", socket.url))
        page.on("worker", lambda worker: self._on_live("worker", worker.url))

    @property
    def in_flight(self) -> int:
        """Count the requests that the page waits for."""
        return len(self._in_flight)

    @property
    def many_dialogs(self) -> bool:
        """Whether so many dialogs were opened that there may be no end of them."""
        return len(self.dialogs) >= MANY_DIALOGS

    def quiet_ms(self) -> float:
        """Return the time since the last network event; 0 while the page waits for a request."""
        now = time.monotonic()
        if any(now - self._responded_s.get(request, now) < _UNREAD_S for request in self._in_flight):
            return 0.0
        return (now - self._last_s) * 1000

    async def finish(self) -> None:
        """Record the responses that the page never read, and wait for bodies that are still being read."""
        for request in [request for request in self._in_flight if request in self._responded_s]:
            self._complete(request)
            with suppress(Error):
                await self._record(request, unread=True)
        while self._reading:  # noqa: ASYNC110 - Playwright reads in tasks of its own
            await anyio.sleep(_POLL_S)

    def _on_request(self, request: Request) -> Awaitable[None] | None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.main_url = request.url
            self.documents += request.redirected_from is None
            self.broken = self.whole = False
            self.leaving = True
            self._in_flight.clear()
        if request.resource_type == "eventsource":
            self.live = True
        if request.resource_type == "script":
            self.scripts += 1
        if request.resource_type not in _ENDLESS and not request.url.startswith(_OWN):
            self._in_flight.add(request)
            self._last_s = time.monotonic()
        return self._count("network", len(request.url))

    def _on_response(self, response: Response) -> None:
        request = response.request
        self._responded_s[request] = time.monotonic()
        if self.listener is not None and not request.url.startswith(_OWN):
            self._note(request, _exchange(request, response))
        if request.is_navigation_request() and response.frame == self.page.main_frame:
            self.main = response
            self.leaving = response.status in _REDIRECTS
            if response.status not in _REDIRECTS:
                self._complete(request)

    def _on_failed(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self.page.main_frame:
            self.failure = request.failure or ""
            self.leaving = False
        main = self.main.request if self.main is not None else None
        if request == main and _ABORTED not in (request.failure or ""):
            self.broken = True
        self._complete(request)
        if self.samples is not None and request.resource_type in _SCRIPTED and _ABORTED not in (request.failure or ""):
            self.samples.note_status(request.method, request.url, 0)
        if self.listener is not None and not request.url.startswith(_OWN):
            self._note_failure(request)
        if (response := request.existing_response) is not None and not request.url.startswith(_OWN):
            self.exchanges.append(_exchange(request, response))  # as a script that is not there: nobody reads its body

    async def _on_finished(self, request: Request) -> None:
        self.whole = self.whole or (self.main is not None and request == self.main.request)
        self._complete(request)
        with suppress(Error):
            await self._record(request)
        if self.samples is not None:
            with suppress(Error):
                await self._sample(self.samples, request)

    async def _sample(self, samples: ExchangeLog, request: Request) -> None:
        """Gather what a script of the page was answered, if it is JSON and small enough."""
        response = request.existing_response
        if response is None or request.resource_type not in _SCRIPTED:
            return
        samples.note_status(request.method, request.url, response.status)
        if not is_json(response.headers.get("content-type", "")):
            return
        length, content_type = response.headers.get("content-length", ""), response.headers.get("content-type", "")
        if not samples.wants(request.method, response.status, content_type, int(f"0{length[:12]}")):
            return
        samples.begin()
        samples.add(
            request.url,
            request.method,
            await request.all_headers(),
            sent=request.post_data_buffer or b"",
            status=response.status,
            content_type=content_type,
            body=await response.body(),
            took_ms=max(round(request.timing["responseEnd"]), 0),
        )

    def _complete(self, request: Request) -> None:
        self._responded_s.pop(request, None)
        if request in self._in_flight:
            self._in_flight.discard(request)
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
        if self.listener is not None:
            self._note(request, exchange)
        if self._is_call(request, content_type):
            self.calls.append(exchange)

    def _note_failure(self, request: Request) -> None:
        """Record a request that got no response."""
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
            self._sequence += 1
        number = known.number if known else self._sequence
        self.traffic[request] = RecordedRequest(number, request.resource_type, exchange, failed)
        if len(self.traffic) > _MAX_EXCHANGES:
            del self.traffic[next(iter(self.traffic))]

    def _is_call(self, request: Request, content_type: str) -> bool:
        """Whether a script of the page requested data: then the credentials of the request are recorded, too."""
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

    def _on_console(self, line: ConsoleLine) -> Awaitable[None] | None:
        level: _Level = _LEVELS.get(line.type, "log")
        self.lines.append(ConsoleMessage(level=level, text=_shown(line.text), timestamp=now_ms()))
        return self._count("line", len(line.text))

    def _on_page_error(self, error: Error) -> Awaitable[None] | None:
        self.lines.append(ConsoleMessage(level="error", text=_shown(error.message), timestamp=now_ms()))
        return self._count("line", len(error.message) + len(error.stack or ""))

    async def _dismiss(self, dialog: OpenDialog) -> None:
        if len(self.dialogs) < _MAX_DIALOGS:
            kind = cast("DialogKind", dialog.type)
            self.dialogs.append(Dialog(kind=kind, message=_shown(dialog.message)))
        with suppress(Error):
            await dialog.dismiss()

    async def _keep_download(self, download: Download) -> None:
        if len(self.downloads) < _MAX_DOWNLOADS:
            self.downloads.append(download)
            return
        with suppress(Error):
            await download.cancel()

    def _on_live(self, kind: EventKind, url: str) -> Awaitable[None] | None:
        self.live = True
        return self._count(kind, len(url))

    def _on_popup(self, popup: Page) -> Awaitable[None] | None:
        self._popups.append(popup)
        return self._count("popup")

    def _on_crash(self, _: Page) -> None:
        self.crashed = True
        self.when_gone()

    def _count(self, kind: EventKind, chars: int = 0) -> Awaitable[None] | None:
        return self._end() if self.meter.count(kind, chars) else None

    async def _end(self) -> None:
        """End the page and the windows that it opened; it is crashed at once, for the browser will say so late."""
        self._on_crash(self.page)
        for event, handler in (("console", self._on_console), ("request", self._on_request)):
            self.page.remove_listener(event, handler)  # then the driver leaves out what it has not sent yet
        async with anyio.create_task_group() as closing:
            for page in (self.page, *self._popups):
                closing.start_soon(close_page, page)


def _exchange(request: Request, response: Response) -> NetworkRequest:
    """Convert a response as far as it is known when it begins."""
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


def _shown(line: str) -> str:
    return clean(line[:_MAX_LINE_CHARS])
