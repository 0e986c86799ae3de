"""Gets one page over HTTP: redirects, cookies, cache and limits, every address behind the guard."""

from __future__ import annotations

import ssl
import time
from collections.abc import Generator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from types import TracebackType
from typing import Protocol, Self

import anyio
import anyio.lowlevel
import anyio.to_thread
import httpcore2
import httpx2
from hishel import CacheOptions
from hishel.httpx2 import AsyncCacheTransport

from actors.fetchers.web import guard, redact
from actors.fetchers.web.cache import MemoryStorage
from actors.fetchers.web.cookies import Jar, refusing_jar
from protocol.browse import Freshness, NetworkRequest
from protocol.faults import Code, FaultError, fault

_ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.9,*/*;q=0.8"
_ACCEPT_LANGUAGE = "en,*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_TO_GET = frozenset({301, 302})
"""Redirects that turn a POST into a GET, as browsers do (RFC 9110 §15.4); 303 does so to everything."""

_MAX_REDIRECT_BODY_BYTES = 65_536
_MAX_CONNECTIONS = 100
_KEEPALIVE_S = 30.0
_ATTEMPTS = 2
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
    one session from another's. With `follow` false a redirect is an answer like any other.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    freshness: Freshness = Freshness.ANY
    partition: str = ""
    follow: bool = True
    record_body: bool = False


@dataclass(frozen=True)
class Response:
    """What a site answered at the end of its redirects: `url` is the last one, `body` is decoded.

    `from_cache` tells that no body came over the network; `exchanges` are in the order in which they were made.
    """

    status: int
    url: str
    headers: httpx2.Headers
    body: bytes
    content_type: str
    from_cache: bool
    retry_count: int
    exchanges: tuple[NetworkRequest, ...]


class WebClient:
    """A polite HTTP client for pages; one for the life of an actor."""

    def __init__(self, settings: WebSettings, resolve: guard.Resolve = guard.resolve) -> None:
        self._settings = settings
        self._resolve = resolve
        self._open = AsyncExitStack()
        self._http: httpx2.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Load the certificate authorities, and get ready to connect."""
        trusted = await anyio.to_thread.run_sync(_trusted, self._settings.fetch_ca_file)
        backend = guard.GuardedBackend(guard.networks(self._settings.allow_private), self._resolve)
        transport = AsyncCacheTransport(
            GuardedTransport(trusted, backend), MemoryStorage(self._settings.fetch_cache_bytes), rfc=True
        )
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

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS or CONTENT_TOO_LARGE.
        """
        try:
            with anyio.fail_after(timeout_ms / 1000), _faults():
                return await self._follow(request, cookies, timeout_ms)
        except TimeoutError as error:
            raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error

    async def _follow(self, request: WebRequest, cookies: Jar, timeout_ms: int) -> Response:
        url, method, body = guard.check_url(request.url), request.method, request.body
        exchanges: list[NetworkRequest] = []
        seen: set[tuple[str, str]] = set()
        retries = 0
        for _ in range(self._settings.fetch_max_redirects + 1):
            hop = self._request(replace(request, method=method, body=body), url, timeout_ms)
            cookies.set_cookie_header(hop)
            step = (str(url), hop.headers.get("cookie", ""))
            if step in seen:
                break
            seen.add(step)
            answer = await self._exchange(hop, cookies, record_body=request.record_body)
            exchanges += answer.exchanges
            retries += answer.retry_count
            location = answer.headers.get("location")
            if answer.status not in _REDIRECTS or location is None or not request.follow:
                return replace(answer, url=str(url), exchanges=tuple(exchanges), retry_count=retries)
            url = guard.check_redirect(url, location)
            if answer.status == HTTPStatus.SEE_OTHER or (answer.status in _TO_GET and method == "POST"):
                method, body = "GET", b""
        raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))

    def _request(self, request: WebRequest, url: httpx2.URL, timeout_ms: int) -> httpx2.Request:
        total = timeout_ms / 1000
        connect = min(self._settings.fetch_connect_timeout_ms / 1000, total)
        directive = _DIRECTIVES.get(request.freshness)
        url = url.copy_with(fragment=None)
        caching = {
            "key": f"{request.partition} {url}",
            "rfc": CacheOptions(shared=False, allow_stale=request.freshness is Freshness.CACHED),
        }
        headers = httpx2.Headers(request.headers)
        if directive:
            headers["Cache-Control"] = directive
        return self._client.build_request(
            request.method,
            url,
            headers=headers,
            content=request.body or None,
            timeout=httpx2.Timeout(total, connect=connect),
            extensions={"caching": caching},
        )

    async def _exchange(self, request: httpx2.Request, cookies: Jar, *, record_body: bool) -> Response:
        started, at_ms = time.perf_counter(), time.time_ns() // 1_000_000
        response, retries = await self._send(request)
        try:
            from_cache = bool(response.extensions.get("caching", {}).get("from_cache"))
            cookies.extract_cookies(response)
            body = await self._body(response)
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
            response_body=redact.json_body(body, content_type if record_body else ""),
            duration=round((time.perf_counter() - started) * 1000),
        )
        return Response(
            status=response.status_code,
            url=str(request.url),
            headers=response.headers,
            body=body,
            content_type=content_type,
            from_cache=from_cache,
            retry_count=retries,
            exchanges=(recorded,),
        )

    async def _send(self, request: httpx2.Request) -> tuple[httpx2.Response, int]:
        attempt = 1
        while True:
            try:
                response = await self._client.send(request, stream=True, auth=None, follow_redirects=False)
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if attempt == _ATTEMPTS or request.method not in _REPEATABLE:
                    raise
                attempt += 1
            else:
                return response, attempt - 1

    async def _body(self, response: httpx2.Response) -> bytes:
        redirects = response.status_code in _REDIRECTS and "location" in response.headers
        limit = self._settings.fetch_max_bytes
        body = bytearray()
        # httpx2 decodes at most 1 MiB at a time, so a bomb costs no more than the limit.
        async for chunk in response.aiter_bytes():
            body += chunk
            if redirects and len(body) > _MAX_REDIRECT_BODY_BYTES:
                return b""
            if max(len(body), response.num_bytes_downloaded) > limit:
                raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {limit} bytes."))
            await anyio.lowlevel.checkpoint()
        return bytes(body)

    @property
    def _client(self) -> httpx2.AsyncClient:
        if self._http is None:
            raise RuntimeError("the client is not open")
        return self._http


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """httpx's transport over a pool that connects through the guard, and never through a proxy."""

    def __init__(self, trusted: ssl.SSLContext, backend: httpcore2.AsyncNetworkBackend) -> None:
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted,
            max_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
            http2=True,
            network_backend=backend,
        )


def _trusted(ca_file: str) -> ssl.SSLContext:
    context = httpx2.create_ssl_context(trust_env=False)
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


@contextmanager
def _faults() -> Generator[None]:
    try:
        yield
    except httpx2.TimeoutException as error:
        raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error
    except httpx2.ConnectError as error:
        code = Code.NETWORK_TLS_FAILED if _broke_in_tls(error) else Code.NETWORK_CONNECTION_FAILED
        raise FaultError(fault(code)) from error
    except httpx2.DecodingError as error:
        message = "The site's compressed answer cannot be unpacked."
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED, message)) from error
    except httpx2.HTTPError as error:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED)) from error


def _broke_in_tls(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        cause = cause.__cause__ or cause.__context__
    return False
