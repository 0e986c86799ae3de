"""Reads robots.txt once per site and term, for every tier and replica, and checks requests by it (RFC 9309)."""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from http import HTTPStatus

import anyio
import structlog
from msgspec import Struct
from msgspec.structs import replace
from protego import Protego

from bus import TransportError
from bus.stores import KeyValues
from protocol.faults import Category, Code, FaultError, fault
from protocol.web import RobotsFile

log = structlog.stdlib.get_logger()

SHARED_ROBOTS_AWAY = "shared_robots_away"

MAX_BYTES = 512_000
"""The bytes that are read of a robots.txt at most; RFC 9309 §2.5 wants at least 500 KiB."""

TERM_S = 86_400.0
"""The longest for which one may be believed (RFC 9309 §2.4)."""

_SOON_S = 300.0
"""After how long a site that could not be reached is asked again."""

_NO_SUCH_PLACE = frozenset({Code.SECURITY_ADDRESS_BLOCKED, Code.SECURITY_URL_BLOCKED, Code.NETWORK_DNS_FAILED})
"""Failures that say more of the site than that it keeps programs out."""

_SITES = 1_000
_PRODUCT = re.compile(r"[A-Za-z_-]+")


class RobotsResponse(Struct, frozen=True):
    """The answer to the request for a robots.txt; its status is 0 for a site that was not reached.

    `unreached` says why, where that was the network.
    """

    status: int
    body: bytes = b""
    unreached: Code | None = None


class RobotsRules(Struct, frozen=True):
    """The rules of one robots.txt."""

    file: RobotsFile
    parsed: Protego

    def allows(self, url: str, product: str) -> bool:
        """Return whether a page may be fetched."""
        if self.file.access == "ruled":
            return self.parsed.can_fetch(url, product)
        return self.file.access == "allowed"

    def interval_ms(self, product: str) -> float:
        """Return the milliseconds that it wants between two requests."""
        return max(0.0, (self.parsed.crawl_delay(product) or 0.0) * 1000)


class Robots:
    """The robots.txt of every site."""

    def __init__(
        self,
        fetch: Callable[[str], Awaitable[RobotsResponse]],
        user_agent: str,
        clock: Callable[[], float],
        files: KeyValues[RobotsFile] | None = None,
        term_s: float = TERM_S,
    ) -> None:
        """Read files by `fetch`, and obey their rules for the product of `user_agent`.

        `fetch` raises only where no page of the site can be fetched either.
        """
        self._fetch = fetch
        self._product = product(user_agent)
        self._now = clock
        self._files = files
        self._term_s = min(term_s, TERM_S)
        self._read: OrderedDict[str, RobotsRules] = OrderedDict()
        self._turns: dict[str, anyio.Lock] = {}

    async def check(self, url: str) -> float:
        """Return the milliseconds that are to lie between two requests to the site of `url`.

        Raises:
            FaultError: BLOCKED_BY_ROBOTS where its robots.txt forbids the page, or never could be read; where
                that is for want of the site, what the network failed with.
        """
        rules = await self.rules(url)
        if not rules.allows(url, self._product):
            if rules.file.unreached is not None:
                why = "The site cannot be reached at the moment, not even for its robots.txt."
                raise FaultError(fault(rules.file.unreached, why))
            message = None if rules.file.access == "ruled" else "The site's robots.txt cannot be read at the moment."
            raise FaultError(fault(Code.BLOCKED_BY_ROBOTS, message))
        return rules.interval_ms(self._product)

    async def known(self, url: str) -> tuple[bool, float] | None:
        """Return whether the robots.txt of a site allows a page, and its interval in ms, if any replica has read it."""
        origin = _origin(url)
        rules = self._read.get(origin)
        if rules is None or not self._holds(rules.file):
            file = await self._shared(origin)
            if file is None or not self._holds(file):
                return None
            rules = RobotsRules(file, Protego.parse(_text(file)))
        return rules.allows(url, self._product), rules.interval_ms(self._product)

    async def rules(self, url: str) -> RobotsRules:
        """Return the rules of the robots.txt of the site of `url`."""
        origin = _origin(url)
        known = self._read.get(origin)
        if known is not None and self._holds(known.file):
            self._read.move_to_end(origin)
            return known
        async with self._turns.setdefault(origin, anyio.Lock()) as _:
            try:
                return await self._renewed(origin)
            finally:
                if not self._turns[origin].statistics().tasks_waiting:
                    del self._turns[origin]

    async def _renewed(self, origin: str) -> RobotsRules:
        known = self._read.get(origin)
        if known is not None and self._holds(known.file):
            return known
        file = await self._shared(origin)
        if file is None or not self._holds(file):
            former = file or (known.file if known else None)
            file = self._judged(await self._fetch(f"{origin}/robots.txt"), former)
            await self._share(origin, file)
        rules = self._read[origin] = RobotsRules(file, Protego.parse(_text(file)))
        while len(self._read) > _SITES:
            self._read.popitem(last=False)
        return rules

    def _holds(self, file: RobotsFile) -> bool:
        term = _SOON_S if file.access == "refused" else self._term_s
        return self._now() - file.fetched_at < term

    def _judged(self, response: RobotsResponse, former: RobotsFile | None) -> RobotsFile:
        """Return what an answer means: 4xx allows all, an unreachable site nothing but what its last file allows."""
        now = self._now()
        if HTTPStatus.OK <= response.status < HTTPStatus.MULTIPLE_CHOICES:
            return RobotsFile(access="ruled", fetched_at=now, packed=zlib.compress(response.body[:MAX_BYTES]))
        if HTTPStatus.MULTIPLE_CHOICES <= response.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return RobotsFile(access="allowed", fetched_at=now)
        if former is None or former.access == "refused":
            return RobotsFile(access="refused", fetched_at=now, unreached=response.unreached)
        # Believed for a little longer, then the site is asked again (RFC 9309 §2.3.1.4).
        return replace(former, fetched_at=now - max(self._term_s - _SOON_S, 0.0))

    async def _shared(self, origin: str) -> RobotsFile | None:
        if self._files is None:
            return None
        try:
            change = await self._files.get(_key(origin))
        except (TransportError, FaultError) as error:
            log.warning(SHARED_ROBOTS_AWAY, reason=type(error).__name__)
            return None
        return change.value if change else None

    async def _share(self, origin: str, file: RobotsFile) -> None:
        if self._files is None:
            return
        try:
            await self._files.put(_key(origin), file)
        except TransportError as error:
            log.warning(SHARED_ROBOTS_AWAY, reason=type(error).__name__)


def response_of(error: FaultError) -> RobotsResponse:
    """Return what it means that a robots.txt could not be fetched.

    Raises:
        FaultError: `error`, where no page of the site can be fetched either.
    """
    code = error.fault.code
    if code in _NO_SUCH_PLACE:
        raise error
    if error.fault.category is Category.NETWORK:
        return RobotsResponse(0, unreached=code)
    return RobotsResponse(HTTPStatus.NOT_FOUND if code is Code.HTTP_TOO_MANY_REDIRECTS else 0)


def product(user_agent: str) -> str:
    """Return the product token of a User-Agent (RFC 9309 §2.2.1)."""
    token = _PRODUCT.match(user_agent)
    return token[0] if token else user_agent


def _text(file: RobotsFile) -> str:
    return zlib.decompress(file.packed).decode("utf-8-sig", "replace") if file.packed else ""


def _origin(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split('[/?#]', rest, maxsplit=1)[0]}".lower()


def _key(origin: str) -> str:
    return blake2b(origin.encode(), digest_size=16).hexdigest()
