"""The ladder of tiers: given what was tried, the next step of a browse.

Cheapest first. After each attempt `REACTIONS` says whether its failure ends the browse (END), makes further tiers
useless (SETTLE) or is worth a better tier (CLIMB). Settled or at the top, the best usable page is the answer, else the
failure that says most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import assert_never

from msgspec import structs

from protocol.browse import DEFAULT_LATENCY_MS, TIERS, BrowseOptions, RenderTier
from protocol.faults import KINDS, Category, Code, Fault, FaultError, fault, rate_limited
from protocol.pages import Fetched, Verdict

EXPECTED_MS: Mapping[RenderTier, int] = MappingProxyType(
    {RenderTier.INTELLIGENCE: 50, RenderTier.LIGHTWEIGHT: 200, RenderTier.PLAYWRIGHT: 2_000}
)
"""What a tier takes at least, in milliseconds (000 §7, lower bounds of the typical latency)."""

SCRIPTED = frozenset({RenderTier.LIGHTWEIGHT, RenderTier.PLAYWRIGHT})
"""The tiers that run a page's scripts."""


@dataclass(frozen=True)
class Budget:
    """What a browse may use: tiers up to `max_cost_tier`, or `force_tier` alone, for `max_latency_ms`."""

    max_cost_tier: RenderTier = RenderTier.PLAYWRIGHT
    force_tier: RenderTier | None = None
    max_latency_ms: int = DEFAULT_LATENCY_MS

    @property
    def tiers(self) -> tuple[RenderTier, ...]:
        """The tiers that may be tried, cheapest first."""
        if self.force_tier is not None:
            return (self.force_tier,)
        return tuple(tier for tier in TIERS if tier.cost <= self.max_cost_tier.cost)


def budget(options: BrowseOptions) -> Budget:
    """Read the budget out of the options.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, when `forceTier` costs more than `maxCostTier` allows.
    """
    forced, highest = options.force_tier, options.max_cost_tier
    if forced is not None and forced.cost > highest.cost:
        message = f"options.forceTier: {forced} costs more than maxCostTier {highest} allows"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="options.forceTier"))
    return Budget(max_cost_tier=highest, force_tier=forced, max_latency_ms=options.max_latency_ms)


# What came of a tier.


@dataclass(frozen=True)
class Accepted:
    """The verifier had no objection."""

    page: Fetched
    verdict: Verdict


@dataclass(frozen=True)
class Rejected:
    """The verifier says that the page is something else, or not whole."""

    page: Fetched
    verdict: Verdict
    code: Code


@dataclass(frozen=True)
class Failed:
    """The tier got no page."""

    fault: Fault


@dataclass(frozen=True)
class Absent:
    """No live replica of the tier; `waited` when one was given time to appear."""

    waited: bool = False


@dataclass(frozen=True)
class TooSlow:
    """The tier was not started: it would not fit into the time that is left."""

    left_ms: int


Failure = Rejected | Failed
Outcome = Accepted | Failure | Absent | TooSlow


def judged(page: Fetched, verdict: Verdict) -> Accepted | Rejected:
    """Read a verdict as an outcome."""
    return Accepted(page, verdict) if verdict.code is None else Rejected(page, verdict, verdict.code)


@dataclass(frozen=True)
class Attempt:
    """One tier, and what came of it."""

    tier: RenderTier
    outcome: Outcome
    duration_ms: int = 0

    @property
    def tried(self) -> bool:
        """Whether the tier was really put to work."""
        return isinstance(self.outcome, Accepted | Rejected | Failed)

    @property
    def failure(self) -> Failure | None:
        """What was wrong, if the tier was put to work in vain."""
        return self.outcome if isinstance(self.outcome, Rejected | Failed) else None


# What to do next.


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
    """Give this page as the answer."""

    page: Fetched


@dataclass(frozen=True)
class Fail:
    """End the browse with this fault, which happened in `tier` unless nothing was tried."""

    fault: Fault
    tier: RenderTier | None = None


Step = Try | Skip | Wait | Answer | Fail


