"""Whole browses with a memory: the tiers that are put to work follow what the site was seen to need."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import anyio
import pytest

from actors.navigator.browse_run import BrowseRun
from actors.navigator.hosts import KnownHosts
from actors.navigator.memory import TierMemory
from bus.stores import KeyTable
from protocol import subjects
from protocol.browse import BrowseOptions
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed, BrowsePage, PageClaim
from protocol.subject_kinds import Bucket, Call, Event
from protocol.tiers import TIERS, RenderTier
from tests.unit.actors.page_data import URL, fetched, verdict

A = TypeVar("A")
R = TypeVar("R")

CHEAP, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
TEST_S = 240.0


@dataclass
class Site:
    """A bus behind which all three tiers get pages of one site, and a verifier that knows what its pages need."""

    need: RenderTier
    slow: RenderTier | None = None
    down: bool = False
    asked: list[RenderTier] = field(default_factory=list[RenderTier])

    async def call(self, call: Call[A, R], args: A, *, timeout_ms: int | None = None, wait_ms: int = 0) -> R:
        if call.pattern == subjects.VERIFY_PAGE.pattern:
            enough = cast("PageClaim", args).tier.rank >= self.need.rank
            return cast("R", verdict(None if enough else Code.CONTENT_REQUIRES_JS))
        tier = next(each for each in TIERS if each.value == call.pattern.rpartition(".")[2])
        self.asked.append(tier)
        if self.down:
            raise FaultError(fault(Code.HTTP_SERVICE_UNAVAILABLE))
        if tier is self.slow:
            await anyio.sleep_forever()
        return cast("R", fetched(tier))

    async def tell(self, event: Event[A], args: A) -> None:
        """Listen to nothing."""

    async def table(self, bucket: Bucket[Any]) -> KeyTable[Any]:
        raise NotImplementedError


@dataclass
class Browsing:
    """Browses of one site, one after the other."""

    site: Site
    memory: TierMemory = field(init=False)

    def __post_init__(self) -> None:
        self.memory = TierMemory(self.site, KnownHosts(), hedge_percent=0)

    async def browse(self, **options: Any) -> Browsed:
        page = BrowsePage(url=URL, options=BrowseOptions(**options))
        with anyio.fail_after(TEST_S):
            return await BrowseRun(self.site, page, 0, self.memory).run()

    async def tiers(self, visits: int, **options: Any) -> list[RenderTier]:
        """Browse so often; gives the tiers that were put to work."""
        self.site.asked.clear()
        for _ in range(visits):
            await self.browse(**options)
        return list(self.site.asked)


async def test_a_light_site_is_soon_begun_with_the_light_tier() -> None:
    browsing = Browsing(Site(LIGHT))

    assert await browsing.tiers(1) == [CHEAP, LIGHT]
    assert (await browsing.tiers(1)) == [LIGHT]
    await browsing.tiers(20)
    assert Counter(await browsing.tiers(8)) == {LIGHT: 8, CHEAP: 2}


async def test_the_trace_says_why_a_tier_was_passed_over() -> None:
    browsing = Browsing(Site(LIGHT))
    await browsing.tiers(1)

    browsed = await browsing.browse()

    passed, answer = browsed.trace.tiers
    assert (passed.tier, passed.failure_reason) == (CHEAP, "Passed over: earlier visits of the site needed more")
    assert (answer.tier, answer.success) == (LIGHT, True)


async def test_a_site_that_has_changed_is_followed() -> None:
    browsing = Browsing(Site(BROWSER))
    await browsing.tiers(20)

    browsing.site.need = CHEAP
    await browsing.tiers(4)

    assert await browsing.tiers(3) == [CHEAP] * 3


async def test_a_site_that_is_down_teaches_nothing() -> None:
    browsing = Browsing(Site(LIGHT))
    await browsing.tiers(3)
    before = browsing.memory.known(URL)
    browsing.site.down = True
    for _ in range(10):
        with pytest.raises(FaultError):
            await browsing.browse()

    assert browsing.memory.known(URL) == before


async def test_what_is_not_allowed_is_not_tried() -> None:
    browsing = Browsing(Site(BROWSER))
    await browsing.tiers(10)

    browsing.site.need = CHEAP
    assert set(await browsing.tiers(10, max_cost_tier=LIGHT)) <= {CHEAP, LIGHT}
    assert await browsing.tiers(2, force_tier=BROWSER) == [BROWSER] * 2


async def test_a_probe_that_hangs_is_overtaken_and_not_repeated_at_once() -> None:
    browsing = Browsing(Site(LIGHT))
    browsing.memory.hedge_percent = 10
    await browsing.tiers(20)

    browsing.site.slow = CHEAP

    assert Counter(await browsing.tiers(8)) == {LIGHT: 8, CHEAP: 2}
