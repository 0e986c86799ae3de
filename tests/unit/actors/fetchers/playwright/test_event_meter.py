"""The budget of the events of a page: what a busy page makes is within it, and what a flood makes is not."""

from __future__ import annotations

import pytest

from actors.fetchers.playwright.event_meter import EventKind, EventMeter


def endless(meter: EventMeter, kind: EventKind, chars: int, gap_s: float, most: int = 100_000) -> int:
    """Count events at this distance until they are too many, and return how many there were."""
    start_s = meter.started_s
    return next((at for at in range(most) if meter.count(kind, chars, start_s + at * gap_s)), most)


@pytest.mark.parametrize(("kind", "count"), [("line", 900), ("network", 3_000), ("frame", 1_000), ("worker", 64)])
def test_a_busy_page_stays_within_the_budget(kind: EventKind, count: int) -> None:
    meter = EventMeter()

    assert endless(meter, kind, 40, 0.0, count) == count


def test_what_goes_on_at_a_steady_pace_may_go_on_for_ever() -> None:
    assert endless(EventMeter(), "line", 200, 1 / 60) == 100_000


@pytest.mark.parametrize(("kind", "chars"), [("line", 1), ("line", 1_000_000), ("network", 50), ("popup", 0)])
def test_a_flood_spends_it_once(kind: EventKind, chars: int) -> None:
    meter = EventMeter()

    assert endless(meter, kind, chars, 0.000_1) < 5_000
    assert meter.flooded
    assert not meter.count(kind, chars, meter.started_s + 100)


def test_who_makes_most_events_while_they_are_not_read_in_time_is_ended_before_those_who_make_few() -> None:
    hostile, honest = EventMeter(lambda: True), EventMeter(lambda: True)

    assert endless(hostile, "line", 40, 0.004) < 400
    assert endless(honest, "line", 40, 0.1, 200) == 200