def next_step(budget: Budget, attempts: Sequence[Attempt], elapsed_ms: int) -> Step:
    """Decide what to do after `attempts`, `elapsed_ms` after the browse began."""
    if not attempts:
        return _climb(budget, attempts, elapsed_ms)
    tier, outcome = attempts[-1].tier, attempts[-1].outcome
    match outcome:
        case Accepted(page=page):
            return Answer(page)
        case Absent() | TooSlow():
            return _climb(budget, attempts, elapsed_ms)
        case Rejected() | Failed():
            reaction = REACTIONS[_code(outcome)]
        case _:
            assert_never(outcome)
    match reaction:
        case Reaction.CLIMB:
            return _climb(budget, attempts, elapsed_ms)
        case Reaction.SETTLE:
            return _settle(budget, attempts)
        case Reaction.END:
            return _fail(budget, attempts, tier, outcome)
        case _:
            assert_never(reaction)


class Reaction(Enum):
    """What the failure of a tier means for the ladder."""

    END = auto()
    """The page itself is so, in every tier: fail with it."""
    SETTLE = auto()
    """Asking this site again does harm or no good: give the best that there is."""
    CLIMB = auto()
    """A better tier may do better."""


REACTIONS: Mapping[Code, Reaction] = MappingProxyType(
    {
        Code.NETWORK_TIMEOUT: Reaction.CLIMB,
        Code.NETWORK_CONNECTION_FAILED: Reaction.CLIMB,
        Code.NETWORK_DNS_FAILED: Reaction.END,
        Code.NETWORK_TLS_FAILED: Reaction.CLIMB,
        Code.HTTP_NOT_FOUND: Reaction.END,
        Code.HTTP_FORBIDDEN: Reaction.CLIMB,
        Code.HTTP_SERVICE_UNAVAILABLE: Reaction.SETTLE,
        Code.HTTP_BAD_GATEWAY: Reaction.SETTLE,
        Code.HTTP_CLIENT_ERROR: Reaction.CLIMB,
        Code.HTTP_SERVER_ERROR: Reaction.SETTLE,
        Code.HTTP_TOO_MANY_REDIRECTS: Reaction.CLIMB,
        Code.AUTH_SESSION_EXPIRED: Reaction.END,
        Code.AUTH_INVALID_CREDENTIALS: Reaction.END,
        Code.AUTH_MISSING_SESSION: Reaction.END,
        Code.RATE_LIMIT_EXCEEDED: Reaction.SETTLE,
        Code.CONTENT_REQUIRES_JS: Reaction.CLIMB,
        Code.CONTENT_EMPTY: Reaction.CLIMB,
        Code.CONTENT_TOO_SHORT: Reaction.CLIMB,
        Code.CONTENT_TOO_LARGE: Reaction.END,
        Code.CONTENT_UNSUPPORTED_TYPE: Reaction.END,
        Code.VALIDATION_INVALID_REQUEST: Reaction.END,
        Code.VALIDATION_INVALID_PACKET: Reaction.END,
        Code.SECURITY_URL_BLOCKED: Reaction.END,
        Code.SECURITY_ADDRESS_BLOCKED: Reaction.END,
        Code.SECURITY_ORIGIN_REFUSED: Reaction.END,
        Code.BROWSER_UNAVAILABLE: Reaction.CLIMB,
        Code.PAGE_CRASHED: Reaction.CLIMB,
        Code.BROWSER_PAGE_HUNG: Reaction.CLIMB,
        Code.ELEMENT_NOT_FOUND: Reaction.CLIMB,
        Code.SESSION_NOT_FOUND: Reaction.END,
        Code.CONFIG_TIER_NOT_DEPLOYED: Reaction.END,
        Code.CONFIG_INVALID: Reaction.END,
        Code.SITE_STRUCTURE_CHANGED: Reaction.END,
        Code.BLOCKED_BOT_DETECTION: Reaction.CLIMB,
        Code.BLOCKED_RATE_LIMITED: Reaction.SETTLE,
        Code.BLOCKED_GEO_RESTRICTED: Reaction.SETTLE,
        Code.BLOCKED_BY_ROBOTS: Reaction.END,
        Code.INTERNAL_ERROR: Reaction.CLIMB,
        Code.INTERNAL_UNAVAILABLE: Reaction.CLIMB,
        Code.INTERNAL_BUSY: Reaction.CLIMB,
        Code.INTERNAL_DISCONNECTED: Reaction.CLIMB,
        Code.INTERNAL_DEADLINE: Reaction.CLIMB,
        Code.INTERNAL_CANCELLED: Reaction.SETTLE,
    }
)

INFORMATIVE: tuple[frozenset[Category], ...] = (
    frozenset({Category.RATE_LIMIT}),
    frozenset({Category.BLOCKED}),
    frozenset({Category.HTTP}),
    frozenset({Category.CONTENT, Category.NETWORK}),
)
"""The categories that tell a client most, first; of equals the failure of the best tier does."""


