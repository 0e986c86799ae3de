"""The ladder of tiers: given what was tried, the next step of a browse.

Cheapest first, or from where experience says. After each attempt `REACTIONS` says whether its failure ends the browse
(END), makes further tiers useless (SETTLE) or is worth a better tier (CLIMB). Settled or at the top, the best usable
page is the answer, else the failure that says most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from actors.navigator.attempts import (
    Absent,
    Accepted,
    Attempt,
    Failed,
    Failure,
    Overtaken,
    Passed,
    Rejected,
    TooSlow,
    code_of,
)
from actors.navigator.budget import Budget
from actors.navigator.failing import nobody, told
from actors.navigator.reactions import INFORMATIVE, REACTIONS, Reaction
from protocol.faults import KINDS, Category, Code, Fault
from protocol.pages import Fetched
from protocol.tiers import RenderTier


@dataclass(frozen=True)
class Try:
    """Fetch in this tier and judge the page."""

    tier: RenderTier


@dataclass(frozen=True)
class Skip:
    """Add this attempt to the others; nothing is done."""

    attempt: Attempt


@dataclass(frozen=True)
class Wait:
    """Nothing answers: give this tier time to come back, and begin anew with what comes of that."""

    tier: RenderTier


@dataclass(frozen=True)
class Answer:
    """Return this page as the answer."""

    page: Fetched


@dataclass(frozen=True)
class Fail:
    """End the browse with this fault, which happened in `tier` unless nothing was tried."""

    fault: Fault
    tier: RenderTier | None = None


Step = Try | Skip | Wait | Answer | Fail


def next_step(budget: Budget, attempts: Sequence[Attempt], elapsed_ms: int) -> Step:
    """Decide what to do after `attempts`, `elapsed_ms` after the browse began."""
    over = [tier for tier in budget.passed_over if tier not in {attempt.tier for attempt in attempts}]
    if over:
        return Skip(Attempt(over[0], Passed(budget.why)))
    last = attempts[-1] if attempts else None
    if last is not None and isinstance(last.outcome, Accepted):
        return Answer(last.outcome.page)
    if last is None or last.failure is None:
        return _climb(budget, attempts, elapsed_ms)
    match REACTIONS[code_of(last.failure)]:
        case Reaction.CLIMB:
            return _climb(budget, attempts, elapsed_ms)
        case Reaction.SETTLE:
            return _settle(budget, attempts)
        case Reaction.END:
            return _fail(budget, attempts, last.tier, last.failure)


def _climb(budget: Budget, attempts: Sequence[Attempt], elapsed_ms: int) -> Step:
    """Try the next tier, if it fits into the time; settle where there is none."""
    tier = _next(budget, attempts)
    if tier is None:
        return _settle(budget, attempts) if any(a.tried for a in attempts) else _nobody(budget, attempts)
    left_ms = max(budget.max_latency_ms - elapsed_ms, 0)
    # The first tier is always tried, however short the time is (000 §7).
    if any(attempt.tried for attempt in attempts) and tier.expected_ms > left_ms:
        return Skip(Attempt(tier, TooSlow(left_ms)))
    return Try(tier)


def _next(budget: Budget, attempts: Sequence[Attempt]) -> RenderTier | None:
    """Find the cheapest tier from the start up; what was passed over, only where nothing above it saw the page."""
    begun = {attempt.tier for attempt in attempts if not isinstance(attempt.outcome, Passed)}
    left = [tier for tier in budget.tiers if tier not in begun]
    above = [tier for tier in left if tier not in budget.passed_over]
    if above:
        return above[0]
    return left[0] if left and all(_blind(attempt) for attempt in attempts) else None


def _blind(attempt: Attempt) -> bool:
    """Whether an attempt says nothing about the page, but about the tier."""
    match attempt.outcome:
        case Failed(fault=failure):
            return failure.code is Code.NETWORK_TIMEOUT or failure.category in _OWN
        case Absent() | TooSlow() | Passed() | Overtaken():
            return True
        case Accepted() | Rejected():
            return False
        case _:
            assert_never(attempt.outcome)


_OWN = frozenset({Category.BROWSER, Category.CONFIG, Category.INTERNAL})


def _settle(budget: Budget, attempts: Sequence[Attempt]) -> Answer | Fail:
    """Return the usable page with the most text, or else the failure that says most; something was tried."""
    failures = [(attempt.tier, failure) for attempt in reversed(attempts) if (failure := attempt.failure)]
    usable = [one.page for _, one in failures if isinstance(one, Rejected) and one.verdict.usable]
    if usable:
        return Answer(max(usable, key=lambda page: page.evidence.content_length))
    tier, failure = min(failures, key=lambda pair: _rank(pair[1]))
    return _fail(budget, attempts, tier, failure)


def _rank(failure: Failure) -> int:
    category = KINDS[code_of(failure)].category
    return next((rank for rank, group in enumerate(INFORMATIVE) if category in group), len(INFORMATIVE))


def _nobody(budget: Budget, attempts: Sequence[Attempt]) -> Wait | Fail:
    """Wait once for an actor that is being restarted, unless it says that it cannot work; nothing was tried."""
    absent = {attempt.tier: attempt.outcome for attempt in attempts if isinstance(attempt.outcome, Absent)}
    waitable = [tier for tier in budget.tiers if tier not in absent or not absent[tier].why]
    if waitable and not any(outcome.waited for outcome in absent.values()):
        return Wait(waitable[0])
    return Fail(nobody(budget, [attempt for attempt in attempts if isinstance(attempt.outcome, Absent)]))


def _fail(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, failure: Failure) -> Fail:
    return Fail(told(budget, attempts, tier, failure), tier)
