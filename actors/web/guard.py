"""Refuses every address that is not on the public internet, at the URL and again at the socket."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from ipaddress import ip_address, ip_network

import anyio
import httpcore2
import httpx2
from msgspec import structs

from actors.addresses import Address, Network, allowed, names_private_network
from actors.web.polled_stream import polled
from protocol.browse import MAX_URL_CHARS
from protocol.faults import Code, Fault, FaultError, fault

SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns every address of a host name, in the order in which they are to be tried."""

_WEB_PORTS = frozenset({80, 443})
_FIRST_FREE_PORT = 1_024
_LAST_PORT = 65_535
_SERVICE_PORTS = frozenset(
    {
        *(1433, 1434, 1521, 1719, 1720, 1723, 1883, 2049, 2181, 2375, 2376, 2377, 2379, 2380, 3260, 3306, 3389, 3659),
        *(4045, 4190, 4222, 4369, 5060, 5061, 5432, 5671, 5672, 5900, 5901, 5984, 5985, 5986, 6000, 6222, 6379, 6443),
        *(6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 8009, 8222, 8500, 9042, 9092, 9160, 9200, 9300, 10080),
        *(10250, 10255, 11211, 15672, 27017, 27018, 27019, 28015, 33060, 50000, 61616),
    }
)
"""Ports of databases, queues, remote shells and cluster managers, and those that browsers refuse (Fetch "bad port")."""

_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?\.?")
_MAX_TRIED = 4

_LOOKUPS = 64
"""Names that are looked up at once: more than the pages that one key may have at work in a replica."""

_REFUSED_AFTER_S = 0.15
"""A name that nobody knows and one of a private network are refused after the same time, and in the same words, so that
nobody learns what names a private network has."""

_FAULTS_OF_ADDRESSES = (Code.SECURITY_URL_BLOCKED, Code.SECURITY_ADDRESS_BLOCKED, Code.NETWORK_DNS_FAILED)


def check_url(url: str) -> httpx2.URL:
    """Parse an address that was requested, as it will be fetched; nothing parses it again.

    Raises:
        FaultError: SECURITY_URL_BLOCKED for what is never fetched, with what is wrong about it; its field is `url`.
    """
    with requested_address():
        return _read(url)


@contextmanager
def requested_address() -> Generator[None]:
    """Name the field `url` in the fault of an address that was requested, and not merely led to."""
    try:
        yield
    except FaultError as error:
        if error.fault.code not in _FAULTS_OF_ADDRESSES:
            raise
        raise FaultError(structs.replace(error.fault, field="url")) from error.__cause__


@lru_cache(256)  # an address is checked at each step of its way
def _read(url: str) -> httpx2.URL:
    if len(url) > MAX_URL_CHARS or _UNPRINTABLE.search(url):
        raise _blocked("The address holds spaces, control characters or a backslash, or is too long.")
    try:
        parsed = httpx2.URL(url)
        host, port = parsed.raw_host.decode("ascii").lower(), parsed.port
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise _blocked("The address is not a valid URL.") from error
    if parsed.scheme not in ("http", "https"):
        raise _blocked("Only http and https addresses are fetched.")
    if parsed.userinfo or "@" in parsed.netloc.decode("ascii", "replace"):
        raise _blocked("The address holds a user name or password; use a session profile instead.")
    if _literal(host) is None and not _HOST.fullmatch(host):
        raise _blocked("The host of the address is not a valid name.")
    if port is not None and not port_allowed(port):
        raise _blocked(_port_refused(port))
    return parsed


def check_redirect(base: httpx2.URL, location: str) -> httpx2.URL:
    """Parse where a redirect leads, by the rules of `check_url`; the fragment of `base` lives on if it names none.

    Raises:
        FaultError: SECURITY_URL_BLOCKED.
    """
    location = location.strip().replace(" ", "%20")
    if _UNPRINTABLE.search(location):
        raise _blocked("The site redirects to an address with control characters or a backslash.")
    try:
        target = base.join(location)
    except (httpx2.InvalidURL, UnicodeError, ValueError) as error:
        raise _blocked("The site redirects to an address that is not a valid URL.") from error
    if base.fragment and not target.fragment:
        target = target.copy_with(fragment=base.fragment)
    return _read(str(target))


def port_allowed(port: int) -> bool:
    """Whether web pages may be fetched from a port."""
    return port in _WEB_PORTS or (_FIRST_FREE_PORT <= port <= _LAST_PORT and port not in _SERVICE_PORTS)


def _port_refused(port: int) -> str:
    """Say why no pages are fetched from a port, and what whoever serves them may do."""
    why = (
        "databases, queues, remote shells and the like listen there, or browsers refuse it"
        if port in _SERVICE_PORTS
        else "below 1024, pages are read from 80 and 443 alone"
    )
    return f"Port {port} is never fetched: {why}. A page that is served on another port, such as 8080, can be read."


def networks(cidrs: Iterable[str]) -> tuple[Network, ...]:
    """Parse the networks of WEFT_ALLOW_PRIVATE."""
    return tuple(ip_network(cidr) for cidr in cidrs)


def is_own(host: str, own: tuple[Network, ...]) -> bool:
    """Return whether a host is written as an address that is private and that the operator has allowed."""
    try:
        address = ip_address(host.strip("[]"))
    except ValueError:
        return False
    return not allowed(address) and allowed(address, own)


