"""When a page is at rest, by readings of it."""

from __future__ import annotations

from actors.fetchers.lightweight.rendering import (
    CALM_REPORTS_THIN,
    POLL_MS,
    SOFT_MS,
    SOFT_THIN_MS,
    ScriptReport,
    SettleResult,
    StabilityWatch,
)

FULL = 500


def run(*readings: ScriptReport, quiet_ms: float = 100.0, step_ms: float = POLL_MS) -> list[float | SettleResult]:
    """Judge readings one after the other."""
    settle = StabilityWatch()
    return [settle.assess(reading, 1, quiet_ms + number * step_ms) for number, reading in enumerate(readings)]


def test_two_equal_readings_of_a_page_with_text_are_rest() -> None:
    assert run(*[ScriptReport(activity=5, chars=FULL)] * 2) == [POLL_MS, SettleResult.SETTLED]


def test_a_page_that_moves_is_none() -> None:
    moving = [ScriptReport(activity=number, chars=FULL) for number in range(5)]

    assert run(*moving, moving[-1]) == [*[POLL_MS] * 5, SettleResult.SETTLED]


def test_a_page_that_had_no_turn_is_not_at_rest() -> None:
    held = ScriptReport(activity=5, chars=FULL, turned=False)

    assert run(held, held, ScriptReport(activity=5, chars=FULL)) == [POLL_MS, POLL_MS, SettleResult.SETTLED]


def test_a_page_with_next_to_no_text_is_looked_at_longer() -> None:
    found = run(*[ScriptReport(chars=10)] * CALM_REPORTS_THIN)

    assert found == [*[POLL_MS] * (CALM_REPORTS_THIN - 1), SettleResult.SETTLED]


def test_a_timer_that_is_near_is_slept_for_and_one_that_is_far_is_not() -> None:
    assert run(ScriptReport(chars=FULL, due=300), ScriptReport(chars=FULL, due=300)) == [300, 300]
    assert run(*[ScriptReport(chars=FULL, due=500)] * 2)[-1] is SettleResult.SETTLED


def test_frames_that_are_asked_for_are_waited_for() -> None:
    assert run(*[ScriptReport(chars=FULL, frames=1)] * 3) == [POLL_MS] * 3


def test_a_late_timer_is_waited_for_twice_where_there_is_no_text() -> None:
    late = ScriptReport(chars=10, late=900)
    found = run(*[late] * (3 * CALM_REPORTS_THIN), step_ms=1)

    assert found.count(901) == 2
    assert SettleResult.SETTLED in found
    assert 901 not in run(*[ScriptReport(chars=FULL, late=900)] * 8)


def test_a_page_that_always_moves_ends_softly() -> None:
    drawing = [ScriptReport(chars=FULL, frames=1, activity=number) for number in range(200)]
    found = run(*drawing, quiet_ms=0)

    assert found.index(SettleResult.SOFT) * POLL_MS in range(SOFT_MS, SOFT_MS + 2 * POLL_MS)
    thin = run(*[ScriptReport(chars=1, frames=1)] * 200, quiet_ms=0)
    assert thin.index(SettleResult.SOFT) * POLL_MS in range(SOFT_THIN_MS, SOFT_THIN_MS + 2 * POLL_MS)


def test_what_a_late_timer_begins_may_come_to_its_end() -> None:
    """A page that has rested, and moves again after the soft end would have been, is not cut off at once."""
    settle = StabilityWatch()
    for quiet_ms in (1_800, 1_820):
        settle.assess(ScriptReport(chars=10, late=100), 1, quiet_ms)

    assert settle.assess(ScriptReport(chars=10, frames=1), 1, 2_700) == POLL_MS
    assert settle.assess(ScriptReport(chars=10, frames=1), 1, 3_300) is SettleResult.SOFT


def test_requests_count_as_movement() -> None:
    settle = StabilityWatch()
    steps = [settle.assess(ScriptReport(chars=FULL), number, 10) for number in range(5)]

    assert steps == [POLL_MS] * 5


def test_after_news_two_readings_are_needed_again() -> None:
    settle = StabilityWatch()
    settle.assess(ScriptReport(chars=FULL), 1, 10)
    settle.restart()

    assert settle.assess(ScriptReport(chars=FULL), 1, 10) == POLL_MS
    assert settle.assess(ScriptReport(chars=FULL), 1, 10) is SettleResult.SETTLED
