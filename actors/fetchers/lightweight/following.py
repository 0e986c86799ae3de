"""Gets what a page asks for, from redirect to redirect, each judged anew."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

import httpx2

from actors.fetchers.lightweight import origins
from actors.fetchers.web import guard
from actors.fetchers.web.client import Response, WebRequest
from actors.fetchers.web.cookies import Jar
from protocol.browse import Freshness, NetworkRequest
from protocol.faults import Code, FaultError, fault

MAX_HOPS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TO_GET = frozenset({301, 302})


class RefusedError(Exception):
    """The same-origin policy keeps an answer from the page."""


class Web(Protocol):
    """What is used of WebClient."""

    async def fetch(self, request: WebRequest, cookies: Jar, timeout_ms: int) -> Response:
        """Get something, whatever its status."""
        ...


class Cookies(Protocol):
    """Who knows which cookies go where."""

    def jar(self, url: str) -> Jar:
        """Return the jar for one hop; what it sets goes there."""
        ...

    def none(self, url: str) -> Jar:
        """Return an empty jar for one hop to another origin, whose answer nobody may read who was let in by cookies."""
        ...


@dataclass(frozen=True)
class Wanted:
    """What a page wants: `document` is the address of who asks, `guarded` that a script wants to read the answer."""

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    document: str
    guarded: bool
    partition: str
    freshness: Freshness
    record: bool
    is_page: bool = False
    """Whether it is what the page's own window goes to: then it waits for its turn as pages do."""

    obey_robots: bool = False
    single_shot: bool = False


@dataclass(frozen=True)
class Got:
    """An answer at the end of its redirects; `foreign` that a border between origins lies before it."""

    response: Response
    url: str
    foreign: bool
    exchanges: tuple[NetworkRequest, ...]


async def follow(web: Web, wanted: Wanted, cookies: Cookies, timeout_ms: int) -> Got:
    """Get something, whatever its status.

    Raises:
        RefusedError: the page may not ask for it, or not read it.
        FaultError: as WebClient.fetch.
    """
    journey = _Journey(web, wanted, cookies, timeout_ms)
    for _ in range(MAX_HOPS + 1):
        response = await journey.hop()
        location = response.headers.get("location")
        if response.status not in _REDIRECTS or location is None:
            return Got(response, journey.url, journey.foreign, tuple(journey.exchanges))
        journey.turn(response.status, location)
    raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))


class _Journey:
    def __init__(self, web: Web, wanted: Wanted, cookies: Cookies, timeout_ms: int) -> None:
        self.url = wanted.url
        self.foreign = False
        self.exchanges: list[NetworkRequest] = []
        self._web, self._wanted, self._cookies, self._timeout_ms = web, wanted, cookies, timeout_ms
        self._method, self._headers, self._body = wanted.method, wanted.headers, wanted.body
        self._asking = origins.origin(wanted.document)

    async def hop(self) -> Response:
        guarded = self._wanted.guarded
        if guarded and not origins.same_origin(self._asking, origins.origin(self.url)):
            self.foreign = True
        if guarded and self.foreign:
            await self._ask_first()
        jar = self._cookies.none(self.url) if guarded and self.foreign else self._cookies.jar(self.url)
        response = await self._fetch(self._method, (*self._headers, *self._said()), self._body, jar)
        if guarded and self.foreign and not origins.readable(response.headers, self._asking):
            raise RefusedError
        return response

    def turn(self, status: int, location: str) -> None:
        target = str(guard.check_redirect(httpx2.URL(self.url), location))
        here, there = origins.origin(self.url), origins.origin(target)
        if here != there:
            self._headers = tuple(pair for pair in self._headers if pair[0].lower() != "authorization")
            if self.foreign:
                self._asking = origins.OPAQUE
        if (status == HTTPStatus.SEE_OTHER and self._method != "HEAD") or (
            status in _TO_GET and self._method == "POST"
        ):
            self._method, self._body = "GET", b""
            self._headers = tuple(pair for pair in self._headers if not pair[0].lower().startswith("content-"))
        self.url = target

    async def _ask_first(self) -> None:
        asking = origins.preflight(self._method, self._headers, self._asking)
        if asking is None:
            return
        answer = await self._fetch("OPTIONS", asking, b"", Jar())
        if not origins.permits(answer.status, answer.headers, self._method, self._headers, self._asking):
            raise RefusedError

    def _said(self) -> tuple[tuple[str, str], ...]:
        """Say who asks, as a browser would."""
        said = [("Referer", referrer)] if (referrer := origins.referrer(self._wanted.document, self.url)) else []
        if self.foreign or self._method not in ("GET", "HEAD"):
            said.append(("Origin", self._asking))
        return tuple(said)

    async def _fetch(self, method: str, headers: tuple[tuple[str, str], ...], body: bytes, jar: Jar) -> Response:
        wanted = self._wanted
        partition = f"{wanted.partition} {self._asking}" if self.foreign else wanted.partition
        request = WebRequest(
            self.url,
            method=method,
            headers=headers,
            body=body,
            freshness=wanted.freshness,
            partition=partition,
            follow=False,
            record_body=wanted.record,
            sub_resource=not wanted.is_page,
            obey_robots=wanted.is_page and wanted.obey_robots,
            single_shot=wanted.single_shot,
        )
        response = await self._web.fetch(request, jar, self._timeout_ms)
        self.exchanges += response.exchanges
        return response
