"""What a navigator knows of sites, as it is noted where conversations are recorded: a replay has not learned it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from actors.navigator.attempts import Attempt
from actors.navigator.by_pattern import ForeseenPattern, KnownPatterns
from actors.navigator.choice import Early, Estimate
from actors.navigator.memory import Knowledge, StartAdvice
from bus.recording import form_of, observed
from protocol.browse import ApiPattern
from protocol.pages import BrowsePage
from protocol.patterns.use import PatternCall
from protocol.tiers import RenderTier


class ObservedKnowledge(Struct, frozen=True):
    """The knowledge of tiers."""

    inner: Knowledge

    def start(self, url: str, allowed: Sequence[RenderTier]) -> StartAdvice:
        """Choose where to begin among the tiers that are allowed."""
        look = partial(self.inner.start, url, allowed)
        return observed("tiers.start", (url, tuple(allowed)), look, form_of(StartAdvice))

    def hedge(
        self, url: str, tier: RenderTier, allowed: Sequence[RenderTier], *, escalated: bool = False
    ) -> Early | None:
        """Choose the tier to start early, if one."""
        look = partial(self.inner.hedge, url, tier, allowed, escalated=escalated)
        return observed("tiers.hedge", (url, tier, tuple(allowed), escalated), look, form_of(Early | None))

    def record(self, url: str, attempts: Sequence[Attempt]) -> None:
        """Learn from a browse that has ended."""
        self.inner.record(url, attempts)

    def estimate(self, url: str, allowed: Sequence[RenderTier], *, any_page: bool = False) -> Estimate:
        """Return how a visit would go, without being one."""
        look = partial(self.inner.estimate, url, allowed, any_page=any_page)
        return observed("tiers.estimate", (url, tuple(allowed), any_page), look, form_of(Estimate))


class ObservedPatterns(Struct, frozen=True):
    """The knowledge of learned APIs."""

    inner: KnownPatterns

    def find(self, page: BrowsePage) -> PatternCall | None:
        """Return what to ask in the place of a page, if something may be asked."""
        return observed("patterns.find", page.url, partial(self.inner.find, page), form_of(PatternCall | None))

    def wants_rendering(self, page: BrowsePage) -> bool:
        """Return whether a page is to be rendered though something may be asked."""
        look = partial(self.inner.wants_rendering, page)
        return observed("patterns.wants_rendering", page.url, look, form_of(bool))

    def hints(self, page: BrowsePage) -> tuple[ApiPattern, ...]:
        """Return the APIs that are known for a page's address, trusted or not."""
        look = partial(self.inner.hints, page)
        return observed("patterns.hints", page.url, look, form_of(tuple[ApiPattern, ...]))

    def suspend(self, call: PatternCall) -> None:
        """Use a pattern no more before something new was learned of it."""
        self.inner.suspend(call)

    def timed(self, call: PatternCall, took_ms: int) -> None:
        """Take in how long a pattern has taken for a page."""
        self.inner.timed(call, took_ms)

    def foreseen(self, page: BrowsePage) -> ForeseenPattern | None:
        """Return what would be asked in the place of a page, and what is known of that."""
        look = partial(self.inner.foreseen, page)
        return observed("patterns.foreseen", page.url, look, form_of(ForeseenPattern | None))
