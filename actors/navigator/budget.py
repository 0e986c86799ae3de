"""What a browse may use: tiers and time."""

from __future__ import annotations

from dataclasses import dataclass

from protocol.browse import DEFAULT_LATENCY_MS, BrowseOptions, contradiction, wish_for_scripts
from protocol.faults import FaultError
from protocol.tiers import TIERS, RenderTier


@dataclass(frozen=True)
class Budget:
    """Tiers up to `max_cost_tier`, or `force_tier` alone, for `max_latency_ms`; with `scripted` those that run scripts.

    `start` is where to begin, for the reason `why`: what is cheaper is passed over.
    """

    max_cost_tier: RenderTier = TIERS[-1]
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
        allowed = (tier for tier in TIERS if tier.rank <= self.max_cost_tier.rank)
        return tuple(tier for tier in allowed if tier.spec.runs_scripts or not self.scripted)

    @property
    def affordable(self) -> tuple[RenderTier, ...]:
        """Those of `tiers` that fit into the time, or the cheapest alone: one is always tried (000 §7)."""
        return tuple(tier for tier in self.tiers if tier.expected_ms <= self.max_latency_ms) or self.tiers[:1]

    @property
    def passed_over(self) -> tuple[RenderTier, ...]:
        """The tiers below `start`."""
        start = self.start
        return () if start is None else tuple(tier for tier in self.tiers if tier.rank < start.rank)


def budget(options: BrowseOptions) -> Budget:
    """Read the budget out of the options.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when `forceTier` costs more than `maxCostTier` allows, or no tier that
            is allowed can do what is asked for.
    """
    if (told := contradiction(options)) is not None:
        raise FaultError(told)
    return Budget(
        max_cost_tier=options.max_cost_tier,
        force_tier=options.force_tier,
        max_latency_ms=options.max_latency_ms,
        scripted=bool(wish_for_scripts(options)),
    )
