"""Which patterns are kept no longer: those that were archived long ago, and in a full domain those of least worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import structlog

from actors.learner.patterns.store import PatternStore
from actors.patterns.index import worth_of
from actors.patterns.trust import ARCHIVE_DAYS, days_unverified, decayed
from protocol.patterns.pattern import MAX_PATTERNS, PagePattern

log = structlog.stdlib.get_logger()

FORGOTTEN: Final = "patterns_forgotten"

FORGET_DAYS: Final = 2 * ARCHIVE_DAYS
"""Days without a verification after which a pattern is deleted: it was archived for half of them."""


async def forget_outlived(
    store: PatternStore, kept: Callable[[], Iterable[PagePattern]], clock: Callable[[], int]
) -> None:
    """Delete what is kept no longer of the patterns that `kept` returns; raises as the store does."""
    dropped: tuple[str, ...] = ()

    async def decide() -> tuple[Iterable[PagePattern], Iterable[str]]:
        nonlocal dropped
        dropped = outlived(kept(), clock())
        return (), dropped

    await store.change(decide)
    if dropped:
        log.info(FORGOTTEN, patterns=len(dropped))


def outlived(patterns: Iterable[PagePattern], now_ms: int) -> tuple[str, ...]:
    """Return the ids of patterns to be deleted.

    A domain that has MAX_PATTERNS loses its archived ones, so that there is room for what is learned next; of more than
    that those of least worth go.
    """
    domains = defaultdict[str, list[PagePattern]](list)
    for one in patterns:
        domains[one.domain].append(one)
    return tuple(key for kept in domains.values() for key in _of_domain(kept, now_ms))


def _of_domain(patterns: Sequence[PagePattern], now_ms: int) -> list[str]:
    old = [one.pattern_id for one in patterns if days_unverified(one, now_ms) >= FORGET_DAYS]
    left = [decayed(one, now_ms) for one in patterns if one.pattern_id not in set(old)]
    if len(left) < MAX_PATTERNS:
        return old
    ranked = sorted(left, key=worth_of, reverse=True)
    return [*old, *(one.pattern_id for place, one in enumerate(ranked) if one.archived or place >= MAX_PATTERNS)]
