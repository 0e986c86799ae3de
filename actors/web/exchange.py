"""Exchanges with sites: requests and responses, one exchange and its record, and the transports below the cache."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Hashable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Generic, TypeVar

import anyio
import anyio.lowlevel
import httpcore2
import httpx2
from msgspec import Struct

from actors import redact
from actors.addresses import Network
from actors.web import guard
from actors.web.cache_transport import Clock, Served
from actors.web.codings import DAMAGED, ends_early
from actors.web.cookies import Jar
from actors.web.host_limiter import HostLimiter, Turn
from protocol.browse import Freshness, NetworkRequest
from protocol.faults import Code, Fault, FaultError, fault

REDIRECTS = frozenset({301, 302, 303, 307, 308})
TO_GET = frozenset({301, 302})
"""Redirects that turn a POST into a GET, as browsers do (RFC 9110 §15.4); 303 does so to everything."""


_MAX_CONNECTIONS = 100
_KEEPALIVE_S = 30.0
_MAX_REDIRECT_BODY_BYTES = 65_536
_REPEATS = 1
"""A GET that broke off before it was answered is sent once more: a kept-alive connection may have been closed."""

_REPEATABLE = frozenset({"GET", "HEAD", "OPTIONS"})

A = TypeVar("A")


class WebRequest(Struct, frozen=True):
    """One resource to fetch: for itself, or on behalf of a page.

    `headers` are sent beside the client's own and replace those of the same name. `partition` keeps cached answers of
    one login from another's. With `follow` false a redirect is an answer like any other. A `sub_resource` of a page
    counts among the open requests to its host, but is not rate-limited as a page is. Of the body no more than
    `cut_bytes` is read, if set; otherwise a body that is too large is a fault. With `single_shot` nothing that broke
    off is sent again. What is fetched `as_page` is followed to where its document leads, as a browser would.
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
    as_page: bool = False


