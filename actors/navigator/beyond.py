"""Evidence of a doubtful page from beyond it: what its host answers to an address that cannot exist, and elsewhere."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

import anyio
import structlog
from msgspec import Struct, structs

from actors.navigator.hosts import site_key_of
from actors.navigator.sketches import BRIEF, SAME_TEXT, Sketch, similarity, sketch_of
from bus import Requester, Tables, TransportError
from bus.clock import now_ms
from bus.recording import chance
from bus.stores import KeyTable
from protocol import subjects
from protocol.codec import MalformedError
from protocol.domains import AbsentPage, HostTexts, TextPlace
from protocol.faults import FaultError
from protocol.pages import BrowsePage, Fetched, FetchPage
from protocol.subjects import ABSENT_PAGES, HOST_TEXTS
from protocol.tiers import RenderTier

log = structlog.stdlib.get_logger()

EVIDENCE_NOT_HAD = "evidence_beyond_the_page_not_had"

MAX_PLACES = 32
"""Texts of a host that are remembered, the newest of them."""

PROBE_MS = 5_000
"""What the answer to an address that cannot exist may take."""

POLL_MS = 100
LAPSED_MS = 60_000
"""After so long nobody waits any more for a replica that began to ask and has not said what came of it."""

KEPT_MS = subjects.ABSENT_PAGES.ttl_ms or 0


class Beyond(Struct, frozen=True):
    """How like the page is what its host answers to an address that cannot exist (None: not known), from 0 to 1.

    `same_elsewhere`: another address of the host gave the same text.
    """

    absent_alike: float | None = None
    same_elsewhere: bool = False

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return self.absent_alike is not None or self.same_elsewhere


class HostEvidence(Protocol):
    """What a browse asks where a page alone does not say what it is."""

    async def of(self, request: BrowsePage, page: Fetched, left_ms: int) -> Beyond:
        """Return what is known beyond the page, within `left_ms`."""
        ...


class NoEvidence:
    """Looks at nothing but the page."""

    async def of(self, request: BrowsePage, page: Fetched, left_ms: int) -> Beyond:
        """Return nothing."""
        del request, page, left_ms
        return Beyond()


class EvidenceBus(Requester, Tables, Protocol):
    """What evidence needs of the bus."""


@dataclass
class SharedEvidence:
    """What all navigators know of hosts with doubtful pages; `probe` lets it ask each for one absent page a day.

    Nothing is asked, kept or compared of pages that were had with a login: what they say is their user's own.
    """

    bus: EvidenceBus
    probe: bool
    clock: Callable[[], int] = now_ms
    token: Callable[[], str] = field(default=lambda: secrets.token_hex(8))

    async def of(self, request: BrowsePage, page: Fetched, left_ms: int) -> Beyond:
        """Return what is known beyond the page, within `left_ms`; what cannot be had counts as not known."""
        site, sketch = site_key_of(request.url), sketch_of(page.evidence.visible)
        if site is None or not sketch or request.options.session_profile or "@" in urlsplit(request.url).netloc:
            return Beyond()
        same, alike = False, None
        with anyio.move_on_after(left_ms / 1_000):
            try:
                same = await self._same_elsewhere(site.key, request.url, sketch[:BRIEF])
                token = chance(self.token)
                fetch = FetchPage(url=absent_address(request.url, token), obey_robots=True, single_shot=True)
                absent = await self._absent_page(site.key, fetch, page.tier, left_ms)
                if absent is not None and absent.sketch and absent.tier is page.tier:
                    alike = round(similarity(absent.sketch, sketch), 3)
            except (FaultError, TransportError, MalformedError) as error:
                log.warning(EVIDENCE_NOT_HAD, reason=type(error).__name__)
        return Beyond(alike, same)

    async def _same_elsewhere(self, host: str, url: str, sketch: Sketch) -> bool:
        """Compare with the texts of other addresses of the host, and note this one."""
        table = await self.bus.table(HOST_TEXTS)
        stored = await table.get(host)
        places = stored.value.places if stored is not None and stored.value is not None else ()
        address = _address(url)
        alike = {place.address for place in places if similarity(place.sketch, sketch) >= SAME_TEXT}
        if address not in alike:
            others = tuple(place for place in places if place.address != address)
            texts = HostTexts(places=(*others, TextPlace(address=address, sketch=sketch))[-MAX_PLACES:])
            with suppress(ValueError):  # another navigator was faster, and its page is as good to compare with
                await table.put(host, texts, revision=stored.revision if stored is not None else 0)
        return bool(alike - {address})

    async def _absent_page(self, host: str, fetch: FetchPage, tier: RenderTier, left_ms: int) -> AbsentPage | None:
        """Return what the host answers to an address that cannot exist; where nobody knows, ask it."""
        table = await self.bus.table(ABSENT_PAGES)
        stored = await table.get(host)
        known = stored.value if stored is not None else None
        if known is not None and self.clock() - known.at_ms < KEPT_MS:
            return known if known.status else await self._awaited(table, host)
        # Where scripts draw the page, an application answers every address with itself: that says nothing.
        if not self.probe or tier.spec.runs_scripts or left_ms < 2 * tier.expected_ms:
            return None
        begun = AbsentPage(tier=tier, at_ms=self.clock())
        try:
            revision = await table.put(host, begun, revision=stored.revision if stored is not None else 0)
        except ValueError:  # another navigator asks
            return await self._awaited(table, host)
        answer = await self._ask(fetch, begun, left_ms)
        await table.put(host, answer, revision=revision)
        return answer

    async def _ask(self, fetch: FetchPage, begun: AbsentPage, left_ms: int) -> AbsentPage:
        """Ask the host; a failure is an answer, too, so that it is not asked again."""
        call = subjects.FETCH.at(tier=begun.tier.value)
        try:
            page = await self.bus.call(call, fetch, timeout_ms=min(PROBE_MS, left_ms))
        except FaultError:
            return structs.replace(begun, status=NO_ANSWER)
        return structs.replace(begun, status=page.status, sketch=sketch_of(page.evidence.visible))

    async def _awaited(self, table: KeyTable[AbsentPage], host: str) -> AbsentPage | None:
        """Wait for what another browse, here or elsewhere, asks."""
        with anyio.move_on_after(PROBE_MS / 1_000):
            while True:
                stored = await table.get(host)
                known = stored.value if stored is not None else None
                if known is None or known.status or self.clock() - known.at_ms >= LAPSED_MS:
                    return known
                await anyio.sleep(POLL_MS / 1_000)
        return None


NO_ANSWER = -1
"""Stands for the status of an address that could not be had."""

_EXTENSION = re.compile(r"\.[A-Za-z]{1,5}\d?")
_INDEX = re.compile(r"/(?:index|default)\.\w+$")


def absent_address(url: str, token: str) -> str:
    """Return an address beside `url` that cannot exist, without its query."""
    parts = urlsplit(url)
    path = PurePosixPath(parts.path or "/")
    extension = path.suffix if _EXTENSION.fullmatch(path.suffix) else ""
    folder = f"{path.parent}".rstrip("/") + "/"  # beside a folder, too: what lies in it may be routed by its page
    return urlunsplit((parts.scheme, parts.netloc, f"{folder}{token}{extension}", "", ""))


def _address(url: str) -> str:
    """Hash what of an address makes it another page than others of its host: the path, not how it is written."""
    path = _INDEX.sub("/", urlsplit(url).path).rstrip("/").casefold()
    return hashlib.blake2b(path.encode(errors="replace"), digest_size=8).hexdigest()
