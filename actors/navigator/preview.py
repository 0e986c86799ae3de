"""What a browse would do, and what is known of a domain: estimated from what is remembered; nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import anyio
import msgspec
from msgspec import UNSET, Struct

from actors.navigator.browse_run import why_unavailable
from actors.navigator.by_pattern import ForeseenPattern, KnownPatterns, NoPatterns
from actors.navigator.choice import Estimate
from actors.navigator.escalation_policy import Budget, budget
from actors.navigator.history import chance
from actors.navigator.memory import Estimator
from actors.page_addresses import page_address, readable
from actors.sites import site_of
from bus import Directory, Requester, TransportError
from bus.stats import Replica
from protocol import subjects
from protocol.domains import (
    CostRange,
    DomainKnowledge,
    Foreseen,
    ForeseePage,
    LatencyRange,
    LatencySource,
    Obstacle,
    Preview,
    TierKnowledge,
    TierLeftOut,
    TierPlan,
)
from protocol.faults import KINDS, Code, FaultError
from protocol.pages import BrowsePage
from protocol.tiers import TIERS, RenderTier

LOOK_MS = 200
"""How long tiers get to answer that they live, in milliseconds."""

ASK_MS = 1_000
"""How long a fetcher may take to look ahead, or a replica to say why it cannot work, in milliseconds."""

NOT_RUNNING = "No live replica of this tier."

SPREAD = (0.5, 2.0)
"""Between what share and what multiple of what a tier took on average most visits lie."""

CACHED_MS = LatencyRange(from_ms=0, to_ms=50, source=LatencySource.CACHE)
"""What an answer takes that is stored."""

MIN_WAIT_MS = 100
"""A wait that nobody notices is no obstacle."""


class PreviewBus(Requester, Directory, Protocol):
    """What a preview needs of the bus."""


class PreviewService(Struct, frozen=True):
    """Answers PREVIEW and DOMAIN for one navigator."""

    bus: PreviewBus
    memory: Estimator
    patterns: KnownPatterns = msgspec.field(default_factory=NoPatterns)

    async def preview(self, page: BrowsePage) -> Preview:
        """Return what would be done for a page, and what it would cost.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, for options that contradict each other.
        """
        limits = budget(page.options)
        estimate = self.memory.estimate(page.url, limits.affordable)
        request = ForeseePage(
            url=page.url,
            freshness=page.options.freshness_requirement,
            session=page.options.session_profile,
            login=page.login,
            obey_robots=page.obey_robots,
        )
        unavailable, foreseen = await self._look_ahead(request)
        return _preview(PreviewFacts(page, estimate, unavailable, foreseen, self.patterns.foreseen(page)))

    async def domain(self, host: str, *, visits: bool = False) -> DomainKnowledge:
        """Return what is known of a host, or of its domain where nobody has visited the host itself.

        When it was visited, and how often, is left out without `visits`.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, when it is no host.
        """
        site_of(host)
        url = page_address(f"https://{host}/", "domain")
        estimate = self.memory.estimate(url, TIERS, any_page=True)
        foreseen = await self._fetcher_preview(ForeseePage(url=url)) or Foreseen()
        history = estimate.history
        return DomainKnowledge(
            domain=readable(url).removeprefix("https://").rstrip("./").lower(),
            known=history is not None,
            start_tier=estimate.start.tier,
            start_reason=estimate.why,
            tiers=_tiers(estimate, visits=visits),
            updated_at=UNSET if history is None or not visits else estimate.learned_ms,
            kind=UNSET if estimate.kind is None else estimate.kind,
            robots=foreseen.robots or UNSET,
            pace=foreseen.pace or UNSET,
        )

    async def _look_ahead(self, request: ForeseePage) -> tuple[dict[RenderTier, str], Foreseen | None]:
        """Ask a fetcher what it can say of a page and, at the same time, which tiers run."""
        previews: list[Foreseen | None] = []
        unavailable: dict[RenderTier, str] = {}

        async def ask_fetcher() -> None:
            previews.append(await self._fetcher_preview(request))

        async def ask_tiers() -> None:
            unavailable.update(await self._unavailable())

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask_fetcher)
            tasks.start_soon(ask_tiers)
        return unavailable, previews[0]

    async def _fetcher_preview(self, request: ForeseePage) -> Foreseen | None:
        try:
            return await self.bus.call(subjects.FORESEE, request, timeout_ms=ASK_MS)
        except FaultError:
            return None

    async def _unavailable(self) -> dict[RenderTier, str]:
        """Return why nobody answers for a tier, for each tier of which that is so."""
        try:
            replicas = await self.bus.replicas(LOOK_MS, enough=lambda live: len(_deployed(live)) == len(TIERS))
        except (FaultError, TransportError):
            return {}
        deployed = _deployed(replicas)
        missing = [tier for tier in TIERS if tier not in deployed]
        return {tier: await why_unavailable(self.bus, tier, ASK_MS) or NOT_RUNNING for tier in missing}


class PreviewFacts(Struct, frozen=True):
    """What is known of a page before it is fetched; `unavailable` holds why tiers cannot work that do not run."""

    page: BrowsePage
    estimate: Estimate
    unavailable: Mapping[RenderTier, str]
    foreseen: Foreseen | None
    by_pattern: ForeseenPattern | None = None


def _preview(facts: PreviewFacts) -> Preview:
    """Put together what would be done for a page.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, for options that contradict each other.
    """
    limits, first = budget(facts.page.options), facts.estimate.start.tier
    rendering = tuple(_plan(tier, facts) for tier in limits.affordable if tier.rank >= first.rank)
    by_pattern = () if facts.by_pattern is None else (_plan_by_pattern(facts.by_pattern, facts.unavailable),)
    tiers = (*by_pattern, *rendering)
    stored = facts.foreseen is not None and facts.foreseen.cached and rendering[0].tier.spec.uses_cache
    cached = stored and not by_pattern
    foreseen = facts.foreseen if facts.foreseen is not None and facts.foreseen.refused is None else None
    return Preview(
        url=facts.page.url,
        tiers=tiers,
        left_out=tuple(_left_out(limits, facts.estimate)),
        cost=_cost(tiers, facts.estimate, cached=cached),
        latency=CACHED_MS if cached else _whole(tiers),
        obstacles=tuple(_obstacles(facts, tiers)),
        cached=UNSET if foreseen is None else cached,
        robots=UNSET if foreseen is None or foreseen.robots is None else foreseen.robots,
        pace=UNSET if foreseen is None or foreseen.pace is None else foreseen.pace,
    )


def _latency(tier: RenderTier, estimate: Estimate) -> LatencyRange:
    """Return what a tier takes at this host, or everywhere where nobody has measured it here."""
    record = estimate.history.tiers.get(tier) if estimate.history else None
    return _range(tier, 0 if record is None else record.took_ms)


def _range(tier: RenderTier, took_ms: int, exchanges: int = 1) -> LatencyRange:
    """Return what lies around the time that something took, or what so many exchanges of a tier take everywhere."""
    if not took_ms:
        from_ms, to_ms = (each * exchanges for each in tier.spec.typical_ms)
        return LatencyRange(from_ms=from_ms, to_ms=to_ms, source=LatencySource.CONTRACT)
    least, most = (round(took_ms * share) for share in SPREAD)
    return LatencyRange(from_ms=least, to_ms=most, source=LatencySource.HISTORY)


def _plan(tier: RenderTier, facts: PreviewFacts) -> TierPlan:
    estimate, reason = facts.estimate, facts.unavailable.get(tier)
    early = estimate.early.get(tier)
    return TierPlan(
        tier=tier,
        reason=_why(tier, facts),
        latency=_latency(tier, estimate),
        cost_units=tier.spec.cost_units,
        chance=round(estimate.chances[tier], 2),
        available=reason is None,
        absence=reason or UNSET,
        early_after_ms=UNSET if early is None else early.after_ms,
    )


def _plan_by_pattern(learned: ForeseenPattern, unavailable: Mapping[RenderTier, str]) -> TierPlan:
    """Return how the API behind a page is asked before any tier shows the page itself."""
    tier, call = RenderTier.INTELLIGENCE, learned.call
    absence = unavailable.get(tier)
    return TierPlan(
        tier=tier,
        reason=f"first: the API behind the page is known ({call.reason})",
        latency=_range(tier, learned.took_ms, len(call.requests)),
        cost_units=tier.spec.cost_units,
        chance=round(learned.chance, 2),
        available=absence is None,
        absence=absence or UNSET,
        pattern=call.pattern_id,
    )


def _why(tier: RenderTier, facts: PreviewFacts) -> str:
    if facts.page.options.force_tier is tier:
        return "forceTier names it"
    if tier is facts.estimate.start.tier:
        return f"first: {facts.estimate.why}"
    if tier in facts.estimate.early:
        return "started early, since the one before mostly fails here"
    return "if the one before is not enough"


def _left_out(limits: Budget, estimate: Estimate) -> Iterator[TierLeftOut]:
    for tier in TIERS:
        if limits.force_tier is not None:
            why = "forceTier names another" if tier is not limits.force_tier else ""
        elif tier.rank > limits.max_cost_tier.rank:
            why = "it costs more than maxCostTier allows"
        elif limits.scripted and not tier.spec.runs_scripts:
            why = "it runs no scripts, which the options need"
        elif tier not in limits.affordable:
            why = "it does not fit into maxLatencyMs"
        elif tier.rank < estimate.start.tier.rank:
            why = estimate.start.reason.value
        else:
            why = ""
        if why:
            yield TierLeftOut(tier=tier, reason=why)


def _cost(tiers: tuple[TierPlan, ...], estimate: Estimate, *, cached: bool) -> CostRange:
    least, expected = tiers[0].cost_units, estimate.expected
    if cached:
        return CostRange(least=least, most=least, expected=float(least))
    if tiers[0].pattern is not UNSET:
        expected = least + (1 - tiers[0].chance) * expected
    return CostRange(least=least, most=sum(tier.cost_units for tier in tiers), expected=round(expected, 2))


def _whole(tiers: tuple[TierPlan, ...]) -> LatencyRange:
    """Return what the whole takes: at best the first tier, at worst all of them one after another."""
    known = all(tier.latency.source is LatencySource.HISTORY for tier in tiers)
    return LatencyRange(
        from_ms=tiers[0].latency.from_ms,
        to_ms=sum(tier.latency.to_ms for tier in tiers),
        source=LatencySource.HISTORY if known else LatencySource.CONTRACT,
    )


def _obstacles(facts: PreviewFacts, tiers: tuple[TierPlan, ...]) -> Iterator[Obstacle]:
    foreseen = facts.foreseen
    if foreseen is not None and foreseen.refused is not None:
        yield _obstacle(foreseen.refused.code, foreseen.refused.message)
    if foreseen is not None and foreseen.robots is not None:
        robots = foreseen.robots
        if robots.obeyed and robots.allows is False:
            yield _obstacle(Code.BLOCKED_BY_ROBOTS, KINDS[Code.BLOCKED_BY_ROBOTS].meaning)
    if foreseen is not None and foreseen.pace is not None and foreseen.pace.wait_ms > MIN_WAIT_MS:
        wait_ms = foreseen.pace.wait_ms
        if wait_ms > facts.page.options.max_latency_ms:
            message = "The site is asked no faster than is polite; its turn comes after maxLatencyMs."
        else:
            message = "The site is asked no faster than is polite; the page waits for its turn."
        yield Obstacle(code=Code.RATE_LIMIT_EXCEEDED, message=message, retry_after_ms=wait_ms)
    if not any(tier.available for tier in tiers):
        yield _obstacle(Code.CONFIG_TIER_NOT_DEPLOYED, "None of the tiers that may be used is there.")


def _obstacle(code: Code, message: str) -> Obstacle:
    return Obstacle(code=code, message=message)


def _deployed(replicas: Sequence[Replica]) -> set[RenderTier]:
    answered = {endpoint.subject for replica in replicas for endpoint in replica.endpoints}
    return {tier for tier in TIERS if subjects.FETCH.at(tier=tier.value).pattern in answered}


def _tiers(estimate: Estimate, *, visits: bool) -> tuple[TierKnowledge, ...]:
    records = estimate.history.tiers if estimate.history else {}
    return tuple(
        TierKnowledge(
            tier=tier,
            chance=round(chance(record, tier.spec.prior), 2),
            enough=round(record.enough, 2) if visits else UNSET,
            refused=round(record.refused, 2) if visits else UNSET,
            last_worked_at=(record.worked_ms or UNSET) if visits else UNSET,
            typical_ms=record.took_ms or UNSET,
        )
        for tier in TIERS
        if (record := records.get(tier)) is not None and record.enough + record.refused > 0
    )
