"""When a page counts as settled."""

from __future__ import annotations

from typing import Literal

import pytest

from actors.fetchers.playwright.stability import (
    FOR_FETCH,
    FOR_STEP,
    DocumentState,
    PendingWork,
    TabActivity,
    is_static,
    next_check_ms,
    pending_work_ms,
)


def state(
    ready: Literal["loading", "interactive", "complete"] = "complete",
    quiet: float = 1_000,
    programs: int = 1,
    *,
    loading: bool = False,
) -> DocumentState:
    return DocumentState(ready, quiet, loading, programs)


def activity(quiet_ms: float = 1_000, waited_ms: float = 1_000, scripts: int = 1, *, live: bool = False) -> TabActivity:
    return TabActivity(quiet_ms, waited_ms, scripts, live)


def test_the_two_bounds_are_those_of_the_seed() -> None:
    assert (FOR_FETCH.cap_ms, FOR_FETCH.quiet_ms) == (3_000, 300)
    assert (FOR_STEP.cap_ms, FOR_STEP.quiet_ms) == (5_000, 500)


@pytest.mark.parametrize(
    ("observed", "known", "rests"),
    [
        (state(), activity(), True),
        (state("loading"), activity(), False),
        (state("interactive"), activity(), False),
        (state(), activity(quiet_ms=0), False),
        (state(loading=True), activity(), False),
        (state(quiet=149), activity(), False),
        (state(quiet=151), activity(), True),
        (state(quiet=151), activity(live=True), False),
        (state(quiet=301), activity(live=True), True),
        (state(), activity(waited_ms=10), False),
        (state(quiet=0, programs=0), activity(quiet_ms=1, waited_ms=0, scripts=0), True),
        (state(quiet=0, programs=0), activity(quiet_ms=1, waited_ms=0, scripts=1), False),
    ],
)
def test_a_page_rests_when_nothing_moves(observed: DocumentState, known: TabActivity, *, rests: bool) -> None:
    assert (next_check_ms(observed, known, FOR_FETCH) == 0) is rests


@pytest.mark.parametrize(
    ("pending", "wait_ms"),
    [
        (PendingWork(), 0),
        (PendingWork(soon=100, chars=9_000), 120),
        (PendingWork(late=2_000, chars=9_000), 0),
        (PendingWork(late=2_000, chars=10), 2_020),
        (PendingWork(frames=1, chars=9_000), 0),
        (PendingWork(frames=1, chars=10), 50),
    ],
)
def test_what_was_put_off_is_waited_for(pending: PendingWork, wait_ms: float) -> None:
    assert pending_work_ms(pending, state(), activity(), FOR_FETCH) == wait_ms


def test_a_page_that_draws_is_quiet_for_the_whole_time() -> None:
    moving = PendingWork(frames=1, chars=9_000)

    assert pending_work_ms(moving, state(quiet=200), activity(), FOR_FETCH) == 100
    assert pending_work_ms(moving, state(quiet=300), activity(), FOR_FETCH) == 0


def test_a_page_that_draws_for_ever_and_shows_little_is_stable() -> None:
    moving = PendingWork(frames=1, chars=10)

    assert pending_work_ms(moving, state(quiet=3_000), activity(3_000, 3_000), FOR_STEP) == 0


def test_only_a_page_without_scripts_is_static() -> None:
    assert [is_static(state(programs=n), activity(scripts=m)) for n, m in ((0, 0), (1, 0), (0, 1))] == [
        True,
        False,
        False,
    ]
