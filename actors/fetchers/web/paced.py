"""Sends requests when it is their turn, and hears what the host says to that."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from ipaddress import ip_address

import anyio
import httpx2

from actors.fetchers.web.guard import Network, allowed, networks
from actors.fetchers.web.pace import Pace, Turn


class PacedTransport(httpx2.AsyncBaseTransport):
    """A transport behind the pace of each host; the extension `turn` of a request is its Turn."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, pace: Pace, own: Iterable[str]) -> None:
        """Hold nobody up who asks an address of the networks `own`: those are the operator's."""
        self._inner = inner
        self._pace = pace
        self._own = networks(own)

    async def aclose(self) -> None:
        """Close the other transport."""
        await self._inner.aclose()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Wait, send, and count the request as open until its body is through."""
        turn, host = request.extensions.get("turn"), request.url.host
        if not isinstance(turn, Turn) or owned(host, self._own):
            return await self._inner.handle_async_request(request)
        await self._pace.enter(host, turn)
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException:
            self._pace.leave(host)
            raise
        response.stream = through = _Through(response.stream, lambda: self._pace.leave(host))
        try:
            await self._pace.heard(host, response.status_code, response.headers.get("retry-after"))
        except BaseException:
            with anyio.CancelScope(shield=True):
                await through.aclose()
            raise
        return response


def owned(host: str, own: tuple[Network, ...]) -> bool:
    """Return whether a host is written as an address that is private and that the operator has allowed."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return not allowed(address) and allowed(address, own)


class _Through(httpx2.AsyncByteStream):
    """A body that tells when it is closed."""

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
