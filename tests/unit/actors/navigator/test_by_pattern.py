"""When a page is rendered though its API is known: what was learned with a login is verified by its owner's visits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from actors.navigator.browse_run import BrowseRun
from actors.navigator.by_pattern import SharedPatterns
from actors.navigator.memory import NoKnowledge
from actors.navigator.preview import PreviewService
from actors.patterns.trust import VERIFY_AGAIN_MS
from bus.stores import KeyTable
from protocol.browse import BrowseOptions
from protocol.domains import LatencyRange, LatencySource
from protocol.pages import BrowsePage
from protocol.subject_kinds import Bucket
from protocol.tiers import RenderTier
from tests.unit.actors.fake_fetchers import CHEAP, MIDDLE, Known, bus
from tests.unit.actors.navigator.test_preview import Bus as PreviewBus
from tests.unit.actors.page_data import fetched
from tests.unit.actors.patterns.test_index import NOW, SITE, pattern

HOUR_MS = 3_600_000


class NoTables:
    async def table(self, bucket: Bucket[Any]) -> KeyTable[Any]:
        raise NotImplementedError


@dataclass
class Owner:
    """Somebody with a login, and the pattern of pages that was learned with it and verified some hours ago."""

    hours: int
    now_ms: int = NOW
    patterns: SharedPatterns = field(init=False)

    def __post_init__(self) -> None:
        self.patterns = SharedPatterns(NoTables(), 6, lambda: self.now_ms)
        of_login = pattern(profile="work", caller="ann", verified_at=NOW - self.hours * HOUR_MS)
        self.patterns.update("p", of_login, 1)
        self.patterns.update("q", pattern("q", verified_at=NOW - self.hours * HOUR_MS), 1)

    async def visit(self, profile: str | None = "work", **options: Any) -> tuple[RenderTier, bool]:
        """Visit a page; returns the tier that was asked first, and whether that was by the pattern."""
        page = BrowsePage(
            url=f"{SITE}/p/7", options=BrowseOptions(session_profile=profile, **options), caller="ann", login=b"pass"
        )
        fake = bus(intelligence=fetched(), lightweight=fetched(MIDDLE))
        run = BrowseRun(fake, page, 0, Known(), patterns=self.patterns)
        browsed = await run.run()
        return browsed.page.tier, bool(run.by_pattern)


async def test_the_first_visit_of_an_owner_after_some_hours_is_rendered() -> None:
    owner = Owner(hours=6)

    assert await owner.visit() == (MIDDLE, False)
    assert await owner.visit() == (CHEAP, True)
    owner.now_ms += VERIFY_AGAIN_MS
    assert await owner.visit() == (MIDDLE, False)
    assert await owner.visit(None) == (CHEAP, True)


@pytest.mark.parametrize("options", [{"max_cost_tier": CHEAP}, {"max_latency_ms": 150}, {"force_tier": CHEAP}])
async def test_what_was_verified_lately_or_may_not_be_rendered_comes_by_its_pattern(options: dict[str, Any]) -> None:
    assert await Owner(hours=5).visit() == (CHEAP, True)
    assert await Owner(hours=6).visit(**options) == (CHEAP, True)


async def test_a_preview_tells_that_an_api_would_be_asked_and_what_that_took() -> None:
    owner = Owner(hours=1)
    page = BrowsePage(url=f"{SITE}/p/7", options=BrowseOptions(session_profile="work"), caller="ann", login=b"pass")
    service = PreviewService(PreviewBus(), NoKnowledge(), owner.patterns)

    before = (await service.preview(page)).tiers[0]
    call = owner.patterns.find(page)
    assert call is not None
    owner.patterns.timed(call, 40)
    first, *rendering = (await service.preview(page)).tiers
    other = await service.preview(replace(page, caller="bob"))

    assert (first.tier, first.pattern, first.chance, first.available) == (CHEAP, "p", 0.8, True)
    assert (before.latency.source, first.latency) == (
        LatencySource.CONTRACT,
        LatencyRange(from_ms=20, to_ms=80, source=LatencySource.HISTORY),
    )
    assert [one.tier for one in rendering] == [one.tier for one in other.tiers]
    assert [one.pattern for one in (*rendering, *other.tiers)] == [UNSET] * 2 * len(rendering)
