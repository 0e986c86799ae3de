"""What visits of a site teach about its tiers, and how that fades."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import assert_never

from msgspec import structs

from actors.navigator.attempts import Absent, Accepted, Attempt, Failed, Overtaken, Passed, Rejected, TooSlow
from protocol.faults import Code
from protocol.tierhistory import TierHistory, TierRecord
from protocol.tiers import TIERS, Prior, RenderTier

HALF_LIFE_MS = 30 * 86_400_000
"""Sites are rebuilt once in months or years: what was seen this month counts, what is half a year old hardly does. A
host that is visited once a week still collects enough to be known by."""

KEPT = 0.9
"""What is left of older results after each new one, so that about ten count: with fewer, a site of which a third of
the pages needs more would be misjudged by chance, with more, a change would take longer to outweigh."""

SURPRISE = 0.02
"""A run of equal results that was less probable than this, by all that is known, shows that the site has changed."""

MIN_SURPRISE_RUN = 2
"""One page alone may be an odd one."""

INHERITED = 3.0
"""Results that a new host takes over at most from the other hosts of its domain: a few of its own outweigh them."""

LATEST = 0.3
"""The weight of the last visit in what a tier takes: about five of them count."""

_DIGITS = 4


class Evidence(Enum):
    """What an attempt says of its tier."""

    ENOUGH = auto()
    """It had the page."""
    NEEDS_MORE = auto()
    """The content shows that the page needs a better tier."""
    OVERTAKEN = auto()
    """A better tier that was started early had the page first."""
    NOTHING = auto()
    """The failure may be gone the next time, or has nothing to do with the tier."""


Lessons = Mapping[RenderTier, Evidence]
"""What the attempts of one visit say, by tier."""

NEEDS_MORE = frozenset(
    {
        Code.CONTENT_REQUIRES_JS,
        Code.CONTENT_EMPTY,
        Code.CONTENT_TOO_SHORT,
        Code.BROWSER_PAGE_HUNG,
    }
)
"""What is wrong with the content itself, and will be again. All else (network, limits, blocks, errors of the site,
crashes, what only this request wanted) may be gone the next time, so it teaches nothing."""


def took(attempts: Iterable[Attempt]) -> int:
    """Return what the tier took that had the page over the network, in ms; 0 where none did."""
    for attempt in attempts:
        if isinstance(attempt.outcome, Accepted) and not attempt.outcome.page.from_cache:
            return attempt.duration_ms
    return 0


def taught(code: Code | None) -> Evidence:
    """Return what an attempt teaches that ended with `code`, or with an accepted page."""
    if code is None:
        return Evidence.ENOUGH
    return Evidence.NEEDS_MORE if code in NEEDS_MORE else Evidence.NOTHING


def lessons(attempts: Iterable[Attempt]) -> dict[RenderTier, Evidence]:
    """Return what the attempts of a visit teach; a tier that was not put to work is left out."""
    found = {attempt.tier: _lesson(attempt) for attempt in attempts}
    return {tier: evidence for tier, evidence in found.items() if evidence is not None}


def learned(history: TierHistory | None, visit: Lessons, now_ms: int, took_ms: int = 0) -> TierHistory | None:
    """Return what is known after a visit at `now_ms` (since the epoch), of which the answering tier took `took_ms`.

    A refusal counts when a better tier has had the page in the same visit: only then is it sure that there was one.
    """
    answers = [tier for tier, evidence in visit.items() if evidence is Evidence.ENOUGH]
    if not answers:
        return history
    answer = min(answers, key=_cost)
    now = faded(history or TierHistory(at_ms=now_ms), now_ms)
    tiers = {tier: _after(now.tiers.get(tier, TierRecord()), tier, answer, visit) for tier in TIERS[: answer.rank + 1]}
    if took_ms:
        tiers[answer] = _timed(tiers[answer], now_ms, took_ms)
    return structs.replace(now, tiers={**now.tiers, **tiers})


def faded(history: TierHistory, now_ms: int) -> TierHistory:
    """Return what is left of a history at `now_ms`; a clock that went back takes nothing away and adds nothing."""
    factor = 0.5 ** (max(now_ms - history.at_ms, 0) / HALF_LIFE_MS)
    tiers = {tier: _scaled(record, factor) for tier, record in history.tiers.items()}
    return TierHistory(at_ms=max(history.at_ms, now_ms), tiers=tiers)


def inherited(domain: TierHistory) -> TierHistory:
    """Return what a host that is new takes over from the other hosts of its domain."""
    tiers: dict[RenderTier, TierRecord] = {}
    for tier, record in domain.tiers.items():
        weight = record.enough + record.refused
        left = _scaled(record, min(INHERITED / weight, 1.0)) if weight else record
        tiers[tier] = TierRecord(enough=left.enough, refused=left.refused)
    return TierHistory(at_ms=domain.at_ms, tiers=tiers)


def chance(record: TierRecord, prior: Prior) -> float:
    """Estimate how probable it is that the tier is enough, when no cheaper one is."""
    enough, refused = record.enough + prior.enough, record.refused + prior.refused
    return enough / (enough + refused)


def _lesson(attempt: Attempt) -> Evidence | None:
    match attempt.outcome:
        case Accepted(page=page):
            # What never had markup (JSON, PDF) is the same in every tier: it says nothing of the pages of its site.
            return Evidence.ENOUGH if page.evidence.markup else Evidence.NOTHING
        case Rejected(code=code):
            return taught(code)
        case Failed(fault=failure):
            return taught(failure.code)
        case Overtaken():
            return Evidence.OVERTAKEN
        case Absent() | TooSlow() | Passed():
            return None
        case _:
            assert_never(attempt.outcome)


def _after(record: TierRecord, tier: RenderTier, answer: RenderTier, visit: Lessons) -> TierRecord:
    """Return the record of a tier, up to that of the answer, after a visit."""
    here = visit.get(tier, None)
    below = [visit.get(other) for other in TIERS[: tier.rank]]
    refused = any(visit.get(other) is Evidence.NEEDS_MORE for other in TIERS[tier.rank : answer.rank])
    if refused:  # what is not enough in a better tier is not in this one
        record = _seen(record, tier, enough=False)
    elif tier is answer and Evidence.NOTHING not in below:  # else a cheaper tier might have been enough
        record = _seen(record, tier, enough=True)
    tried = here is not None and here is not Evidence.NOTHING
    return structs.replace(record, passed_over=0 if tried else record.passed_over + 1)


def _timed(record: TierRecord, now_ms: int, took_ms: int) -> TierRecord:
    before = record.took_ms or took_ms
    average = round(before + (took_ms - before) * LATEST)
    return structs.replace(record, took_ms=average, worked_ms=max(now_ms, record.worked_ms))


def _seen(record: TierRecord, tier: RenderTier, *, enough: bool) -> TierRecord:
    expected = chance(record, tier.spec.prior)
    alike = record.run > 0 if enough else record.run < 0
    run = (abs(record.run) if alike else 0) + 1
    odds = (record.odds if alike else 1.0) * (expected if enough else 1 - expected)
    if run >= MIN_SURPRISE_RUN and odds < SURPRISE:
        kept, before, odds = 0.0, run - 1.0, 1.0
    else:
        kept, before = KEPT, 0.0
    return structs.replace(
        record,
        enough=round(record.enough * kept + enough * (before + 1), _DIGITS),
        refused=round(record.refused * kept + (not enough) * (before + 1), _DIGITS),
        run=run if enough else -run,
        odds=float(f"{odds:.{_DIGITS}g}"),
    )


def _scaled(record: TierRecord, factor: float) -> TierRecord:
    enough, refused = round(record.enough * factor, _DIGITS), round(record.refused * factor, _DIGITS)
    return structs.replace(record, enough=enough, refused=refused)


def _cost(tier: RenderTier) -> int:
    return tier.rank
