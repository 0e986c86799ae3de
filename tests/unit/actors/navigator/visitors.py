"""Made-up sites that are visited over and over: what the choice of tiers costs there, beside an oracle."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from actors.navigator.attempts import REACTIONS, Reaction
from actors.navigator.choice import TierChoice, hedge, start
from actors.navigator.history import Evidence, Lessons, evidence_of, learned
from protocol.faults import Code
from protocol.tiers import TIERS, HostKind, RenderTier, TierHistory

CHEAP, LIGHT, BROWSER = RenderTier.INTELLIGENCE, RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT
HOUR_MS = 3_600_000
LEARNING_VISITS = 20
"""The visits in which a site may be learned."""

VISITS = 200

Needs = Mapping[RenderTier, float]
"""The share of a site's pages that need each tier at least."""

STATIC: Needs = {CHEAP: 1.0}
NEEDS_LIGHT: Needs = {LIGHT: 1.0}
BROWSER_ONLY: Needs = {BROWSER: 1.0}

TROUBLES = (
    Code.NETWORK_TIMEOUT,
    Code.NETWORK_CONNECTION_FAILED,
    Code.HTTP_FORBIDDEN,
    Code.HTTP_SERVICE_UNAVAILABLE,
    Code.HTTP_SERVER_ERROR,
    Code.RATE_LIMIT_EXCEEDED,
    Code.BLOCKED_BOT_DETECTION,
    Code.BLOCKED_RATE_LIMITED,
)
"""Failures that come and go."""


@dataclass(frozen=True)
class Page:
    """One visit's page: the tier it needs, and what goes wrong by chance in each tier."""

    need: RenderTier
    trouble: Mapping[RenderTier, Code]

    def visit(self, begin: RenderTier, tiers: Sequence[RenderTier] = TIERS) -> tuple[int, Lessons]:
        """BrowseRun from `begin`; gives the cost and what was seen."""
        cost, seen = 0, dict[RenderTier, Evidence]()
        for tier in tiers[tiers.index(begin) :]:
            cost += tier.spec.cost_units
            code = self.trouble.get(tier, None if tier.rank >= self.need.rank else Code.CONTENT_REQUIRES_JS)
            seen[tier] = evidence_of(code)
            if code is None or REACTIONS[code] is not Reaction.ESCALATE:
                break
        return cost, seen

    def in_vain(self, history: TierHistory | None, begin: RenderTier, now_ms: int, percent: int) -> int:
        """Count what is spent on a tier that is started early beside the one that has the page."""
        answer = max(begin, self.need, key=TIERS.index)
        early = hedge(history, None, answer, TIERS, now_ms, percent=percent, escalated=answer is not begin)
        return 0 if early is None else early.tier.spec.cost_units


@dataclass
class Site:
    """A site whose pages are drawn by chance; `flaky` is the share of attempts that fail for a while."""

    chance: random.Random
    needs: Needs
    flaky: float = 0.0

    def page(self) -> Page:
        need = self.chance.choices(list(self.needs), list(self.needs.values()))[0]
        troubled = [tier for tier in TIERS if self.chance.random() < self.flaky]
        return Page(need, {tier: self.chance.choice(TROUBLES) for tier in troubled})


@dataclass
class Visitor:
    """Visits one site, an hour after the other by default, and learns."""

    kind: HostKind | None = None
    history: TierHistory | None = None
    now_ms: int = 0
    every_ms: int = HOUR_MS
    starts: list[TierChoice] = field(default_factory=list[TierChoice])

    def visit(self, page: Page) -> tuple[int, Lessons]:
        begin = start(self.history, self.kind, TIERS, self.now_ms)
        cost, seen = page.visit(begin.tier)
        self.history = learned(self.history, seen, self.now_ms)
        self.now_ms += self.every_ms
        self.starts.append(begin)
        return cost, seen

    @property
    def label(self) -> RenderTier:
        """Where visits begin by now, but for probes."""
        return start(self.history, self.kind, TIERS, self.now_ms, may_probe=False).tier


def oracle(needs: Needs) -> RenderTier:
    """Name the start that costs least for who knows the needs."""

    def expected(begin: RenderTier) -> float:
        return sum(share * Page(need, {}).visit(begin)[0] for need, share in needs.items())

    return min(TIERS, key=expected)


@dataclass
class Spent:
    """What was spent on visits, and how many of them got their page."""

    cost: int = 0
    pages: int = 0

    def add(self, visit: tuple[int, Lessons]) -> None:
        self.cost += visit[0]
        self.pages += Evidence.ENOUGH in visit[1].values()

    @property
    def a_page(self) -> float:
        return self.cost / self.pages


def regret(
    needs: Needs, *, runs: int, flaky: float = 0.0, every_ms: int = HOUR_MS, kind: HostKind | None = None
) -> float:
    """Return what a page costs, once a site may be learned, beyond what it costs an oracle that knows the needs."""
    own, best, begin = Spent(), Spent(), oracle(needs)
    for run in range(runs):
        site, visitor = Site(random.Random(run), needs, flaky), Visitor(kind=kind, every_ms=every_ms)
        for number in range(LEARNING_VISITS + VISITS):
            page = site.page()
            visit = visitor.visit(page)
            if number >= LEARNING_VISITS:
                own.add(visit)
                best.add(page.visit(begin))
    return own.a_page / best.a_page - 1


def noticed(before: Needs, after: Needs, *, run: int, flaky: float = 0.0) -> int:
    """Count the visits from a change of the site until the next one begins where it now should."""
    chance = random.Random(run)
    site, visitor = Site(chance, before, flaky), Visitor()
    for _ in range(40 + chance.randrange(40)):
        visitor.visit(site.page())
    site.needs, right = after, oracle(after)
    for number in range(1, 100):
        visitor.visit(site.page())
        if visitor.label is right:
            return number
    return 100