def _climb(budget: Budget, attempts: Sequence[Attempt], elapsed_ms: int) -> Step:
    """Try the next tier, if it fits into the time; settle where there is none."""
    left = [tier for tier in budget.tiers if tier not in {attempt.tier for attempt in attempts}]
    if not left:
        return _settle(budget, attempts) if any(a.tried for a in attempts) else _nobody(budget, attempts)
    left_ms = max(budget.max_latency_ms - elapsed_ms, 0)
    # The first tier is always tried, however short the time is (000 §7).
    if any(attempt.tried for attempt in attempts) and EXPECTED_MS[left[0]] > left_ms:
        return Skip(Attempt(left[0], TooSlow(left_ms)))
    return Try(left[0])


def _settle(budget: Budget, attempts: Sequence[Attempt]) -> Answer | Fail:
    """Give the usable page with the most text, or else the failure that says most; something was tried."""
    failures = [(attempt.tier, failure) for attempt in reversed(attempts) if (failure := attempt.failure)]
    usable = [one.page for _, one in failures if isinstance(one, Rejected) and one.verdict.usable]
    if usable:
        return Answer(max(usable, key=lambda page: page.evidence.content_length))
    tier, failure = min(failures, key=lambda pair: _rank(pair[1]))
    return _fail(budget, attempts, tier, failure)


def _rank(failure: Failure) -> int:
    category = KINDS[_code(failure)].category
    return next((rank for rank, group in enumerate(INFORMATIVE) if category in group), len(INFORMATIVE))


def _code(failure: Failure) -> Code:
    return failure.code if isinstance(failure, Rejected) else failure.fault.code


def _nobody(budget: Budget, attempts: Sequence[Attempt]) -> Wait | Fail:
    """Wait once for an actor that is being restarted; nothing was tried."""
    if not any(attempt.outcome == Absent(waited=True) for attempt in attempts):
        return Wait(budget.tiers[0])
    if budget.force_tier is None:
        names = ", ".join(budget.tiers)
        return Fail(fault(Code.INTERNAL_UNAVAILABLE, f"No fetcher is running (allowed tiers: {names})"))
    in_browser = budget.force_tier is RenderTier.PLAYWRIGHT
    code = Code.BROWSER_UNAVAILABLE if in_browser else Code.CONFIG_TIER_NOT_DEPLOYED
    return Fail(fault(code, f"forceTier {budget.force_tier}: no live replica of this tier"))


# What a client is told.


def reason(outcome: Outcome) -> str:
    """Why a tier gave no answer, in words for people."""
    match outcome:
        case Accepted():
            return ""
        case Rejected(verdict=verdict, code=code):
            return "; ".join(verdict.reasons) or KINDS[code].meaning.removesuffix(".")
        case Failed(fault=failure):
            return failure.message.removesuffix(".")
        case Absent():
            return "No live replica of this tier"
        case TooSlow(left_ms=left_ms):
            return f"Not started: only {left_ms} ms of maxLatencyMs were left"
        case _:
            assert_never(outcome)


def _fail(budget: Budget, attempts: Sequence[Attempt], tier: RenderTier, failure: Failure) -> Fail:
    """Fail with what came of a tier; where a better tier might have helped, the message says why none did."""
    told = reason(failure)
    if REACTIONS[_code(failure)] is Reaction.CLIMB:
        told = ". ".join(filter(None, (told, _better_tiers(budget, attempts, tier, _code(failure)))))
    match failure:
        case Rejected(page=page, code=code):
            return Fail(_page_fault(code, told, page), tier)
        case Failed(fault=original):
            return Fail(structs.replace(original, message=told), tier)
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
    scripted = SCRIPTED.intersection(budget.tiers)
    absent = {attempt.tier for attempt in attempts if isinstance(attempt.outcome, Absent)}
    if code is Code.CONTENT_REQUIRES_JS and not scripted:
        limit = f"forceTier {budget.force_tier}" if budget.force_tier else f"maxCostTier {budget.max_cost_tier}"
        return f"{limit} rules out the tiers that run scripts"
    if code is Code.CONTENT_REQUIRES_JS and scripted <= absent:
        return "No tier that runs scripts is deployed"
    better = (attempt for attempt in attempts if attempt.tier.cost > tier.cost)
    return "; ".join(f"{attempt.tier}: {reason(attempt.outcome)}" for attempt in better)
