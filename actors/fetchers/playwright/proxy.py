"""The only way out of the browser: a forward proxy on loopback that connects through the address guard."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from http import HTTPStatus
from urllib.parse import urlsplit

import anyio
import anyio.abc
import h11
import httpcore2
import httpx2
from anyio.abc import SocketAttribute

from actors.fetchers.playwright.proxy_client import CHUNK_BYTES, Client, Headers
from actors.fetchers.playwright.single_attempts import SingleAttempts
from actors.web.codings import DAMAGED, CodingWatch
from protocol.faults import Code, Fault, FaultError, fault

LOOPBACK = "127.0.0.1"
_MAX_CONNECTIONS = 1_024
"""A browser opens 32 to a proxy for each context, and some for WebSockets."""

_MAX_REFUSALS = 1_024
_MAX_BYTES = 200_000_000
"""Bytes that one connection may receive: a page that downloads without end fills no disk."""

_MAX_WATCHED_BYTES = 30_000_000
"""Bytes that are unpacked at most to see whether a document comes to its end."""

_CLOSE_S = 1.0
_KEEPALIVE_S = 15.0
_SILENCE_S = 120.0
"""How long a site may send nothing in the middle of an answer."""

_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te"}
    | {b"trailer", b"transfer-encoding", b"upgrade"}
)
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_UNSIZED = frozenset({204, 304})
_BROKEN = (
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    h11.ProtocolError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    OSError,
    ValueError,
)
"""Errors that end one connection, and concern no other."""


class Proxy:
    """Speaks CONNECT and plain HTTP/1.1 with one browser, which authenticates by `username` and `password`.

    A refusal closes the connection without a response, which a page could take for a site's; `refusal` has the reason.
    `single_attempts` are the visits that allow no retry.
    """

    def __init__(
        self, backend: httpcore2.AsyncNetworkBackend, connect_timeout_ms: int, max_bytes: int = _MAX_BYTES
    ) -> None:
        self.username = "weft"
        self.password = secrets.token_urlsafe(32)
        self.server = ""
        self.port = 0
        self.single_attempts = SingleAttempts()
        self._backend = backend
        self._max_bytes = max_bytes
        self._connect_s = connect_timeout_ms / 1000
        self._refusals: OrderedDict[str, Fault] = OrderedDict()
        self._connections = 0
        self._credentials = b"Basic " + b64encode(f"{self.username}:{self.password}".encode())

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Listen on a port of its own while the block lasts."""
        async with (
            await anyio.create_tcp_listener(local_host=LOOPBACK) as listener,
            httpcore2.AsyncConnectionPool(
                network_backend=self._backend, max_connections=_MAX_CONNECTIONS, keepalive_expiry=_KEEPALIVE_S
            ) as pool,
            anyio.create_task_group() as tasks,
        ):
            self.port = int(listener.extra(SocketAttribute.local_port))  # noqa: S610 - no Django here
            self.server = f"http://{LOOPBACK}:{self.port}"

            async def accept(stream: anyio.abc.SocketStream) -> None:
                await self._accept(stream, pool)

            tasks.start_soon(listener.serve, accept)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    def refusal(self, url: str) -> Fault | None:
        """Return the fault of the last connection to the host of `url`, or answer of it, if that failed."""
        return self._refusals.get(_authority(url))

    async def _accept(self, stream: anyio.abc.SocketStream, pool: httpcore2.AsyncConnectionPool) -> None:
        self._connections += 1
        try:
            if self._connections <= _MAX_CONNECTIONS:
                await self._serve(Client(stream), pool)
        except _BROKEN:
            pass  # one of both is gone
        finally:
            self._connections -= 1
            with anyio.move_on_after(_CLOSE_S, shield=True):
                await anyio.aclose_forcefully(stream)

    async def _serve(self, client: Client, pool: httpcore2.AsyncConnectionPool) -> None:
        while (request := await client.request()) is not None:
            if not self._authenticated(request):
                await client.skip()
                await client.refuse(407, [(b"Proxy-Authenticate", b'Basic realm="weft"')])
            elif request.method == b"CONNECT":
                await self._tunnel(client, request.target.decode("ascii", "replace"))
                return
            else:
                await self._forward(client, request, pool)
            if not client.next_cycle():
                return

    def _authenticated(self, request: h11.Request) -> bool:
        credentials = next((value for name, value in request.headers if name == b"proxy-authorization"), b"")
        return secrets.compare_digest(credentials, self._credentials)

    # -- CONNECT -------------------------------------------------------------------------------------------------------

    async def _tunnel(self, client: Client, authority: str) -> None:
        address = _host_and_port(f"//{authority}")
        if address is None:
            return
        with self._recording(_join(*address)):
            site = await self._backend.connect_tcp(*address, self._connect_s)
        try:
            await client.connected()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_copy, client.tunnelled, site.write, tasks.cancel_scope)
                tasks.start_soon(_copy, lambda: _chunks(site, self._max_bytes), client.stream.send, tasks.cancel_scope)
        finally:
            with anyio.move_on_after(_CLOSE_S, shield=True), suppress(*_BROKEN):
                await site.aclose()

    # -- http:// -------------------------------------------------------------------------------------------------------

    async def _forward(self, client: Client, request: h11.Request, pool: httpcore2.AsyncConnectionPool) -> None:
        target = request.target.decode("ascii", "replace")
        address = _host_and_port(target)
        if address is None or not target.startswith("http://"):
            await client.refuse(400, [(b"Connection", b"close")])
            return
        if self.single_attempts.exhausted(target):
            raise anyio.BrokenResourceError
        sized = any(name in (b"content-length", b"transfer-encoding") for name, _ in request.headers)
        forwarded = self._forwarded(client if sized else None, request, target, address)
        if sized:
            await self._exchange(client, forwarded, target, pool)
            return
        await client.skip()
        async with client.while_connected():
            await self._exchange(client, forwarded, target, pool)

    async def _exchange(
        self, client: Client, forwarded: httpcore2.Request, target: str, pool: httpcore2.AsyncConnectionPool
    ) -> None:
        try:
            with self._recording(_authority(target)):
                response = await pool.handle_async_request(forwarded)
        except _BROKEN:
            self.single_attempts.failed(target)
            raise
        for name, value in response.headers:
            if name.lower() == b"location":
                self.single_attempts.redirected(target, value.decode("latin-1"))
        try:
            body = _body(response, self._max_bytes)
            headers = _end_to_end(response.headers)
            if _is_coded_page(headers):
                body = _whole(body, CodingWatch(headers, _MAX_WATCHED_BYTES))
            with self._recording(_authority(target)):
                await client.respond(response.status, _reason(response.status), headers, body)
        finally:
            with anyio.move_on_after(_CLOSE_S, shield=True), suppress(*_BROKEN):
                await response.aclose()

    def _forwarded(
        self, body: Client | None, request: h11.Request, target: str, address: tuple[str, int]
    ) -> httpcore2.Request:
        parts = urlsplit(target)
        path = target[len(f"{parts.scheme}://{parts.netloc}") :] or "/"
        headers = _end_to_end(request.headers.raw_items())
        url = httpcore2.URL(scheme=b"http", host=address[0].encode(), port=address[1], target=path.encode())
        return httpcore2.Request(
            request.method,
            url,
            headers=headers,
            content=body.body() if body else None,
            extensions={"timeout": {"connect": self._connect_s, "read": _SILENCE_S, "write": _SILENCE_S}},
        )

    @contextmanager
    def _recording(self, authority: str) -> Generator[None]:
        """Record why there was no whole answer of `authority`; raises it as a broken connection."""
        try:
            yield
        except FaultError as error:
            self._refuse(authority, error.fault)
            raise anyio.BrokenResourceError from error
        except httpcore2.TimeoutException:
            self._refuse(authority, fault(Code.NETWORK_TIMEOUT))
            raise
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError):
            self._refuse(authority, fault(Code.NETWORK_CONNECTION_FAILED))
            raise
        else:
            self._refusals.pop(authority, None)

    def _refuse(self, authority: str, reason: Fault) -> None:
        self._refusals[authority] = reason
        self._refusals.move_to_end(authority)
        if len(self._refusals) > _MAX_REFUSALS:
            self._refusals.popitem(last=False)


