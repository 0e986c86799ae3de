"""What is kept of a domain: nothing that was archived long ago, and no more than there is room for."""

from __future__ import annotations

from actors.learner.patterns.sweeping import FORGET_DAYS, outlived
from actors.patterns.trust import ARCHIVE_DAYS
from protocol.patterns.pattern import MAX_PATTERNS
from tests.unit.actors.patterns.test_index import DAY, NOW, pattern


def test_what_nobody_verifies_is_archived_and_then_deleted() -> None:
    kept = pattern("kept", verified_at=NOW - (FORGET_DAYS - 1) * DAY)
    gone = pattern("gone", verified_at=NOW - FORGET_DAYS * DAY)
    never = pattern("never", verified_at=0, created_at=NOW - FORGET_DAYS * DAY)

    assert outlived([kept, gone, never], NOW) == ("gone", "never")


def test_a_full_domain_loses_what_is_archived_and_then_what_is_worth_least() -> None:
    archived = pattern("archived", verified_at=NOW - ARCHIVE_DAYS * DAY, score=1.0)
    full = [pattern(f"p{number}") for number in range(MAX_PATTERNS - 1)]
    more = [pattern("more", score=0.4), pattern("hint", mapping=None, score=1.0)]

    assert outlived([archived, *full[1:]], NOW) == ()
    assert outlived([archived, *full], NOW) == ("archived",)
    assert outlived([*full, *more], NOW) == ("hint",)
    assert outlived([*full, archived, pattern("x", host="other.example")], NOW) == ("archived",)