def check_without_lookup(url: str, allow_private: Iterable[Network]) -> httpx2.URL:
    """Parse an address, and refuse what can be refused without looking up its name.

    Raises:
        FaultError: SECURITY_URL_BLOCKED or SECURITY_ADDRESS_BLOCKED.
    """
    checked, own = check_url(url), tuple(allow_private)
    host = checked.raw_host.decode("ascii").strip("[]").rstrip(".").lower()
    try:
        private = not allowed(ip_address(host.partition("%")[0]), own)
    except ValueError:
        private = not own and names_private_network(host)
    if private:
        raise FaultError(private_address(host))
    return checked


async def resolve(host: str, port: int) -> Sequence[str]:
    """Resolve a host name by the system's resolver, in one of many threads: some servers of names never answer."""
    look_up = partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
    entries = await asyncio.get_running_loop().run_in_executor(_resolvers(), look_up)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in entries))


@cache
def _resolvers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_LOOKUPS, "resolver")


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that passed `allowed`, and to the very address that was checked.

    A FaultError needs no translation: httpcore and httpx map only exceptions of their own and let others through.
    """

    def __init__(
        self,
        allow_private: tuple[Network, ...] = (),
        resolve: Resolve = resolve,
        inner: httpcore2.AsyncNetworkBackend | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._resolve = resolve
        # Its stand-in for a missing anyio is no backend.
        real: httpcore2.AsyncNetworkBackend = httpcore2.AnyIOBackend()  # pyright: ignore[reportAssignmentType]
        self._inner = inner or real

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Resolve once, check every answer, and connect to the first that accepts.

        Raises:
            FaultError: SECURITY_ADDRESS_BLOCKED, SECURITY_URL_BLOCKED or NETWORK_DNS_FAILED.
        """
        if not port_allowed(port):
            raise _blocked(_port_refused(port))
        until = None if timeout is None else anyio.current_time() + timeout
        refused_s = anyio.current_time() + _REFUSED_AFTER_S
        try:
            addresses = await self._checked(host, port, timeout)
        except FaultError as error:
            if error.fault.code is Code.NETWORK_DNS_FAILED:
                await anyio.sleep_until(refused_s if until is None else min(refused_s, until))
            raise
        for place, address in enumerate(addresses, start=1):
            left = None if until is None else (until - anyio.current_time()) / (len(addresses) - place + 1)
            try:
                return polled(await self._inner.connect_tcp(address, port, left, local_address, socket_options))
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if place == len(addresses):
                    raise
        raise _no_address(host)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: no page lives there."""
        del path, timeout, socket_options
        raise _blocked("Only http and https addresses are fetched.")

    async def sleep(self, seconds: float) -> None:
        """Wait, for httpcore's retries."""
        await anyio.sleep(seconds)

    async def _checked(self, host: str, port: int, timeout: float | None) -> tuple[str, ...]:  # noqa: ASYNC109
        literal = _literal(host)
        addresses = (str(literal),) if literal else await self._lookup(host, port, timeout)
        if not addresses:
            raise _no_address(host)
        public = tuple(address for address in addresses if self._allows(address))
        # Only `localhost` may be ::1 and 127.0.0.1 where the operator allowed one of them.
        if not public or (len(public) < len(addresses) and not _is_localhost(host)):
            raise FaultError(private_address(host)) if literal else _no_address(host)
        return public[:_MAX_TRIED]

    def _allows(self, address: str) -> bool:
        return allowed(ip_address(address.partition("%")[0]), self._allow_private)

    async def _lookup(self, host: str, port: int, timeout: float | None) -> tuple[str, ...]:  # noqa: ASYNC109
        name = host.lower().rstrip(".")
        if not _HOST.fullmatch(name):
            raise _blocked("The host of the address is not a valid name.")
        if not self._allow_private and names_private_network(name):
            raise FaultError(private_address(host))
        try:
            with anyio.fail_after(timeout):
                return tuple(await self._resolve(name, port))
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(error) from error
        except (OSError, UnicodeError) as error:
            raise _no_address(host) from error


def _is_localhost(host: str) -> bool:
    name = host.lower().rstrip(".")
    return name == "localhost" or name.endswith(".localhost")


def private_address(host: str) -> Fault:
    """Make the fault of an address, or of an ending, that is private as it is written, with the setting to change."""
    return fault(
        Code.SECURITY_ADDRESS_BLOCKED,
        f"{host} lies in a private network. Its operator can allow networks: WEFT_ALLOW_PRIVATE=127.0.0.0/8, say.",
    )


def _literal(host: str) -> Address | None:
    try:
        return None if "%" in host else ip_address(host)
    except ValueError:
        return None


def _blocked(message: str) -> FaultError:
    return FaultError(fault(Code.SECURITY_URL_BLOCKED, message))


def _no_address(host: str) -> FaultError:
    whole = "" if "." in host else "A whole address is wanted, such as https://example.com/. "
    message = (
        f"The host name {host} has no address on the public internet. {whole}"
        "An operator can allow private ones: WEFT_ALLOW_PRIVATE=127.0.0.0/8, say."
    )
    return FaultError(fault(Code.NETWORK_DNS_FAILED, message))
