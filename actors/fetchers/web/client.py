"""Gets one page over HTTP: redirects, cookies, cache and limits, every address behind the guard."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from http import HTTPStatus
from types import TracebackType
from typing import Literal, Protocol, Self

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpx2

from actors.fetchers.web import foresight, guard, redact
from actors.fetchers.web.cache import MemoryStore, Store
from actors.fetchers.web.caching import CachingTransport, Clock, Served
from actors.fetchers.web.connecting import GuardedTransport, faults, trusted
from actors.fetchers.web.cookies import Jar, refusing_jar
from actors.fetchers.web.merge import Merged
from actors.fetchers.web.pace import Pace, Turn
from actors.fetchers.web.paced import PacedTransport, owned
from actors.fetchers.web.paces import Paces
from actors.fetchers.web.rates import Limits
from actors.fetchers.web.robots import MAX_BYTES, TERM_S, Files, Found, Robots, unread
from protocol.browse import Freshness, NetworkRequest
from protocol.domains import Foreseen
from protocol.faults import Code, FaultError, fault

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8"
_ACCEPT_LANGUAGE = "en,*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TO_GET = frozenset({301, 302})
"""Redirects that turn a POST into a GET, as browsers do (RFC 9110 §15.4); 303 does so to everything."""

_MAX_REDIRECT_BODY_BYTES = 65_536
_ROBOTS_TIMEOUT_MS = 10_000
_LEAST_S = 0.001
_REPEATS = 1
"""A GET that broke off before it was answered is sent once more: a kept-alive connection may have been closed."""

_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})

_DIRECTIVES = {Freshness.REALTIME: "no-cache", Freshness.CACHED: "max-stale"}


class WebSettings(Protocol):
    """What the client reads of the settings."""

    @property
    def fetch_max_bytes(self) -> int:
        """Bytes of one body, decoded, at most."""
        ...

    @property
    def fetch_max_redirects(self) -> int:
        """Redirects of one fetch at most."""
        ...

    @property
    def fetch_connect_timeout_ms(self) -> int:
        """How long connecting may take."""
        ...

    @property
    def fetch_user_agent(self) -> str:
        """How the client calls itself."""
        ...

    @property
    def fetch_cache_bytes(self) -> int:
        """Bytes of the cache at most; 0 keeps nothing."""
        ...

    @property
    def fetch_ca_file(self) -> str:
        """PEM file of further certificate authorities, or nothing."""
        ...

    @property
    def allow_private(self) -> tuple[str, ...]:
        """Private networks that may be fetched from."""
        ...


@dataclass(frozen=True)
class WebRequest:
    """One thing to be got of the web: for itself, or on behalf of a page.

    `headers` are sent beside the client's own and replace those of the same name. `partition` keeps cached answers of
    one session from another's. With `follow` false a redirect is an answer like any other. A `sub_resource` of a page
    counts among the open requests to its host, but is not held up as a page is. Of the body no more than `cut_bytes`
    is read, if they are given; without them a body that is too large is a fault. With `single_shot` nothing that broke
    off is sent again.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    freshness: Freshness = Freshness.ANY
    partition: str = ""
    follow: bool = True
    record_body: bool = False
    sub_resource: bool = False
    obey_robots: bool = False
    cut_bytes: int = 0
    single_shot: bool = False


@dataclass(frozen=True)
class Response:
    """What a site answered at the end of its redirects: `url` is the last one, `body` is decoded.

    `from_cache` tells that no body came over the network; `received_at` is when it came or was last confirmed by the
    site, in seconds since the epoch. `exchanges` are in the order in which they were made.
    """

    status: int
    url: str
    headers: httpx2.Headers
    body: bytes
    content_type: str
    from_cache: bool
    retry_count: int
    exchanges: tuple[NetworkRequest, ...]
    received_at: float = 0.0


@dataclass(frozen=True)
class Manners:
    """How polite a client is, and what it shares with others; without `limits` nobody has to wait."""

    limits: Limits | None = None
    robots: Literal["asked", "always", "never"] = "asked"
    robots_term_s: float = TERM_S
    store: Store | None = None
    paces: Paces | None = None
    files: Files | None = None


@dataclass(frozen=True)
class _Followed:
    """An answer, and those on the way to it, whose cookies are for everybody who asked."""

    response: Response
    hops: tuple[httpx2.Response, ...]


