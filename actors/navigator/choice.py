"""Chooses among the tiers by what is known of a site: the one to begin with, the one to start early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct

from actors.navigator.history import chance, faded
from protocol.tiers import TIERS, HostKind, Prior, RenderTier, TierHistory, TierRecord

AGAIN = 0.5
"""The least chance of a tier that was enough the last time. To try it once more in vain costs little; where a site no
longer needs a dear tier, one probe shows it, and the next visit is to gain by it."""

PROBE_EVERY = 4
"""A cheaper tier is tried anew with every so manieth visit at least, after its first refusals sooner. A change then
shows within four visits, and probing costs 5 % at light sites (1/4 of 5) and 6 % at browser-only ones (6/4 of 25)."""

MOSTLY = 0.5
"""A tier that is enough for fewer pages than this mostly fails."""

MIN_REFUSED = 1.0
"""Refusals, faded, from which on history says something: what is merely believed starts nothing early."""


class StartReason(StrEnum):
    """Why a visit begins with its tier, in words for people."""

    CHEAPEST = "nothing is known of the site"
    STATIC = "the host is known to be static"
    BROWSER_ONLY = "the host is known to need a real browser"
    LEARNED = "earlier visits of the site needed more"
    PROBE = "a cheaper tier is tried anew"


SUFFICED = "it was enough for earlier visits of the site"


class TierChoice(Struct, frozen=True):
    """The tier that a visit begins with; `probe` when a dearer one is expected to cost less in the end."""

    tier: RenderTier
    reason: StartReason
    probe: bool = False


class Early(Struct, frozen=True):
    """A better tier that is to be started early: when the one at work has no page after so long."""

    tier: RenderTier
    after_ms: int


class Estimate(Struct, frozen=True):
    """How a visit would go: where it begins, how probable each tier is enough once tried, and the cost to expect.

    `early` holds the tiers that are started early, `history` what is known of the host as of now, and `learned_ms` when
    a visit last added to it (since the epoch).
    """

    start: TierChoice
    chances: Mapping[RenderTier, float]
    expected: float
    early: Mapping[RenderTier, Early]
    history: TierHistory | None
    learned_ms: int
    kind: HostKind | None

    @property
    def why(self) -> str:
        """Why it begins there, in words for people."""
        if self.start.reason is StartReason.LEARNED and self.start.tier is TIERS[0]:
            return SUFFICED
        return self.start.reason.value


def estimate(  # noqa: PLR0913 - what is known, what is allowed, and the two limits
    history: TierHistory | None,
    kind: HostKind | None,
    allowed: Sequence[RenderTier],
    now_ms: int,
    *,
    percent: int,
    may_probe: bool = True,
) -> Estimate:
    """Return how a visit would go; `allowed` is not empty."""
    begun = start(history, kind, allowed, now_ms, may_probe=may_probe)
    now = faded(history, now_ms) if history else None
    tiers = sorted(set(allowed), key=TIERS.index)
    refusing = _refusing(now.tiers if now else {}, kind)
    below = {tier: refusing[TIERS[tier.rank - 1]] if tier.rank else 1.0 for tier in TIERS}
    remaining = [tier for tier in tiers if tier.rank >= begun.tier.rank]
    hedges = (
        hedge(history, kind, tier, remaining, now_ms, percent=percent, escalated=tier is not begun.tier)
        for tier in remaining
    )
    return Estimate(
        start=begun,
        chances={tier: 1 - refusing[tier] / below[tier] if below[tier] else 1.0 for tier in TIERS},
        expected=_expected(begun.tier, tiers, refusing),
        early={early.tier: early for early in hedges if early is not None},
        history=now,
        learned_ms=history.at_ms if history else 0,
        kind=kind,
    )


def start(
    history: TierHistory | None,
    kind: HostKind | None,
    allowed: Sequence[RenderTier],
    now_ms: int,
    *,
    may_probe: bool = True,
) -> TierChoice:
    """Choose the tier that costs least until a page is accepted, or a cheaper one whose turn it is to be tried anew.

    `allowed` is not empty. Without `may_probe` nothing is tried anew, as while another visit does that.
    """
    tiers = sorted(set(allowed), key=TIERS.index)
    records = faded(history, now_ms).tiers if history else {}
    refusing = _refusing(records, kind)
    best = min(tiers, key=lambda tier: (_expected(tier, tiers, refusing), tier.rank))
    due = [tier for tier in tiers if tier.rank < best.rank and _is_due(records.get(tier, TierRecord()))]
    if due and may_probe:
        return TierChoice(due[0], StartReason.PROBE, probe=True)
    return TierChoice(best, _reason(records, kind))


def hedge(  # noqa: PLR0913 - what is known, what is asked, and the two limits
    history: TierHistory | None,
    kind: HostKind | None,
    tier: RenderTier,
    allowed: Sequence[RenderTier],
    now_ms: int,
    *,
    percent: int,
    escalated: bool = False,
) -> Early | None:
    """Choose the tier to start early beside `tier`, where that one mostly fails; `escalated`: cheaper ones just have.

    What is spent in vain, because `tier` has the page after all, is at most `percent` of what such a visit costs, in
    the long run.
    """
    tiers = sorted({tier, *allowed}, key=TIERS.index)
    dearer = tiers[tiers.index(tier) + 1 :]
    records = faded(history, now_ms).tiers if history else {}
    if not dearer or records.get(tier, TierRecord()).refused < MIN_REFUSED:
        return None
    refusing = _refusing(records, kind)
    if escalated and tier.rank:
        given = refusing[TIERS[tier.rank - 1]]
        refusing = {each: left / given for each, left in refusing.items()}
    enough = 1 - refusing[tier]
    in_vain = enough * dearer[0].spec.cost_units
    if enough >= MOSTLY or 100 * in_vain > percent * _expected(tier, tiers, refusing):
        return None
    return Early(dearer[0], tier.expected_ms)


def _refusing(records: Mapping[RenderTier, TierRecord], kind: HostKind | None) -> dict[RenderTier, float]:
    """Estimate for each tier how probable it is that neither it nor a cheaper one is enough."""
    refusing: dict[RenderTier, float] = {}
    left = 1.0
    for tier in TIERS:
        record = records.get(tier, TierRecord())
        enough = chance(record, _prior(tier, kind))
        left *= 1 - (max(enough, AGAIN) if record.run > 0 else enough)
        refusing[tier] = left
    return refusing


def _prior(tier: RenderTier, kind: HostKind | None) -> Prior:
    return tier.spec.host_priors.get(kind, tier.spec.prior) if kind is not None else tier.spec.prior


def _expected(first: RenderTier, tiers: Sequence[RenderTier], refusing: Mapping[RenderTier, float]) -> float:
    """Estimate what a visit costs that begins with `first` and escalates from there."""
    remaining = tiers[tiers.index(first) :]
    return first.spec.cost_units + sum(refusing[below] * tier.spec.cost_units for below, tier in pairwise(remaining))


def _is_due(record: TierRecord) -> bool:
    every = min(1 - record.run, PROBE_EVERY) if record.run < 0 else PROBE_EVERY
    return record.passed_over + 1 >= every


def _reason(records: Mapping[RenderTier, TierRecord], kind: HostKind | None) -> StartReason:
    if any(record.enough + record.refused >= MIN_REFUSED for record in records.values()):
        return StartReason.LEARNED
    if kind is None:
        return StartReason.CHEAPEST
    return StartReason.STATIC if kind is HostKind.STATIC else StartReason.BROWSER_ONLY
