"""What can come of putting a tier to work, and what each failure means for the browse: a table of every code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum, auto
from types import MappingProxyType
from typing import assert_never

from msgspec import Struct, structs

from actors.navigator.sketches import same_text
from protocol.faults import KINDS, Category, Code, Fault
from protocol.page import PageKind
from protocol.pages import Fetched, Verdict
from protocol.patterns.use import PatternCall
from protocol.tiers import RenderTier

SHOWS_LITTLE = frozenset({Code.CONTENT_REQUIRES_JS, Code.CONTENT_EMPTY, Code.CONTENT_TOO_SHORT})
"""Codes of a page that shows too little: of one that a better tier broke down over, they say the least."""

_LACKS_AWAITED = "options.waitForSelector: no element of the page matched it within the time"


class Accepted(Struct, frozen=True):
    """The verifier had no objection."""

    page: Fetched
    verdict: Verdict


class Rejected(Struct, frozen=True):
    """The verifier says that the page is something else, or not whole."""

    page: Fetched
    verdict: Verdict
    code: Code


class Failed(Struct, frozen=True):
    """The tier got no page."""

    fault: Fault


class Absent(Struct, frozen=True):
    """No live replica of the tier can work; `waited` when one was given time to appear, `why` when one says why."""

    waited: bool = False
    why: str = ""


class TooSlow(Struct, frozen=True):
    """The tier was not started: it would not fit into the time that is left."""

    left_ms: int


class Skipped(Struct, frozen=True):
    """The tier was passed over for a better one, for this reason."""

    why: str


class Superseded(Struct, frozen=True):
    """The tier was stopped: the next one, which was started early, had the page first."""


Failure = Rejected | Failed
Outcome = Accepted | Failure | Absent | TooSlow | Skipped | Superseded


def judged(page: Fetched, verdict: Verdict) -> Accepted | Rejected:
    """Read a verdict as an outcome; a page that may be right is refused where it lacks what the client waits for."""
    if page.evidence.lacks_awaited and (verdict.code is None or verdict.code in SHOWS_LITTLE):
        reasons = (_LACKS_AWAITED,)
        verdict = structs.replace(verdict, code=Code.ELEMENT_NOT_FOUND, usable=False, reasons=reasons)
    return Accepted(page, verdict) if verdict.code is None else Rejected(page, verdict, verdict.code)


class Attempt(Struct, frozen=True):
    """One tier, and what came of it."""

    tier: RenderTier
    outcome: Outcome
    duration_ms: int = 0
    by: PatternCall | None = None
    """The learned pattern by which the tier was asked, in the place of the page."""

    @property
    def tried(self) -> bool:
        """Whether the tier was really put to work."""
        return isinstance(self.outcome, Accepted | Rejected | Failed | Superseded)

    @property
    def may_return(self) -> bool:
        """Whether the tier was away, and nobody has said that it stays so."""
        return isinstance(self.outcome, Absent) and not self.outcome.why

    @property
    def failure(self) -> Failure | None:
        """What was wrong, if the tier was put to work in vain."""
        return self.outcome if isinstance(self.outcome, Rejected | Failed) else None


def code_of(failure: Failure) -> Code:
    """Return the code of what was wrong."""
    return failure.code if isinstance(failure, Rejected) else failure.fault.code


def reason(outcome: Outcome) -> str:
    """Why a tier gave no answer, in words for people; nothing for one that gave it."""
    match outcome:
        case Accepted():
            words = ""
        case Rejected(verdict=verdict, code=code):
            words = "; ".join(verdict.reasons) or KINDS[code].meaning
        case Failed(fault=failure):
            words = failure.message
        case Absent(why=why):
            words = why or "No live replica of this tier"
        case TooSlow(left_ms=left_ms):
            words = f"Not started: only {left_ms} ms of maxLatencyMs were left"
        case Skipped(why=why):
            words = f"Passed over: {why}"
        case Superseded():
            words = "Stopped: the next tier, started early, had the page first"
        case _:
            assert_never(outcome)
    return words.removesuffix(".")


INCOMPLETE = frozenset({PageKind.EMPTY_SHELL})
"""What a better tier may complete; all else that stands in the place of a page is the same in every tier."""


def consistent(attempts: Sequence[Attempt]) -> list[Attempt]:
    """Return the attempts, where no tier turns into a success what another was refused with: the same text."""
    return [_consistent(attempt, attempts[:place]) for place, attempt in enumerate(attempts)]


def _consistent(attempt: Attempt, earlier: Sequence[Attempt]) -> Attempt:
    if not isinstance(attempt.outcome, Accepted):
        return attempt
    page, verdict = attempt.outcome.page, attempt.outcome.verdict
    for other in earlier:
        refused = other.outcome
        if not isinstance(refused, Rejected) or refused.verdict.kind is None or refused.verdict.kind in INCOMPLETE:
            continue
        if same_text(refused.page.evidence.visible, page.evidence.visible):
            why = f"The same as in the tier {other.tier}: {reason(refused)}"
            verdict = structs.replace(refused.verdict, details=verdict.details, usable=False, reasons=(why,))
            return structs.replace(attempt, outcome=Rejected(page, verdict, refused.code))
    return attempt


class Reaction(Enum):
    """What the failure of a tier means for the browse."""

    END = auto()
    """The page itself is so, in every tier: fail with it."""
    SETTLE = auto()
    """Asking this site again does harm or no good: give the best that there is."""
    ESCALATE = auto()
    """A better tier may do better."""


REACTIONS: Mapping[Code, Reaction] = MappingProxyType(
    {
        Code.NETWORK_TIMEOUT: Reaction.ESCALATE,
        Code.NETWORK_CONNECTION_FAILED: Reaction.ESCALATE,
        Code.NETWORK_DNS_FAILED: Reaction.END,
        Code.NETWORK_MODEL_FAILED: Reaction.END,
        Code.NETWORK_TLS_FAILED: Reaction.ESCALATE,
        Code.HTTP_NOT_FOUND: Reaction.END,
        Code.HTTP_FORBIDDEN: Reaction.ESCALATE,
        Code.HTTP_SERVICE_UNAVAILABLE: Reaction.SETTLE,
        Code.HTTP_BAD_GATEWAY: Reaction.SETTLE,
        Code.HTTP_CLIENT_ERROR: Reaction.ESCALATE,
        Code.HTTP_PROXY_REFUSED: Reaction.SETTLE,
        Code.HTTP_SERVER_ERROR: Reaction.SETTLE,
        Code.HTTP_TOO_MANY_REDIRECTS: Reaction.ESCALATE,
        Code.AUTH_SESSION_EXPIRED: Reaction.END,
        Code.AUTH_INVALID_CREDENTIALS: Reaction.END,
        Code.AUTH_INSUFFICIENT_SCOPE: Reaction.END,
        Code.AUTH_MISSING_SESSION: Reaction.END,
        Code.RATE_LIMIT_BUDGET: Reaction.END,
        Code.RATE_LIMIT_EXCEEDED: Reaction.SETTLE,
        Code.CONTENT_REQUIRES_JS: Reaction.ESCALATE,
        Code.CONTENT_EMPTY: Reaction.ESCALATE,
        Code.CONTENT_TOO_SHORT: Reaction.ESCALATE,
        Code.CONTENT_TOO_LARGE: Reaction.END,
        Code.CONTENT_UNSUPPORTED_TYPE: Reaction.END,
        Code.CONTENT_PAYWALLED: Reaction.END,
        Code.CONTENT_CONSENT_REQUIRED: Reaction.ESCALATE,
        Code.CONTENT_AGE_RESTRICTED: Reaction.END,
        Code.VALIDATION_INVALID_REQUEST: Reaction.END,
        Code.VALIDATION_INVALID_PACKET: Reaction.END,
        Code.SECURITY_URL_BLOCKED: Reaction.END,
        Code.SECURITY_ADDRESS_BLOCKED: Reaction.END,
        Code.SECURITY_ORIGIN_REFUSED: Reaction.END,
        Code.SECURITY_CHANNEL_FORBIDDEN: Reaction.END,
        Code.BROWSER_UNAVAILABLE: Reaction.ESCALATE,
        Code.PAGE_CRASHED: Reaction.ESCALATE,
        Code.BROWSER_PAGE_HUNG: Reaction.ESCALATE,
        Code.ELEMENT_NOT_FOUND: Reaction.ESCALATE,
        Code.EXECUTION_ERROR: Reaction.END,
        Code.SESSION_NOT_FOUND: Reaction.END,
        Code.CONFIG_TIER_NOT_DEPLOYED: Reaction.END,
        Code.CONFIG_INVALID: Reaction.END,
        Code.CONFIG_NO_MODEL: Reaction.END,
        Code.SITE_STRUCTURE_CHANGED: Reaction.END,
        Code.SITE_PARKED: Reaction.END,
        Code.SITE_NOT_READY: Reaction.END,
        Code.SITE_SUSPENDED: Reaction.END,
        Code.SITE_NOT_CONFIGURED: Reaction.END,
        Code.BLOCKED_BOT_DETECTION: Reaction.ESCALATE,
        Code.BLOCKED_RATE_LIMITED: Reaction.SETTLE,
        Code.BLOCKED_GEO_RESTRICTED: Reaction.SETTLE,
        Code.BLOCKED_BY_ROBOTS: Reaction.END,
        Code.TEMPLATE_NOT_FOUND: Reaction.END,
        Code.TEMPLATE_VERSION_UNSUPPORTED: Reaction.END,
        Code.TRUST_LEVEL_NOT_ALLOWED: Reaction.END,
        Code.RUN_NOT_FOUND: Reaction.END,
        Code.RUN_TIMEOUT: Reaction.END,
        Code.RUN_CANCELED: Reaction.END,
        Code.STEP_EXECUTION_FAILED: Reaction.END,
        Code.STEP_VERIFICATION_FAILED: Reaction.END,
        Code.TPL_LOGIN_FIELD_NOT_FOUND: Reaction.END,
        Code.ARTIFACT_NOT_FOUND: Reaction.END,
        Code.ARTIFACT_EXPIRED: Reaction.END,
        Code.VALIDATION_UNKNOWN_COLLECTION: Reaction.END,
        Code.VALIDATION_UNKNOWN_SOURCE: Reaction.END,
        Code.SECURITY_POLICY_DENIED: Reaction.END,
        Code.SECURITY_APPROVAL_REQUIRED: Reaction.END,
        Code.VALIDATION_UNKNOWN_APPROVAL: Reaction.END,
        Code.VALIDATION_UNKNOWN_FLOW: Reaction.END,
        Code.VALIDATION_UNKNOWN_TASK: Reaction.END,
        Code.VALIDATION_UNKNOWN_CHAT: Reaction.END,
        Code.VALIDATION_UNKNOWN_PATTERN: Reaction.END,
        Code.VALIDATION_TASK_OVER: Reaction.END,
        Code.VALIDATION_CHAT_ARCHIVED: Reaction.END,
        Code.VALIDATION_SESSION_HELD: Reaction.END,
        Code.VALIDATION_SESSION_NOT_HELD: Reaction.END,
        Code.VALIDATION_UNKNOWN_CONVERSATION: Reaction.END,
        Code.INTERNAL_ERROR: Reaction.ESCALATE,
        Code.INTERNAL_UNAVAILABLE: Reaction.ESCALATE,
        Code.INTERNAL_BUSY: Reaction.ESCALATE,
        Code.INTERNAL_DISCONNECTED: Reaction.ESCALATE,
        Code.INTERNAL_DEADLINE: Reaction.ESCALATE,
        Code.INTERNAL_CANCELLED: Reaction.SETTLE,
        Code.CONFIG_STORAGE_FULL: Reaction.END,
    }
)

INFORMATIVE: tuple[frozenset[Category], ...] = (
    frozenset({Category.RATE_LIMIT}),
    frozenset({Category.BLOCKED}),
    frozenset({Category.HTTP}),
    frozenset({Category.CONTENT, Category.NETWORK}),
)
"""The categories that tell a client most, first; of equals the failure of the best tier does."""
