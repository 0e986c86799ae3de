"""What a browse may use: tiers and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from protocol.browse import DEFAULT_LATENCY_MS, TIERS, BrowseOptions, RenderTier
from protocol.faults import Code, FaultError, fault

EXPECTED_MS: Mapping[RenderTier, int] = MappingProxyType(
    {RenderTier.INTELLIGENCE: 50, RenderTier.LIGHTWEIGHT: 200, RenderTier.PLAYWRIGHT: 2_000}
)
"""What a tier takes at least, in milliseconds (000 §7, lower bounds of the typical latency)."""

SCRIPTED = frozenset({RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT})
"""The tiers that run a page's scripts."""


@dataclass(frozen=True)
class Budget:
    """Tiers up to `max_cost_tier`, or `force_tier` alone, for `max_latency_ms`; with `scripted` those that run scripts.

    `start` is where to begin, for the reason `why`: what is cheaper is passed over.
    """

    max_cost_tier: RenderTier = RenderTier.PLAYWRIGHT
    force_tier: RenderTier | None = None
    max_latency_ms: int = DEFAULT_LATENCY_MS
    scripted: bool = False
    start: RenderTier | None = None
    why: str = ""

    @property
    def tiers(self) -> tuple[RenderTier, ...]:
        """The tiers that may be tried, cheapest first."""
        if self.force_tier is not None:
            return (self.force_tier,)
        allowed = (tier for tier in TIERS if tier.cost <= self.max_cost_tier.cost)
        return tuple(tier for tier in allowed if tier in SCRIPTED or not self.scripted)

    @property
    def affordable(self) -> tuple[RenderTier, ...]:
        """Those of `tiers` that fit into the time, or the cheapest alone: one is always tried (000 §7)."""
        return tuple(tier for tier in self.tiers if EXPECTED_MS[tier] <= self.max_latency_ms) or self.tiers[:1]

    @property
    def passed_over(self) -> tuple[RenderTier, ...]:
        """The tiers below `start`."""
        start = self.start
        return () if start is None else tuple(tier for tier in self.tiers if tier.cost < start.cost)


def budget(options: BrowseOptions) -> Budget:
    """Read the budget out of the options.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when `forceTier` costs more than `maxCostTier` allows, or no tier that
            is allowed can do what is asked for.
    """
    forced, highest = options.force_tier, options.max_cost_tier
    if forced is not None and forced.cost > highest.cost:
        message = f"options.forceTier: {forced} costs more than maxCostTier {highest} allows"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="options.forceTier"))
    wish = _wish(options)
    if wish and (forced or highest) not in SCRIPTED:
        message = f"options.{wish}: needs a tier that runs scripts; allow lightweight or playwright"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=f"options.{wish}"))
    return Budget(max_cost_tier=highest, force_tier=forced, max_latency_ms=options.max_latency_ms, scripted=bool(wish))


def _wish(options: BrowseOptions) -> str:
    """Name the option that only a tier with scripts can fulfil."""
    if options.wait_for_selector is not None:
        return "waitForSelector"
    return "scrollToLoad" if options.scroll_to_load else ""
