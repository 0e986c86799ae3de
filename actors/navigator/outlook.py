"""Tells what a browse would do: its tiers in their order, what each takes and costs, and what stands in the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec import UNSET

from actors.navigator.budget import Budget, budget
from actors.navigator.choice import Outlook
from protocol.domains import (
    CostRange,
    Foreseen,
    LatencyRange,
    LatencySource,
    Obstacle,
    Preview,
    TierLeftOut,
    TierPlan,
)
from protocol.faults import KINDS, Code, Fault
from protocol.pages import BrowsePage
from protocol.tiers import TIERS, RenderTier

SPREAD = (0.5, 2.0)
"""Between what share and what multiple of what a tier took on average most visits lie."""

CACHED_MS = LatencyRange(from_ms=0, to_ms=50, source=LatencySource.CACHE)
"""What an answer takes that is stored."""

MIN_WAIT_MS = 100
"""A wait that nobody notices is no obstacle."""


@dataclass(frozen=True)
class Facts:
    """What is known of a page before it is asked for; `absences` tells why the tiers cannot work that do not run."""

    asked: BrowsePage
    outlook: Outlook
    absences: Mapping[RenderTier, str]
    foreseen: Foreseen | None


def preview(facts: Facts) -> Preview:
    """Put together what would be done.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, for options that contradict each other.
    """
    limits, first = budget(facts.asked.options), facts.outlook.start.tier
    tiers = tuple(_plan(tier, facts) for tier in limits.affordable if tier.rank >= first.rank)
    cached = facts.foreseen is not None and facts.foreseen.cached and tiers[0].tier.spec.uses_cache
    foreseen = facts.foreseen if facts.foreseen is not None and facts.foreseen.refused is None else None
    return Preview(
        url=facts.asked.url,
        tiers=tiers,
        left_out=tuple(_left_out(limits, facts.outlook)),
        cost=_cost(tiers, facts.outlook, cached=cached),
        latency=CACHED_MS if cached else _whole(tiers),
        obstacles=tuple(_obstacles(facts, tiers)),
        cached=UNSET if foreseen is None else cached,
        robots=UNSET if foreseen is None or foreseen.robots is None else foreseen.robots,
        pace=UNSET if foreseen is None or foreseen.pace is None else foreseen.pace,
    )


def latency(tier: RenderTier, outlook: Outlook) -> LatencyRange:
    """Return what a tier takes at this host, or everywhere where nobody has measured it here."""
    record = outlook.history.tiers.get(tier) if outlook.history else None
    if record is None or not record.took_ms:
        from_ms, to_ms = tier.spec.typical_ms
        return LatencyRange(from_ms=from_ms, to_ms=to_ms, source=LatencySource.CONTRACT)
    least, most = (round(record.took_ms * share) for share in SPREAD)
    return LatencyRange(from_ms=least, to_ms=most, source=LatencySource.HISTORY)


def _plan(tier: RenderTier, facts: Facts) -> TierPlan:
    outlook, absence = facts.outlook, facts.absences.get(tier)
    early = outlook.early.get(tier)
    return TierPlan(
        tier=tier,
        reason=_why(tier, facts),
        latency=latency(tier, outlook),
        cost_units=tier.spec.cost_units,
        chance=round(outlook.chances[tier], 2),
        available=absence is None,
        absence=absence or UNSET,
        early_after_ms=UNSET if early is None else early.after_ms,
    )


def _why(tier: RenderTier, facts: Facts) -> str:
    if facts.asked.options.force_tier is tier:
        return "forceTier names it"
    if tier is facts.outlook.start.tier:
        return f"first: {facts.outlook.why}"
    if tier in facts.outlook.early:
        return "started early, since the one before mostly fails here"
    return "if the one before is not enough"


def _left_out(limits: Budget, outlook: Outlook) -> Iterator[TierLeftOut]:
    for tier in TIERS:
        if limits.force_tier is not None:
            why = "forceTier names another" if tier is not limits.force_tier else ""
        elif tier.rank > limits.max_cost_tier.rank:
            why = "it costs more than maxCostTier allows"
        elif limits.scripted and not tier.spec.runs_scripts:
            why = "it runs no scripts, which the options need"
        elif tier not in limits.affordable:
            why = "it does not fit into maxLatencyMs"
        elif tier.rank < outlook.start.tier.rank:
            why = outlook.start.reason.value
        else:
            why = ""
        if why:
            yield TierLeftOut(tier=tier, reason=why)


def _cost(tiers: tuple[TierPlan, ...], outlook: Outlook, *, cached: bool) -> CostRange:
    least = tiers[0].cost_units
    if cached:
        return CostRange(least=least, most=least, expected=float(least))
    return CostRange(least=least, most=sum(tier.cost_units for tier in tiers), expected=round(outlook.expected, 2))


def _whole(tiers: tuple[TierPlan, ...]) -> LatencyRange:
    """Return what the whole takes: at best the first tier, at worst all of them one after another."""
    known = all(tier.latency.source is LatencySource.HISTORY for tier in tiers)
    return LatencyRange(
        from_ms=tiers[0].latency.from_ms,
        to_ms=sum(tier.latency.to_ms for tier in tiers),
        source=LatencySource.HISTORY if known else LatencySource.CONTRACT,
    )


def _obstacles(facts: Facts, tiers: tuple[TierPlan, ...]) -> Iterator[Obstacle]:
    foreseen = facts.foreseen
    if foreseen is not None and foreseen.refused is not None:
        yield _told(foreseen.refused)
    if foreseen is not None and foreseen.robots is not None:
        robots = foreseen.robots
        if robots.obeyed and robots.allows is False:
            yield _obstacle(Code.BLOCKED_BY_ROBOTS, KINDS[Code.BLOCKED_BY_ROBOTS].meaning)
    if foreseen is not None and foreseen.pace is not None and foreseen.pace.wait_ms > MIN_WAIT_MS:
        wait_ms = foreseen.pace.wait_ms
        if wait_ms > facts.asked.options.max_latency_ms:
            message = "The site is asked no faster than is polite; its turn comes after maxLatencyMs."
        else:
            message = "The site is asked no faster than is polite; the page waits for its turn."
        yield Obstacle(code=Code.RATE_LIMIT_EXCEEDED, message=message, retry_after_ms=wait_ms)
    if not any(tier.available for tier in tiers):
        yield _obstacle(Code.CONFIG_TIER_NOT_DEPLOYED, "None of the tiers that may be used is there.")


def _told(refused: Fault) -> Obstacle:
    return _obstacle(refused.code, refused.message)


def _obstacle(code: Code, message: str) -> Obstacle:
    return Obstacle(code=code, message=message)
