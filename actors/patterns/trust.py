"""How far a pattern is trusted: what moves its score, and when it may stand in for rendering (000 §4)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from msgspec import structs

from actors.normalized_urls import normalized
from actors.patterns.answer_checks import tells_pages_apart
from protocol.confidence import BASELINES, Source
from protocol.faults import FaultError
from protocol.patterns.pattern import MAX_DECAYS, Decay, DecayReason, PagePattern, PatternSource
from protocol.patterns.use import Drift, PatternUsed

TrustLevel = Literal["high", "medium", "low"]

BOOSTS: Final[Mapping[PatternSource, float]] = MappingProxyType(
    {
        PatternSource.BOOTSTRAP: 0.15,
        PatternSource.OPENAPI_DISCOVERY: 0.20,
        PatternSource.GRAPHQL_INTROSPECTION: 0.20,
        PatternSource.API_EXTRACTION: 0.00,
        PatternSource.ASYNCAPI_DISCOVERY: 0.15,
        PatternSource.DOCS_PAGE_DETECTION: 0.10,
        PatternSource.LINK_DISCOVERY: 0.05,
        PatternSource.BACKEND_FINGERPRINTING: 0.10,
        PatternSource.CROSS_SITE_TRANSFER: -0.10,
        PatternSource.USER_FEEDBACK: 0.10,
        PatternSource.MANUAL: 0.15,
    }
)
"""What a source adds to the baseline of a learned pattern (000 §4, "Pattern Sources")."""

PENALTIES: Final[Mapping[DecayReason, float]] = MappingProxyType(
    {
        DecayReason.TIME_DECAY: -0.05,
        DecayReason.REPEATED_FAILURES: -0.15,
        DecayReason.VALIDATION_FAILURES: -0.10,
        DecayReason.SITE_STRUCTURE_CHANGED: -0.20,
        DecayReason.RATE_LIMITED: -0.05,
        DecayReason.AUTH_EXPIRED: -0.10,
    }
)
"""What a reason takes away, that of time each week (000 §4, "Confidence Decay")."""

CONFIRMED: Final = 0.05
"""What a page adds that was made as it is rendered: two of them lift what was extracted from .70 to .80."""

FLOOR: Final = 0.30
"""No decay goes below it."""

CEILING: Final = 1.0
MAX_FEEDBACK: Final = 0.05
MIN_PAGES: Final = 2
"""Different pages that a pattern must have made as they are rendered before it may stand in for one."""

MAX_REPRODUCED: Final = 8
ARCHIVE_DAYS: Final = 90
REPEATED: Final = 3
"""From so many failures in a row on, each is a repeated one."""

VERIFY_AGAIN_MS: Final = 600_000
"""Between two tries to verify one pattern, in milliseconds."""

_HOUR_MS: Final = 60 * 60 * 1000
_DAY_MS: Final = 24 * _HOUR_MS
_WEEK_DAYS: Final = 7
_HIGH: Final = 0.80
_HIGH_BY_SPECIFICATION: Final = 0.70
_MEDIUM: Final = 0.50
_HIGH_DAYS: Final = 7
_MEDIUM_DAYS: Final = 14
_DIGITS: Final = 6
_HASH_BYTES: Final = 8
_SPECIFIED: Final = frozenset({PatternSource.OPENAPI_DISCOVERY, PatternSource.GRAPHQL_INTROSPECTION})
_REASONS: Final[Mapping[Drift, DecayReason]] = MappingProxyType(
    {
        Drift.STATUS: DecayReason.SITE_STRUCTURE_CHANGED,
        Drift.NOT_JSON: DecayReason.SITE_STRUCTURE_CHANGED,
        Drift.PAGING: DecayReason.SITE_STRUCTURE_CHANGED,
        Drift.LOGIN_WALL: DecayReason.AUTH_EXPIRED,
        Drift.MISSING: DecayReason.VALIDATION_FAILURES,
        Drift.RETYPED: DecayReason.VALIDATION_FAILURES,
        Drift.EMPTIED: DecayReason.VALIDATION_FAILURES,
        Drift.UNLIKE: DecayReason.VALIDATION_FAILURES,
    }
)


def first_score(source: PatternSource, baseline: float = BASELINES[Source.LEARNED_PATTERN]) -> float:
    """Return the score that a pattern begins with: a baseline, and the boost of its source."""
    return _bounded(baseline + BOOSTS[source])


def trust(score: float, source: PatternSource, verified_at: int, now_ms: int) -> TrustLevel:
    """Return how far a pattern is trusted (000 §4, `shouldTrustPattern`); never verified (0) is infinitely old."""
    days = (now_ms - verified_at) / _DAY_MS if verified_at else math.inf
    if score >= _HIGH and days < _HIGH_DAYS:
        return "high"
    if score >= _HIGH_BY_SPECIFICATION and source in _SPECIFIED:
        return "high"
    if score >= _MEDIUM and days < _MEDIUM_DAYS:
        return "medium"
    return "low"


def trust_of(pattern: PagePattern, now_ms: int) -> TrustLevel:
    """Return how far a pattern is trusted at a time.

    What no browser has confirmed counts one level less; what does not say which page it is for is never trusted highly.
    """
    level = trust(decayed(pattern, now_ms).score, pattern.source, pattern.verified_at, now_ms)
    if pattern.archived or (pattern.light_only and level == "medium"):
        return "low"
    doubted = pattern.light_only or not tells_pages_apart(pattern)
    return "medium" if doubted and level == "high" else level


def can_bypass(pattern: PagePattern, now_ms: int) -> bool:
    """Return whether a pattern may stand in for rendering, with rendering to fall back on where it is not `high`."""
    return (
        pattern.mapping is not None
        and pattern.page != ""
        and 0 < len(pattern.requests) == len(pattern.shapes)
        and len(set(pattern.reproduced)) >= MIN_PAGES
        and not decayed(pattern, now_ms).archived
        and trust_of(pattern, now_ms) != "low"
    )


def decayed(pattern: PagePattern, now_ms: int) -> PagePattern:
    """Return a pattern without what time has taken since it was verified, and archived after 90 days.

    Weeks are counted from day 7 on, which begins the first. What they have taken so far stands in one decay, so that
    it is taken once however often this is asked.
    """
    since, days = pattern.verified_at or pattern.created_at, days_unverified(pattern, now_ms)
    if pattern.archived or days < _WEEK_DAYS:
        return pattern
    weeks = math.floor((days - _WEEK_DAYS) / _WEEK_DAYS) + 1
    former = next((one for one in pattern.decays if one.reason is DecayReason.TIME_DECAY and one.at >= since), None)
    penalty = PENALTIES[DecayReason.TIME_DECAY]
    due = weeks - (round(former.shift / penalty) if former else 0)
    if due > 0:
        others = tuple(one for one in pattern.decays if one is not former)
        whole = Decay(reason=DecayReason.TIME_DECAY, shift=round(weeks * penalty, _DIGITS), at=now_ms)
        pattern = structs.replace(
            pattern,
            score=_lowered(pattern.score, due * penalty),
            decays=(*others, whole)[-MAX_DECAYS:],
            version=pattern.version + 1,
        )
    return _archived(pattern, now_ms) if days >= ARCHIVE_DAYS else pattern


def is_overdue(pattern: PagePattern, verify_hours: int, now_ms: int) -> bool:
    """Return whether a pattern that is used is to be held to a rendered page again; never with 0 hours."""
    return verify_hours > 0 and now_ms - pattern.verified_at >= verify_hours * _HOUR_MS


def days_unverified(pattern: PagePattern, now_ms: int) -> float:
    """Return for how many days nobody has verified a pattern, since it was made where nobody ever has."""
    return (now_ms - (pattern.verified_at or pattern.created_at)) / _DAY_MS


def after_use(pattern: PagePattern, used: PatternUsed, now_ms: int) -> PagePattern:
    """Return a pattern after it was used: as it was where the answer had the known shape, or decayed.

    A use verifies nothing, since nobody saw how the page is rendered: `after_check` alone does.
    The network, statuses of 5xx and challenges teach nothing, nor does a use of a mapping that another has taken the
    place of since. Nor does 429, beyond the decay `rate_limited` that the contract gives to what "caused rate limiting"
    (000 §4): it is taken, but it never takes the score across the lower bound of the level that it gives now, so that
    no label changes for a limit. Any drift but that of a login takes back that pages were reproduced: it must be shown
    anew on two of them. A page of a new kind says nothing of the others, unless it is the third in a row.
    """
    pattern = decayed(pattern, now_ms)
    if used.version < pattern.mapping_version or (used.transient and not used.limited):
        return pattern
    if used.limited:
        return structs.replace(_limited(pattern, now_ms), used_at=now_ms)
    if used.drift is None and not used.login_ended and not used.code:
        return structs.replace(pattern, used_at=now_ms, failures=0, version=pattern.version + 1)
    pattern = structs.replace(pattern, used_at=now_ms)
    if used.login_ended or used.drift is Drift.LOGIN_WALL:
        return _failed(pattern, DecayReason.AUTH_EXPIRED, now_ms)
    if used.drift is None or (used.drift is Drift.NEW_KIND and pattern.failures + 1 < REPEATED):
        return _failed(pattern, None, now_ms)
    return structs.replace(_failed(pattern, _REASONS.get(used.drift), now_ms), reproduced=())


def after_check(pattern: PagePattern, same: bool, page_url: str, now_ms: int) -> PagePattern:  # noqa: FBT001 - a verdict
    """Return a pattern after its page was compared with how it is rendered; the same ends its archive.

    A page that the mapping was induced from shows that it holds still, but is none that it has reproduced.
    """
    pattern = decayed(pattern, now_ms)
    if not same:
        return structs.replace(_failed(pattern, DecayReason.VALIDATION_FAILURES, now_ms), reproduced=())
    page = page_hash(page_url)
    others = tuple(one for one in pattern.reproduced if one != page)
    bears_out = page in pattern.reproduced or page not in pattern.made_of
    return structs.replace(
        pattern,
        score=_bounded(pattern.score + CONFIRMED),
        verified_at=now_ms,
        failures=0,
        reproduced=(*others, page)[-MAX_REPRODUCED:] if bears_out else pattern.reproduced,
        archived=False,
        version=pattern.version + 1,
    )


def after_feedback(pattern: PagePattern, shift: float, now_ms: int) -> PagePattern:
    """Return a pattern after somebody praised or blamed it: by 5 % of the scale at most (1.B, `ai_feedback`)."""
    pattern = decayed(pattern, now_ms)
    shift = min(max(shift, -MAX_FEEDBACK), MAX_FEEDBACK) if math.isfinite(shift) else 0.0
    if shift < 0:
        return _with_decay(pattern, DecayReason.MANUAL_DOWNGRADE, shift, now_ms)
    return structs.replace(pattern, score=_bounded(pattern.score + shift), version=pattern.version + 1)


def page_hash(page_url: str) -> str:
    """Return what a page is known by among those reproduced: a hash of its address without query order or fragment."""
    try:
        address = normalized(page_url)
    except (ValueError, FaultError):
        address = page_url
    route = page_url.partition("#")[2]
    told_apart = f"{address}#{route}" if route.startswith(("/", "!/")) else address
    return hashlib.blake2b(told_apart.encode("utf-8", "replace"), digest_size=_HASH_BYTES).hexdigest()


def _failed(pattern: PagePattern, reason: DecayReason | None, now_ms: int) -> PagePattern:
    failures = pattern.failures + 1
    pattern = structs.replace(pattern, failures=failures, version=pattern.version + 1)
    if reason is not None:
        pattern = _with_decay(pattern, reason, PENALTIES[reason], now_ms)
    if failures >= REPEATED:
        repeated = DecayReason.REPEATED_FAILURES
        pattern = _with_decay(pattern, repeated, PENALTIES[repeated], now_ms)
    return pattern


def _limited(pattern: PagePattern, now_ms: int) -> PagePattern:
    level = trust(pattern.score, pattern.source, pattern.verified_at, now_ms)
    lowered = _with_decay(pattern, DecayReason.RATE_LIMITED, PENALTIES[DecayReason.RATE_LIMITED], now_ms)
    if trust(lowered.score, pattern.source, pattern.verified_at, now_ms) == level:
        return lowered
    return pattern


def _with_decay(pattern: PagePattern, reason: DecayReason, shift: float, now_ms: int) -> PagePattern:
    return structs.replace(
        pattern,
        score=_lowered(pattern.score, shift),
        decays=(*pattern.decays, Decay(reason=reason, shift=shift, at=now_ms))[-MAX_DECAYS:],
        version=pattern.version + 1,
    )


def _archived(pattern: PagePattern, now_ms: int) -> PagePattern:
    down = min(round(FLOOR - pattern.score, _DIGITS), 0.0)
    return structs.replace(_with_decay(pattern, DecayReason.PATTERN_ARCHIVED, down, now_ms), archived=True)


def _lowered(score: float, shift: float) -> float:
    """Return a score after a decay; one that lies below the floor already stays where it is."""
    return min(score, max(round(score + shift, _DIGITS), FLOOR))


def _bounded(score: float) -> float:
    return min(max(round(score, _DIGITS), 0.0), CEILING)