class WebResponse(Struct, frozen=True):
    """What a site answered at the end of its redirects: `url` is the last one, `body` is decoded.

    `from_cache` means that no body came over the network; `received_at` is when it came or was last confirmed by the
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


class SiteExchanges(Struct, frozen=True):
    """Makes exchanges with sites one by one, following no redirect, and records them without credentials."""

    http: httpx2.AsyncClient
    max_bytes: int
    clock: Clock

    async def make(
        self, sent: httpx2.Request, request: WebRequest, cookies: Jar
    ) -> tuple[WebResponse, httpx2.Response]:
        """Send a request and read its answer; what it sets goes into `cookies`.

        Raises:
            FaultError: CONTENT_TOO_LARGE, and what the transports raise.
        """
        started, at_ms = time.perf_counter(), time.time_ns() // 1_000_000
        response, retries = await self._send(sent, once=request.single_shot)
        try:
            cookies.extract_cookies(response)
            body, is_whole = await self._body(response, request.cut_bytes)
        finally:
            await response.aclose()
        took_ms = round((time.perf_counter() - started) * 1000)
        served: Served = response.extensions.get("caching") or Served(from_cache=False, received_at=self.clock())
        if is_whole and (keep := served.get("keep")) is not None:
            keep()
        answer = WebResponse(
            status=response.status_code,
            url=str(sent.url),
            headers=response.headers,
            body=body,
            content_type=response.headers.get("content-type", ""),
            from_cache=served["from_cache"],
            retry_count=retries,
            exchanges=(_record(sent, response, at_ms, took_ms, body if request.record_body else b""),),
            received_at=served["received_at"],
        )
        return answer, response

    async def _send(self, request: httpx2.Request, *, once: bool) -> tuple[httpx2.Response, int]:
        most, repeats = 0 if once or request.method not in _REPEATABLE else _REPEATS, 0
        while True:
            try:
                return await self.http.send(request, stream=True, auth=None, follow_redirects=False), repeats
            except (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError):
                if repeats == most:
                    raise
                repeats += 1

    async def _body(self, response: httpx2.Response, cut_bytes: int) -> tuple[bytes, bool]:
        """Read a body, unpacked; also return whether all of it was read."""
        redirects = response.status_code in REDIRECTS and "location" in response.headers
        body = bytearray()
        # httpx2 decodes at most 1 MiB at a time, so a bomb costs no more than the limit.
        async for chunk in response.aiter_bytes():
            if body:  # others come in between chunks
                await anyio.lowlevel.checkpoint()
            body += chunk
            if redirects and len(body) > _MAX_REDIRECT_BODY_BYTES:
                return b"", False
            if cut_bytes and len(body) >= cut_bytes:
                return bytes(body[:cut_bytes]), False
            if max(len(body), response.num_bytes_downloaded) > self.max_bytes:
                raise FaultError(fault(Code.CONTENT_TOO_LARGE, f"The page is larger than {self.max_bytes} bytes."))
        if ends_early(response):
            raise httpx2.DecodingError("the compressed body ends early")
        return bytes(body), True


def _record(sent: httpx2.Request, response: httpx2.Response, at_ms: int, took_ms: int, body: bytes) -> NetworkRequest:
    content_type = response.headers.get("content-type", "")
    return NetworkRequest(
        url=redact.url(str(sent.url)),
        method=sent.method,
        status=response.status_code,
        status_text=response.reason_phrase,
        headers=redact.headers(response.headers.multi_items()),
        request_headers=redact.headers(sent.headers.multi_items()),
        timestamp=at_ms,
        content_type=content_type,
        response_body=redact.json_body(body, content_type),
        duration=took_ms,
    )


@contextmanager
def faults() -> Generator[None]:
    """Raise as a FaultError what httpx raises."""
    try:
        yield
    except httpx2.TimeoutException as error:
        raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error
    except httpx2.ConnectError as error:
        code = Code.NETWORK_TLS_FAILED if _broke_in_tls(error) else Code.NETWORK_CONNECTION_FAILED
        raise FaultError(fault(code)) from error
    except httpx2.DecodingError as error:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED, DAMAGED)) from error
    except (httpx2.HTTPError, ssl.SSLError) as error:  # one of TLS in the middle of an answer is raised as it is
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED)) from error


class RequestCoalescer(Generic[A]):
    """Lets equal requests at the same time share one answer, by their key; a fault is shared as an answer is."""

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[A]] = {}

    async def once(self, key: Hashable, ask: Callable[[], Awaitable[A]]) -> tuple[A, bool]:
        """Call `ask`, or wait for the answer of a call under way; also return whether the call was one's own.

        The caller may be cancelled or run out of time: then the next who waits calls instead.

        Raises:
            FaultError: what the call ended in.
        """
        while (flight := self._flights.get(key)) is not None:
            await flight.landed.wait()
            if flight.answer is not None:
                return flight.answer, False
            if flight.fault is not None:
                raise FaultError(flight.fault)
        return await self._ask(key, ask), True

    async def _ask(self, key: Hashable, ask: Callable[[], Awaitable[A]]) -> A:
        flight = self._flights[key] = _Flight[A]()
        try:
            flight.answer = await ask()
        except FaultError as error:
            if error.fault.code is not Code.NETWORK_TIMEOUT:
                flight.fault = error.fault
            raise
        finally:
            del self._flights[key]
            flight.landed.set()
        return flight.answer


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


def trusted(ca_file: str) -> ssl.SSLContext:
    """Load the certificate authorities, which takes some milliseconds: call it in a thread.

    All clients of a process share the public ones: they take megabytes.
    """
    if not ca_file:
        return _public_authorities()
    context = httpx2.create_ssl_context(trust_env=False)
    context.load_verify_locations(ca_file)
    return context


@cache
def _public_authorities() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


class LimitedTransport(httpx2.AsyncBaseTransport):
    """A transport behind the limits of each host; the extension `turn` of a request is its Turn."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, limiter: HostLimiter, own: tuple[Network, ...]) -> None:
        """Send requests to addresses of the networks `own` at once: those are the operator's."""
        self._inner = inner
        self._limiter = limiter
        self._own = own

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Wait, send, and count the request as open until its body is through."""
        turn, host = request.extensions.get("turn"), request.url.raw_host.decode("ascii")
        if not isinstance(turn, Turn) or guard.is_own(host, self._own):
            return await self._inner.handle_async_request(request)
        await self._limiter.enter(host, turn)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException:
            self._limiter.leave(host)
            raise
        response.stream = through = _Through(response.stream, lambda: self._limiter.leave(host))
        try:
            await self._limiter.note_answer(host, response.status_code, response.headers.get("retry-after"))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await through.aclose()
            raise
        return response


class _Through(httpx2.AsyncByteStream):
    """A body that calls `closed` when it is closed."""

    def __init__(self, inner: object, closed: Callable[[], None]) -> None:
        assert isinstance(inner, httpx2.AsyncByteStream)  # noqa: S101 - httpx2's model speaks for both worlds
        self._inner = inner
        self._closed: Callable[[], None] | None = closed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            yield chunk

    async def aclose(self) -> None:
        """Close what the body comes from."""
        try:
            await self._inner.aclose()
        finally:
            closed, self._closed = self._closed, None
            if closed is not None:
                closed()


@dataclass
class _Flight(Generic[A]):
    """A request under way, and its answer or fault once it has one."""

    landed: anyio.Event = field(default_factory=anyio.Event)
    answer: A | None = None
    fault: Fault | None = None


def _broke_in_tls(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return not isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError)
        cause = cause.__cause__ or cause.__context__
    return False
