"""The escalation policy: what a browse may use, which tier comes next after what was tried, and the fault at the end.

Cheapest first, or from where experience says. After each attempt `REACTIONS` says whether its failure ends the browse
(END), makes further tiers useless (SETTLE) or is worth a better tier (ESCALATE). Settled or at the top, the usable page
that is most probably the right one is the answer, else the failure that says most. A tier that broke down is not taken
for a page that shows nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import assert_never

from msgspec import Struct, structs

from actors.navigator.attempts import (
    INFORMATIVE,
    REACTIONS,
    SHOWS_LITTLE,
    Absent,
    Accepted,
    Attempt,
    Failed,
    Failure,
    Reaction,
    Rejected,
    Skipped,
    Superseded,
    TooSlow,
    code_of,
    reason,
)
from protocol.actions import RETRY, ranked
from protocol.browse import DEFAULT_LATENCY_MS, BrowseOptions, contradiction, lacks_awaited, wish_for_scripts
from protocol.faults import KINDS, Category, Code, Fault, FaultError, fault, rate_limited
from protocol.pages import Fetched
from protocol.tiers import TIERS, RenderTier


class Budget(Struct, frozen=True):
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
    if (refusal := contradiction(options)) is not None:
        raise FaultError(refusal)
    return Budget(
        max_cost_tier=options.max_cost_tier,
        force_tier=options.force_tier,
        max_latency_ms=options.max_latency_ms,
        scripted=bool(wish_for_scripts(options)),
    )


class TryTier(Struct, frozen=True):
    """Fetch in this tier and judge the page."""

    tier: RenderTier


class SkipTier(Struct, frozen=True):
    """Add this attempt to the others; nothing is done."""

    attempt: Attempt


class WaitForTier(Struct, frozen=True):
    """No tier answers that could help: give this one time to come back, and go on with what comes of that."""

    tier: RenderTier


class ReturnPage(Struct, frozen=True):
    """Return this page as the answer."""

    page: Fetched


class FailBrowse(Struct, frozen=True):
    """End the browse with this fault, which happened in `tier` unless nothing was tried."""

    fault: Fault
    tier: RenderTier | None = None


Step = TryTier | SkipTier | WaitForTier | ReturnPage | FailBrowse


def next_step(budget: Budget, attempts: Sequence[Attempt], elapsed_ms: int) -> Step:
    """Decide what to do after `attempts`, `elapsed_ms` after the browse began."""
    over = [tier for tier in budget.passed_over if tier not in {attempt.tier for attempt in attempts}]
    if over:
        return SkipTier(Attempt(over[0], Skipped(budget.why)))
    last = attempts[-1] if attempts else None
    if last is not None and isinstance(last.outcome, Accepted):
        return ReturnPage(last.outcome.page)
    if last is None or last.failure is None or _doubted(last.failure):
        return _escalate(budget, attempts, elapsed_ms)
    match _reaction(last.failure):
        case Reaction.ESCALATE:
            return _escalate(budget, attempts, elapsed_ms)
        case Reaction.SETTLE:
            return _settle(budget, attempts)
        case Reaction.END:
            return _fail(budget, attempts, last.tier, last.failure)


def _reaction(failure: Failure) -> Reaction:
    """Return what a failure means; a site that says when to come back is not asked again before, by any tier."""
    named = isinstance(failure, Rejected) and _names_delay(failure.code, failure.page)
    return Reaction.SETTLE if named else REACTIONS[code_of(failure)]


def _doubted(failure: Failure) -> bool:
    """Whether the tier itself says that a browser would show something else than the page that was refused."""
    return (
        isinstance(failure, Rejected) and failure.page.status == HTTPStatus.OK and bool(failure.page.evidence.escalate)
    )


def _escalate(budget: Budget, attempts: Sequence[Attempt], elapsed_ms: int) -> Step:
    """Try the next tier, if it fits into the time; settle where there is none."""
    tier = _next(budget, attempts)
    if tier is None:
        return _settle_or_wait(budget, attempts) if any(a.tried for a in attempts) else _nobody(budget, attempts)
    left_ms = max(budget.max_latency_ms - elapsed_ms, 0)
    # The first tier is always tried, however short the time is (000 §7).
    if any(attempt.tried for attempt in attempts) and tier.expected_ms > left_ms:
        return SkipTier(Attempt(tier, TooSlow(left_ms)))
    return TryTier(tier)


def _next(budget: Budget, attempts: Sequence[Attempt]) -> RenderTier | None:
    """Find the cheapest tier from the start up; what was passed over, only where nothing above it saw the page."""
    begun = {attempt.tier for attempt in attempts if not isinstance(attempt.outcome, Skipped)}
    left = [tier for tier in budget.tiers if tier not in begun]
    above = [tier for tier in left if tier not in budget.passed_over]
    if above:
        return above[0]
    return left[0] if left and all(_blind(attempt) for attempt in attempts) else None


def _blind(attempt: Attempt) -> bool:
    """Whether an attempt says nothing about the page, but about the tier."""
    match attempt.outcome:
        case Failed() as failed:
            return failed.fault.code is Code.NETWORK_TIMEOUT or _own(failed)
        case Absent() | TooSlow() | Skipped() | Superseded():
            return True
        case Accepted() | Rejected():
            return False
        case _:
            assert_never(attempt.outcome)


_OWN = frozenset({Category.BROWSER, Category.CONFIG, Category.INTERNAL})


def _own(failed: Failed) -> bool:
    """Whether it is the tier that failed, and not the site or the page."""
    return failed.fault.category in _OWN


def _settle(budget: Budget, attempts: Sequence[Attempt]) -> ReturnPage | FailBrowse:
    """Return the usable page that is most probably the right one, or else the failure that says most.

    Something was tried. Of pages that are as probable the one with the most text is the answer.
    """
    failures = [(attempt.tier, failure) for attempt in reversed(attempts) if (failure := attempt.failure)]
    usable = [one for _, one in failures if isinstance(one, Rejected) and one.verdict.usable]
    if usable:
        return ReturnPage(max(usable, key=lambda one: (one.verdict.probability, one.page.evidence.content_length)).page)
    tier, failure = min(failures, key=lambda pair: _rank(pair[1]))
    broken = [(own, one) for own, one in failures if own.spec.runs_scripts and isinstance(one, Failed) and _own(one)]
    if code_of(failure) in SHOWS_LITTLE and tier.rank < max((own.rank for own, _ in broken), default=0):
        tier, failure = broken[0]
    return _fail(budget, attempts, tier, failure)


def _settle_or_wait(budget: Budget, attempts: Sequence[Attempt]) -> ReturnPage | FailBrowse | WaitForTier:
    """Settle, but before a failure wait once for the tiers that run scripts, where all of them are away."""
    settled = _settle(budget, attempts)
    away = [one for one in attempts if isinstance(one.outcome, Absent) and one.tier.spec.runs_scripts]
    all_away = {one.tier for one in away} == {tier for tier in budget.tiers if tier.spec.runs_scripts}
    awaited = [one.tier for one in away if one.may_return]
    if isinstance(settled, FailBrowse) and all_away and awaited and not _has_waited(attempts):
        return WaitForTier(awaited[0])
    return settled


def _rank(failure: Failure) -> int:
    category = KINDS[code_of(failure)].category
    return next((rank for rank, group in enumerate(INFORMATIVE) if category in group), len(INFORMATIVE))


def _nobody(budget: Budget, attempts: Sequence[Attempt]) -> WaitForTier | FailBrowse:
    """Wait once for an actor that is being restarted, unless it says that it cannot work; nothing was tried."""
    away = [attempt for attempt in attempts if isinstance(attempt.outcome, Absent)]
    explained = {attempt.tier for attempt in away if not attempt.may_return}
    waitable = [tier for tier in budget.tiers if tier not in explained]
    if waitable and not _has_waited(attempts):
        return WaitForTier(waitable[0])
    return FailBrowse(_no_tier(budget, away))


def _has_waited(attempts: Sequence[Attempt]) -> bool:
    return any(isinstance(attempt.outcome, Absent) and attempt.outcome.waited for attempt in attempts)


def _fail(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, failure: Failure) -> FailBrowse:
    return FailBrowse(_fault_of(budget, attempts, tier, failure), tier)


def _fault_of(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, failure: Failure) -> Fault:
    """Make the fault out of what came of a tier; where a better tier might have helped, it says why none did."""
    words = reason(failure)
    if REACTIONS[code_of(failure)] is Reaction.ESCALATE:
        words = ". ".join(filter(None, (words, _better_tiers(budget, attempts, tier, code_of(failure)))))
    match failure:
        case Rejected(page=page, code=code):
            return _page_fault(code, words, page)
        case Failed(fault=original):
            return structs.replace(original, message=words)
        case _:
            assert_never(failure)


_MAY_NAME_DELAY = frozenset(
    {Code.HTTP_FORBIDDEN, Code.HTTP_CLIENT_ERROR, Code.HTTP_BAD_GATEWAY, Code.HTTP_SERVER_ERROR}
)
"""Codes of refusals, besides those of too many requests, with which some sites say when to come back."""


def _names_delay(code: Code, page: Fetched) -> bool:
    return code in _MAY_NAME_DELAY and page.status >= HTTPStatus.BAD_REQUEST and bool(page.retry_after_ms)


def _page_fault(code: Code, message: str, page: Fetched) -> Fault:
    """Make the fault that a page's code stands for, with the delay that the site asked for."""
    limited = rate_limited(message, page.retry_after_ms, http_status=page.status)
    if _names_delay(code, page):
        others = (action for action in KINDS[code].actions if action.action != RETRY.action)
        waiting = fault(code, message, http_status=page.status, actions=ranked((limited.actions[0], *others)))
        return structs.replace(waiting, retryable=True)
    if code is Code.RATE_LIMIT_EXCEEDED:
        return limited
    if code is Code.ELEMENT_NOT_FOUND:
        return lacks_awaited(message)
    if code is Code.BLOCKED_RATE_LIMITED or (code is Code.HTTP_SERVICE_UNAVAILABLE and page.retry_after_ms):
        return fault(code, message, http_status=page.status, actions=limited.actions)
    return fault(code, message, http_status=page.status)


