"""What a client is told when no tier gave a page that may be given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from msgspec import structs

from actors.navigator.attempts import Absent, Attempt, Failed, Failure, Rejected, code_of, reason
from actors.navigator.budget import Budget
from actors.navigator.reactions import REACTIONS, Reaction
from protocol.faults import Code, Fault, fault, rate_limited
from protocol.pages import Fetched
from protocol.tiers import RenderTier


def told(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, failure: Failure) -> Fault:
    """Make the fault out of what came of a tier; where a better tier might have helped, it says why none did."""
    words = reason(failure)
    if REACTIONS[code_of(failure)] is Reaction.CLIMB:
        words = ". ".join(filter(None, (words, _better_tiers(budget, attempts, tier, code_of(failure)))))
    match failure:
        case Rejected(page=page, code=code):
            return _page_fault(code, words, page)
        case Failed(fault=original):
            return structs.replace(original, message=words)
        case _:
            assert_never(failure)


def _page_fault(code: Code, message: str, page: Fetched) -> Fault:
    """Make the fault that a page's code stands for, with the delay that the site asked for."""
    limited = rate_limited(message, page.retry_after_ms, http_status=page.status)
    if code is Code.RATE_LIMIT_EXCEEDED:
        return limited
    if code is Code.BLOCKED_RATE_LIMITED or (code is Code.HTTP_SERVICE_UNAVAILABLE and page.retry_after_ms):
        return fault(code, message, http_status=page.status, actions=limited.actions)
    return fault(code, message, http_status=page.status)


def _better_tiers(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, code: Code) -> str:
    scripted = {each for each in budget.tiers if each.spec.runs_scripts}
    if code is Code.CONTENT_REQUIRES_JS and not scripted:
        limit = f"forceTier {budget.force_tier}" if budget.force_tier else f"maxCostTier {budget.max_cost_tier}"
        return f"{limit} rules out the tiers that run scripts"
    if code is Code.CONTENT_REQUIRES_JS and scripted <= {a.tier for a in attempts if a.outcome == Absent()}:
        return "No tier that runs scripts is deployed"
    better = (attempt for attempt in attempts if attempt.tier.rank > tier.rank)
    return "; ".join(f"{attempt.tier}: {reason(attempt.outcome)}" for attempt in better)


def nobody(budget: Budget, attempts: Sequence[Attempt]) -> Fault:
    """Make the fault of a browse that no tier could be put to work for."""
    if budget.force_tier is None:
        reasons = "; ".join(f"{attempt.tier}: {reason(attempt.outcome)}" for attempt in attempts)
        return fault(Code.INTERNAL_UNAVAILABLE, f"No fetcher is running ({reasons})")
    code = Code.BROWSER_UNAVAILABLE if budget.force_tier.spec.is_browser else Code.CONFIG_TIER_NOT_DEPLOYED
    why = "; ".join(reason(attempt.outcome) for attempt in attempts)
    return fault(code, f"forceTier {budget.force_tier}: {why}")
