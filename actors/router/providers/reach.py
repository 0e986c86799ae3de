"""How providers are connected to: public addresses over TLS, and the hosts that the operator has named."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Collection, Iterable
from ipaddress import ip_address
from typing import Final

import anyio
import httpcore2
import httpx2

from actors.addresses import allowed, names_private_network
from actors.router.provider import ProviderError
from protocol.models import CallErrorKind

CONNECT_S: Final = 10.0
WRITE_S: Final = 60.0
CONNECTIONS: Final = 512
"""To one provider at once at most; what comes beyond waits for its turn until its limit for the first token."""

_HOST: Final = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]


def why_not_reached(base_url: str, hosts: Collection[str]) -> str | None:
    """Return why a base URL is not used, or None where it may be: `hosts` are HOST:PORT that the operator has named."""
    try:
        url = httpx2.URL(base_url)
        host, port = url.host, _port_of(url)
    except (httpx2.InvalidURL, ValueError):
        return "the base URL is no URL"
    if host and not _HOST.fullmatch(host):
        return "the base URL has no host that can be"
    if url.scheme not in ("http", "https") or not host or url.userinfo or url.query or url.fragment:
        return "the base URL is to be http(s)://HOST[:PORT][/PATH], without a password"
    if _named(host, port) in hosts:
        return None
    if url.scheme != "https":
        return f"{_named(host, port)} is reached without TLS only where the setting model_hosts names it"
    try:
        private = not allowed(ip_address(host))
    except ValueError:
        private = names_private_network(host.rstrip("."))
    return f"{_named(host, port)} is private: the setting model_hosts must name it" if private else None


def is_named(base_url: str, hosts: Collection[str]) -> bool:
    """Return whether a base URL is on a host that the operator has named."""
    url = httpx2.URL(base_url)
    return _named(url.host, _port_of(url)) in hosts


def check_resolved(base_url: str, hosts: Collection[str]) -> None:
    """Look up a base URL that somebody else will connect to; blocks.

    Raises:
        ProviderError: it leads to a private address, and nobody has named it.
        OSError: it leads nowhere.
    """
    url = httpx2.URL(base_url)
    host, port = url.host, _port_of(url)
    if _named(host, port) not in hosts:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        _check_public(host, port, (str(entry[4][0]) for entry in entries))


async def connection(base_url: str, hosts: Collection[str], headers: dict[str, str]) -> httpx2.AsyncClient:
    """Open a client of a provider; nothing but what is allowed is connected to, whatever its name resolves to."""
    timeout = httpx2.Timeout(None, connect=CONNECT_S, write=WRITE_S)
    # 35 ms, and megabytes for the authorities: not for a server that speaks plain HTTP
    context = await anyio.to_thread.run_sync(_authorities) if httpx2.URL(base_url).scheme == "https" else None
    pool = httpcore2.AsyncConnectionPool(
        ssl_context=context,
        max_connections=CONNECTIONS,
        keepalive_expiry=30.0,
        network_backend=_ProviderBackend(hosts),
    )
    # HTTP/1.1: who leaves closes the connection, which every server understands as the end of the request
    # trust_env off: no proxy of the environment gets to see prompts
    return httpx2.AsyncClient(
        base_url=base_url, headers=headers, timeout=timeout, transport=_PoolTransport(pool), trust_env=False
    )


def _authorities() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


def _port_of(url: httpx2.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _named(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class _PoolTransport(httpx2.AsyncHTTPTransport):
    """httpx's transport over a pool of ours."""

    def __init__(self, pool: httpcore2.AsyncConnectionPool) -> None:
        self._pool = pool


class _ProviderBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the hosts that are named, and elsewhere to the public address that was checked."""

    def __init__(self, hosts: Collection[str]) -> None:
        self._hosts = hosts
        # Its stand-in for a missing anyio is no backend.
        self._inner: httpcore2.AsyncNetworkBackend = httpcore2.AnyIOBackend()  # pyright: ignore[reportAttributeAccessIssue]

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve and check, and connect to the first address that accepts.

        Raises:
            ProviderError: the address is private, and nobody has named it.
        """
        if _named(host, port) in self._hosts:
            return await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        addresses = await _resolve(host, port, timeout)
        _check_public(host, port, addresses)
        for address in addresses[:-1]:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait, for httpcore's retries."""
        await anyio.sleep(seconds)


def _check_public(host: str, port: int, addresses: Iterable[str]) -> None:
    if not all(allowed(ip_address(address.partition("%")[0])) for address in addresses):
        message = f"{_named(host, port)} leads to a private address: the setting model_hosts must name it"
        raise ProviderError(CallErrorKind.NETWORK, message)


async def _resolve(host: str, port: int, timeout: float | None) -> tuple[str, ...]:  # noqa: ASYNC109 - as above
    try:
        with anyio.fail_after(timeout):
            entries = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout(error) from error
    except (OSError, UnicodeError) as error:
        raise httpcore2.ConnectError(error) from error
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))