def _better_tiers(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, code: Code) -> str:
    scripted = {each for each in budget.tiers if each.spec.runs_scripts}
    if code is Code.CONTENT_REQUIRES_JS and not scripted:
        limit = f"forceTier {budget.force_tier}" if budget.force_tier else f"maxCostTier {budget.max_cost_tier}"
        return f"{limit} rules out the tiers that run scripts"
    if code is Code.CONTENT_REQUIRES_JS and scripted <= {one.tier for one in attempts if one.may_return}:
        return "No tier that runs scripts is deployed"
    better = sorted((one for one in attempts if one.tier.rank > tier.rank), key=lambda attempt: attempt.tier.rank)
    return "; ".join(f"{attempt.tier}: {reason(attempt.outcome)}" for attempt in better)


def _no_tier(budget: Budget, attempts: Sequence[Attempt]) -> Fault:
    """Make the fault of a browse that no tier could be put to work for."""
    if budget.force_tier is None:
        reasons = "; ".join(f"{attempt.tier}: {reason(attempt.outcome)}" for attempt in attempts)
        return fault(Code.INTERNAL_UNAVAILABLE, f"No fetcher is running ({reasons})")
    code = Code.BROWSER_UNAVAILABLE if budget.force_tier.spec.is_browser else Code.CONFIG_TIER_NOT_DEPLOYED
    why = "; ".join(reason(attempt.outcome) for attempt in attempts)
    return fault(code, f"forceTier {budget.force_tier}: {why}")
