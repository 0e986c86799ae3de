"""Looks for hints at APIs on the pages that are shown, and asks their sites now and then for what they describe."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import anyio
from msgspec import Struct

from actors.learner.patterns.sources.source import HintSource, domain_of, host_of
from bus import Requester, TransportError
from protocol.faults import FaultError
from protocol.patterns.api_calls import AskApi
from protocol.patterns.pattern import ApiRequest, PagePattern
from protocol.patterns.sample import PageSample
from protocol.subjects import API_ASK

MAX_HINTS_KEPT: Final = 100
"""Hints that are kept of a domain at most: the rest of its room is for what pages were made by."""

DAY_MS: Final = 86_400_000
AGAIN_MS: Final = 7 * DAY_MS
"""How long the same address is not asked again."""

MAX_WAITING: Final = 16
"""Pages that wait to be looked at."""

MAX_ADDRESSES: Final = 10_000
ASK_MS: Final = 20_000


@dataclass
class SiteAsks:
    """Asks sites for descriptions of their APIs, `a_day` times a site at most, and for each address once a week."""

    bus: Requester
    clock: Callable[[], int]
    a_day: int
    _asked: OrderedDict[str, int] = field(default_factory=OrderedDict[str, int], init=False)

    def of(self, sample: PageSample) -> SiteAsk:
        """Return what asks the site of a page."""
        return SiteAsk(self, host_of(sample.final_url))

    async def ask(self, domain: str, url: str) -> Any | None:
        """Return the JSON at an address, YAML as its text, without any login; None where there is none, or no turn."""
        if not self._take(domain, url):
            return None
        request = ApiRequest(url=url.replace("{", "{{").replace("}", "}}"))
        order = AskApi(site=url, requests=(request,), obey_robots=True, as_text=True)
        try:
            return (await self.bus.call(API_ASK, order, timeout_ms=ASK_MS)).answers[0]
        except (FaultError, TransportError):
            return None

    def _take(self, domain: str, url: str) -> bool:
        now_ms = self.clock()
        recent = sum(key.startswith(f"{domain} ") and now_ms - at < DAY_MS for key, at in self._asked.items())
        key = f"{domain} {url}"
        if recent >= self.a_day or now_ms - self._asked.get(key, -AGAIN_MS) < AGAIN_MS:
            return False
        self._asked[key] = now_ms
        self._asked.move_to_end(key)
        if len(self._asked) > MAX_ADDRESSES:
            self._asked.popitem(last=False)
        return True


class SiteAsk(Struct, frozen=True):
    """Asks the site of one page; see Ask."""

    asks: SiteAsks
    domain: str

    async def json(self, url: str) -> Any | None:
        """Return the JSON at an address, YAML as its text."""
        return await self.asks.ask(self.domain, url)


class HintStore(Protocol):
    """Keeps what is found, beside the patterns that there are."""

    def of_domain(self, domain: str) -> tuple[PagePattern, ...]:
        """Return the patterns of a domain."""
        ...

    async def change(
        self, decide: Callable[[], Awaitable[tuple[Iterable[PagePattern], Iterable[str]]]]
    ) -> tuple[PagePattern, ...]:
        """Write and delete what `decide` returns."""
        ...


@dataclass(frozen=True)
class HintFinder:
    """Has all sources look at pages, one after the other; of those that come faster some are left out."""

    sources: Sequence[HintSource]
    asks: SiteAsks
    _at_once: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1), init=False)

    async def look(self, sample: PageSample, store: HintStore) -> None:
        """Keep the hints that a page leads to, where they are new; raises as the store does."""
        if self._at_once.statistics().tasks_waiting >= MAX_WAITING:
            return
        async with self._at_once:
            hints = await self.find(sample)

            async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
                return new_hints(hints, store.of_domain(domain_of(sample.final_url))), ()

            if hints:
                await store.change(decide)

    async def find(self, sample: PageSample) -> tuple[PagePattern, ...]:
        """Return the hints that a page leads to, each once."""
        ask = self.asks.of(sample)
        by_id: dict[str, PagePattern] = {}
        for source in self.sources:
            for hint in await source.find(sample, ask):
                by_id.setdefault(hint.pattern_id, hint)
        return tuple(by_id.values())


def new_hints(hints: Iterable[PagePattern], known: Sequence[PagePattern]) -> tuple[PagePattern, ...]:
    """Return the hints that are to be kept beside the patterns of their domain that are known.

    None is kept of pages that a pattern makes already, and of each owner MAX_HINTS_KEPT at most.
    """
    ids = {one.pattern_id for one in known}
    made = {(one.page, one.profile, one.caller) for one in known if one.mapping is not None}
    known_requests = {(_requests_key(one), one.profile, one.caller) for one in known}
    counts: dict[tuple[str, str], int] = {}
    for one in known:
        if one.mapping is None:
            counts[one.profile, one.caller] = counts.get((one.profile, one.caller), 0) + 1
    kept: list[PagePattern] = []
    for hint in hints:
        owner = (hint.profile, hint.caller)
        is_new = hint.pattern_id not in ids and (_requests_key(hint), *owner) not in known_requests
        if is_new and (hint.page, *owner) not in made and counts.get(owner, 0) < MAX_HINTS_KEPT:
            counts[owner] = counts.get(owner, 0) + 1
            kept.append(hint)
    return tuple(kept)


def _requests_key(pattern: PagePattern) -> tuple[tuple[str, str, str], ...]:
    return tuple((one.method, one.url, one.body) for one in pattern.requests)
