"""Asks servers that the operator has named: behind the address guard, without redirects, proxies or cookies."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

import anyio
import httpx2
from anyio import to_thread
from msgspec import Struct

from actors.settings import Settings
from actors.web.cookies import refusing_jar
from actors.web.exchange import GuardedTransport, faults, trusted
from actors.web.guard import GuardedBackend, check_url, networks
from protocol.faults import Code, Fault, FaultError, fault, rate_limited

_RETRYABLE: Final = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS})
_WITH_TIME: Final = frozenset({*_RETRYABLE, *range(500, 600)})
MAX_WAIT_MS: Final = 60_000
"""How long a server may have itself waited for."""


class OutsideAnswer(Struct, frozen=True):
    """What a server has answered: its body is cut where it is longer than was wanted."""

    status: int
    body: bytes
    cut: bool
    encoding: str


@dataclass
class OutsideClient:
    """Clients by the private networks that they may reach; each is made when it is first needed."""

    settings: Settings
    _open: AsyncExitStack = field(default_factory=AsyncExitStack, init=False, repr=False)
    _clients: dict[tuple[str, ...], httpx2.AsyncClient] = field(
        default_factory=dict[tuple[str, ...], httpx2.AsyncClient], init=False, repr=False
    )

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[OutsideClient]:
        """Close every connection when the block ends."""
        async with self._open:
            yield self

    async def ask(  # noqa: PLR0913 - what an HTTP request is
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        content: bytes = b"",
        private: tuple[str, ...] = (),
        timeout_ms: int,
        max_bytes: int,
    ) -> OutsideAnswer:
        """Ask a server once, and return what it answers with a status of 2xx.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, or what its status means; retryable where another try may do.
        """
        checked = check_url(url)
        client = await self._client(private)
        try:
            with anyio.fail_after(timeout_ms / 1000), faults():
                request = client.build_request(
                    method, checked, headers=dict(headers), content=content or None, timeout=timeout_ms / 1000
                )
                response = await client.send(request, stream=True)
                try:
                    return await _read(response, max_bytes)
                finally:
                    await response.aclose()
        except TimeoutError as error:
            raise FaultError(fault(Code.NETWORK_TIMEOUT)) from error

    async def _client(self, private: tuple[str, ...]) -> httpx2.AsyncClient:
        if private not in self._clients:
            context = await to_thread.run_sync(trusted, self.settings.fetch_ca_file)
            backend = GuardedBackend(networks((*self.settings.allow_private, *private)))
            client = httpx2.AsyncClient(
                transport=GuardedTransport(context, backend),
                trust_env=False,
                follow_redirects=False,
                cookies=refusing_jar(),
                headers={"User-Agent": self.settings.fetch_user_agent},
            )
            if private in self._clients:  # somebody else was faster
                return self._clients[private]
            self._clients[private] = client
            await self._open.enter_async_context(client)
        return self._clients[private]


async def _read(response: httpx2.Response, max_bytes: int) -> OutsideAnswer:
    body = bytearray()
    async for chunk in response.aiter_bytes(max_bytes):
        body += chunk
        if len(body) > max_bytes:
            break
    if not HTTPStatus.OK <= response.status_code < HTTPStatus.MULTIPLE_CHOICES:
        raise FaultError(_refusal(response))
    encoding = response.charset_encoding or "utf-8"
    return OutsideAnswer(response.status_code, bytes(body[:max_bytes]), len(body) > max_bytes, encoding)


def _refusal(response: httpx2.Response) -> Fault:
    status, host = response.status_code, response.url.host
    message = f"{host} has answered {status}."
    if status in _RETRYABLE or (status in _WITH_TIME and "retry-after" in response.headers):
        return rate_limited(message, _delay_ms(response), status)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return fault(Code.HTTP_SERVER_ERROR, message, http_status=status)
    if status < HTTPStatus.BAD_REQUEST:
        return fault(Code.HTTP_CLIENT_ERROR, f"{message} Redirects are not followed.", http_status=status)
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return fault(Code.AUTH_INVALID_CREDENTIALS, message, http_status=status)
    return fault(Code.HTTP_CLIENT_ERROR, message, http_status=status)


def _delay_ms(response: httpx2.Response) -> int:
    wanted = response.headers.get("retry-after", "")
    return min(int(wanted[:6]) * 1_000, MAX_WAIT_MS) if wanted.isascii() and wanted.isdigit() and int(wanted) else 1_000