async def _copy(
    source: Callable[[], AsyncGenerator[bytes]], sink: Callable[[bytes], Awaitable[None]], both: anyio.CancelScope
) -> None:
    """Copy one direction of a tunnel; when it ends, both are cancelled."""
    try:
        with suppress(*_BROKEN):
            async with aclosing(source()) as chunks:
                async for chunk in chunks:
                    await sink(chunk)
    finally:
        both.cancel()


async def _chunks(site: httpcore2.AsyncNetworkStream, left: int) -> AsyncGenerator[bytes]:
    while left > 0 and (chunk := await site.read(CHUNK_BYTES)):
        left -= len(chunk)
        yield chunk


async def _body(response: httpcore2.Response, left: int) -> AsyncGenerator[bytes]:
    if isinstance(response.stream, AsyncIterable):
        async for chunk in response.stream:
            left -= len(chunk)
            if left < 0:
                raise anyio.BrokenResourceError
            yield chunk


def _is_coded_page(headers: Headers) -> bool:
    """Whether an answer is a document that is compressed: of such a one a browser shows the half it has."""
    values = {name.lower(): value.lower() for name, value in headers}
    return b"content-encoding" in values and b"html" in values.get(b"content-type", b"html")


async def _whole(body: AsyncGenerator[bytes], watch: CodingWatch) -> AsyncGenerator[bytes]:
    """Pass a compressed body on, one piece behind; its last piece comes only where it is whole.

    Raises:
        FaultError: NETWORK_CONNECTION_FAILED, it ends early, or cannot be unpacked.
    """
    held = b""
    async with aclosing(body):
        async for chunk in body:
            if held:
                yield held
            held = chunk
            try:
                watch.feed(chunk)
            except httpx2.DecodingError as error:
                raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED, DAMAGED)) from error
    if watch.ends_early:
        raise FaultError(fault(Code.NETWORK_CONNECTION_FAILED, DAMAGED))
    if held:
        yield held


def _reason(status: int) -> bytes:
    """Return the standard reason phrase of a status: no page can see another."""
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""


def _end_to_end(headers: list[tuple[bytes, bytes]]) -> Headers:
    named = {
        token.strip().lower()
        for name, value in headers
        if name.lower() in (b"connection", b"proxy-connection")
        for token in value.split(b",")
    }
    return [(name, value) for name, value in headers if name.lower() not in _HOP_BY_HOP | named]


def _authority(url: str) -> str:
    address = _host_and_port(url)
    return _join(*address) if address else ""


def _join(host: str, port: int) -> str:
    return f"{host.lower()}:{port}"


def _host_and_port(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or _DEFAULT_PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (host, port) if host and port else None