class WebClient:
    """A polite HTTP client for pages; one for the life of an actor. Ask `robots` before pages that go past it."""

    def __init__(
        self,
        settings: WebSettings,
        resolve: guard.Resolve = guard.resolve,
        manners: Manners | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._settings = settings
        self._resolve = resolve
        self._manners = manners or Manners()
        self._now = clock
        self._open = AsyncExitStack()
        self._http: httpx2.AsyncClient | None = None
        self._pace: Pace | None = None
        self._merged = Merged[_Followed]()
        self._store = self._manners.store or MemoryStore(settings.fetch_cache_bytes)
        term_s, files = self._manners.robots_term_s, self._manners.files
        self.robots = Robots(self._robots_txt, settings.fetch_user_agent, clock, files, term_s)

    async def __aenter__(self) -> Self:
        """Load the certificate authorities, and get ready to connect."""
        context = await anyio.to_thread.run_sync(trusted, self._settings.fetch_ca_file)
        backend = guard.GuardedBackend(guard.networks(self._settings.allow_private), self._resolve)
        transport: httpx2.AsyncBaseTransport = GuardedTransport(context, backend)
        if self._manners.limits is not None:
            self._pace = Pace(self._manners.limits, self._manners.paces, self._now)
            await self._open.enter_async_context(self._pace.running())
            transport = PacedTransport(transport, self._pace, self._settings.allow_private)
        if self._settings.fetch_cache_bytes:
            transport = CachingTransport(transport, self._store, self._now, self._settings.fetch_cache_bytes // 4)
        headers = {
            "User-Agent": self._settings.fetch_user_agent,
            "Accept": _ACCEPT,
            "Accept-Language": _ACCEPT_LANGUAGE,
        }
        client = httpx2.AsyncClient(transport=transport, trust_env=False, headers=headers, cookies=refusing_jar())
        self._http = await self._open.enter_async_context(client)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close every connection."""
        await self._open.__aexit__(kind, error, trace)

    async def fetch(self, request: WebRequest, cookies: Jar, timeout_ms: int) -> Response:
        """Get something, whatever its status; what it sets goes into `cookies`.

        Who asks the same at the same time gets the same answer.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, CONTENT_TOO_LARGE, RATE_LIMIT_EXCEEDED or
                BLOCKED_BY_ROBOTS.
        """
        until = self._now() + timeout_ms / 1000
        try:
            with anyio.fail_after(timeout_ms / 1000), faults():
                if request.method != "GET" or request.body:
                    return (await self._follow(request, cookies, until)).response
                return await self._shared(request, cookies, until)
        except TimeoutError as error:
            raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error

    @asynccontextmanager
    async def turn(self, url: str, timeout_ms: int, *, obey_robots: bool = False) -> AsyncGenerator[None]:
        """Wait until a page may be asked for by other means than `fetch`, and count it as open while the block lasts.

        Raises:
            FaultError: RATE_LIMIT_EXCEEDED where its turn comes too late, or BLOCKED_BY_ROBOTS.
        """
        checked = guard.check_url(url)
        turn = await self._turn(WebRequest(url, obey_robots=obey_robots), checked, self._now() + timeout_ms / 1000)
        if self._pace is None or owned(checked.host, guard.networks(self._settings.allow_private)):
            yield
            return
        await self._pace.enter(checked.host, turn)
        try:
            yield
        finally:
            self._pace.leave(checked.host)

    async def foresee(self, request: WebRequest, cookies: Jar) -> Foreseen:
        """Return what would happen to a request before its site is asked; nothing is sent, no name is looked up."""
        try:
            url = foresight.check_address(request.url, self._settings.allow_private)
        except FaultError as error:
            return Foreseen(refused=error.fault)
        hop = self._request(request, url, Turn(self._now()))
        cookies.set_cookie_header(hop)
        sight = foresight.Sight(self.robots, self._manners, self._store, self._settings.allow_private)
        return await sight.foresee(hop, self._now(), obeys=self._obeys(request))

    async def _shared(self, request: WebRequest, cookies: Jar, until: float) -> Response:
        key = (request, _cookie_header(cookies, request.url))
        followed, own = await self._merged.once(key, lambda: self._follow(request, cookies, until))
        if not own:
            for hop in followed.hops:
                cookies.extract_cookies(hop)
        return followed.response

    async def _follow(self, request: WebRequest, cookies: Jar, until: float) -> _Followed:
        url, method, body = guard.check_url(request.url), request.method, request.body
        exchanges: list[NetworkRequest] = []
        hops: list[httpx2.Response] = []
        seen: set[tuple[str, str]] = set()
        retries = 0
        for _ in range(self._settings.fetch_max_redirects + 1):
            turn = await self._turn(request, url, until)
            hop = self._request(replace(request, method=method, body=body), url, turn)
            cookies.set_cookie_header(hop)
            step = (str(url), hop.headers.get("cookie", ""))
            if step in seen:
                break
            seen.add(step)
            with nullcontext() if hops else guard.asked_for():
                answer, got = await self._exchange(hop, request, cookies)
            hops.append(got)
            exchanges += answer.exchanges
            retries += answer.retry_count
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None or not request.follow:
                response = replace(answer, url=str(url), exchanges=tuple(exchanges), retry_count=retries)
                return _Followed(response, tuple(hops))
            url = guard.check_redirect(url, location)
            if answer.status == HTTPStatus.SEE_OTHER or (answer.status in _TO_GET and method == "POST"):
                method, body = "GET", b""
        raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))

    async def _turn(self, request: WebRequest, url: httpx2.URL, until: float) -> Turn:
        """Ask robots.txt where it is to be obeyed: always, never, or where the caller wants it."""
        interval_ms = await self.robots.check(str(url)) if self._obeys(request) else 0.0
        return Turn(until, request.sub_resource, interval_ms)

    def _obeys(self, request: WebRequest) -> bool:
        always = self._manners.robots == "always" and not request.sub_resource
        return (request.obey_robots or always) and self._manners.robots != "never"

    async def _robots_txt(self, url: str) -> Found:
        """Get a robots.txt for whoever asks about it; fails where no page of the place can be had either."""
        request = WebRequest(url, sub_resource=True, cut_bytes=MAX_BYTES)
        try:
            with anyio.fail_after(_ROBOTS_TIMEOUT_MS / 1000), faults():
                followed = await self._follow(request, Jar(), self._now() + _ROBOTS_TIMEOUT_MS / 1000)
        except TimeoutError:
            return Found(0, unreached=Code.NETWORK_TIMEOUT)
        except FaultError as error:
            return unread(error)
        return Found(followed.response.status, followed.response.body)

    def _request(self, request: WebRequest, url: httpx2.URL, turn: Turn) -> httpx2.Request:
        total = max(turn.until - self._now(), _LEAST_S)
        connect = min(self._settings.fetch_connect_timeout_ms / 1000, total)
        headers = httpx2.Headers(request.headers)
        if directive := _DIRECTIVES.get(request.freshness):
            headers["Cache-Control"] = directive
        return self._client.build_request(
            request.method,
            url.copy_with(fragment=None) if url.fragment else url,
            headers=headers,
            content=request.body or None,
            timeout=httpx2.Timeout(total, connect=connect),
            extensions={"partition": request.partition, "turn": turn},
        )

    async def _exchange(
        self, request: httpx2.Request, asked: WebRequest, cookies: Jar
    ) -> tuple[Response, httpx2.Response]:
        started, at_ms = time.perf_counter(), time.time_ns() // 1_000_000
        response, retries = await self._send(request, once=asked.single_shot)
        try:
            cookies.extract_cookies(response)
            body = await self._body(response, asked.cut_bytes)
        finally:
            await response.aclose()
        content_type = response.headers.get("content-type", "")
        recorded = NetworkRequest(
            url=redact.url(str(request.url)),
            method=request.method,
            status=response.status_code,
            status_text=response.reason_phrase,
            headers=redact.headers(response.headers.multi_items()),
            request_headers=redact.headers(request.headers.multi_items()),
            timestamp=at_ms,
            content_type=content_type,
            response_body=redact.json_body(body, content_type if asked.record_body else ""),
            duration=round((time.perf_counter() - started) * 1000),
        )
        served: Served = response.extensions.get("caching") or Served(from_cache=False, received_at=self._now())
        answer = Response(
            status=response.status_code,
            url=str(request.url),
            headers=response.headers,
            body=body,
            content_type=content_type,
            from_cache=served["from_cache"],
            retry_count=retries,
            exchanges=(recorded,),
            received_at=served["received_at"],
        )
        return answer, response

    async def _send(self, request: httpx2.Request, *, once: bool) -> tuple[httpx2.Response, int]:
        most, repeats = 0 if once or request.method not in _REPEATABLE else _REPEATS, 0
        while True:
            try:
                return await self._client.send(request, stream=True, auth=None, follow_redirects=False), repeats
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if repeats == most:
                    raise
                repeats += 1

    async def _body(self, response: httpx2.Response, cut_bytes: int) -> bytes:
        redirects = response.status_code in _REDIRECTS and "location" in response.headers
        limit = self._settings.fetch_max_bytes
        body = bytearray()
        # httpx2 decodes at most 1 MiB at a time, so a bomb costs no more than the limit.
        async for chunk in response.aiter_bytes():
            body += chunk
            if redirects and len(body) > _MAX_REDIRECT_BODY_BYTES:
                return b""
            if cut_bytes and len(body) >= cut_bytes:
                return bytes(body[:cut_bytes])
            if max(len(body), response.num_bytes_downloaded) > limit:
                raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {limit} bytes."))
            await anyio.lowlevel.checkpoint()
        return bytes(body)

    @property
    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            raise RuntimeError("the client is not open")
        return self._http


def _cookie_header(cookies: Jar, url: str) -> str:
    if not cookies:
        return ""
    request = httpx2.Request("GET", guard.check_url(url))
    cookies.set_cookie_header(request)
    return str(request.headers.get("cookie", ""))
