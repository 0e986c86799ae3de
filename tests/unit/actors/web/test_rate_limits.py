"""The rules of asking a host: a rate, leases and waits, whoever writes them in whatever order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.web.rate_limits import (
    JITTER_MS,
    MAX_WAIT_MS,
    GrantedSlots,
    HostLimits,
    SlotRequest,
    after_answer,
    after_refusal,
    grant,
    release,
)
from protocol.web import HostPace, Lease

NOW = 1_000_000.0
LIMITS = HostLimits(interval_ms=100.0, burst=3, at_once=2)
NEW = HostPace()


def wish(slots: int = 1, opening: int = 1, replica: str = "a", until: float = NOW + 10_000) -> SlotRequest:
    return SlotRequest(replica, slots, opening, until)


def test_a_burst_comes_at_once_and_then_the_rate() -> None:
    pace, got = grant(NEW, wish(slots=5), HostLimits(interval_ms=100.0, burst=3), NOW)

    assert got.slots == (NOW, NOW, NOW + JITTER_MS, NOW + JITTER_MS + 100, NOW + JITTER_MS + 200)
    assert (pace.arrival_ms, pace.last_ms) == (NOW + 500, got.slots[-1])


def test_without_a_burst_there_is_time_between_any_two() -> None:
    _, got = grant(NEW, wish(slots=3), HostLimits(interval_ms=100.0), NOW)

    assert got.slots == (NOW, NOW + 100, NOW + 200)


def test_nobody_takes_more_than_a_second_ahead() -> None:
    _, got = grant(NEW, wish(slots=64), HostLimits(interval_ms=100.0), NOW)

    assert got.slots[-1] == NOW + 1_000


def test_what_is_too_late_is_not_taken() -> None:
    pace, first = grant(NEW, wish(slots=1), HostLimits(interval_ms=60_000.0), NOW)
    later, second = grant(pace, wish(slots=1), HostLimits(interval_ms=60_000.0), NOW)

    assert (len(first.slots), second) == (1, GrantedSlots(wait_until_ms=NOW + 60_000))
    assert later == pace


def test_a_clock_that_was_wrong_holds_nobody_up_for_ever() -> None:
    pace = HostPace(arrival_ms=NOW + 10 * MAX_WAIT_MS, last_ms=NOW + 10 * MAX_WAIT_MS)
    _, got = grant(pace, wish(until=NOW + 2 * MAX_WAIT_MS), LIMITS, NOW)

    assert got.slots[0] <= NOW + MAX_WAIT_MS


def test_a_site_may_want_more_time() -> None:
    pace, _ = grant(NEW, wish(), LIMITS, NOW)
    _, got = grant(pace, wish(slots=2), LIMITS.spaced(1_000.0), NOW)

    assert got.slots == (NOW + 1_000,)
    assert LIMITS.spaced(10.0) is LIMITS


def test_leases_are_for_all_together() -> None:
    pace, first = grant(NEW, wish(slots=1, opening=1, replica="a"), LIMITS, NOW)
    pace, second = grant(pace, wish(slots=0, opening=5, replica="b"), LIMITS, NOW)
    pace, third = grant(pace, wish(slots=0, opening=1, replica="c"), LIMITS, NOW)

    assert (first.open, second.open, third.open) == (1, 1, 0)
    pace = release(pace, "b", 0)
    assert grant(pace, wish(slots=0, opening=1, replica="c"), LIMITS, NOW)[1].open == 1
    assert set(pace.leases) == {"a"}


def test_leases_of_the_dead_run_out() -> None:
    dead = HostPace(leases={"dead": Lease(count=2, until_ms=NOW)})

    assert grant(dead, wish(slots=0), LIMITS, NOW - 1)[1].open == 0
    pace, got = grant(dead, wish(slots=0), LIMITS, NOW)
    assert (got.open, set(pace.leases)) == (1, {"a"})


def test_a_slot_of_the_future_opens_nothing() -> None:
    pace, _ = grant(NEW, wish(slots=3, opening=0), LIMITS, NOW)
    _, got = grant(pace, wish(slots=1, opening=1), LIMITS, NOW)

    assert (got.slots, got.open) == ((NOW + JITTER_MS + 100,), 0)


def test_a_site_is_left_alone_for_as_long_as_it_says() -> None:
    pace = after_refusal(NEW, 429, 7_000, NOW, 0.5)

    assert grant(pace, wish(), LIMITS, NOW) == (pace, GrantedSlots(wait_until_ms=NOW + 7_000))
    assert grant(pace, wish(), LIMITS, NOW + 7_000)[1].slots == (NOW + 7_000,)
    assert after_refusal(NEW, 503, 10**9, NOW, 0.5).wait_until_ms == NOW + MAX_WAIT_MS
    assert after_refusal(pace, 429, 10, NOW, 0.5).wait_until_ms == NOW + 7_000


@pytest.mark.parametrize(
    ("strikes", "least", "most"), [(1, 0, 0), (2, 500, 1_000), (3, 1_000, 2_000), (30, 150_000, 300_000)]
)
def test_without_being_told_longer_each_time(strikes: int, least: float, most: float) -> None:
    waits: list[float] = []
    for chance in (0.0, 1.0):
        pace = NEW
        for _ in range(strikes):
            pace = after_refusal(HostPace(strikes=pace.strikes), 503, None, NOW, chance)
        waits.append(pace.wait_until_ms - NOW)

    assert waits == [least, most]


def test_an_answer_forgives() -> None:
    pace = after_answer(after_refusal(after_refusal(NEW, 503, None, NOW, 1.0), 503, None, NOW, 1.0))

    assert (pace.strikes, pace.status) == (0, 0)


@given(
    interval=st.floats(1, 5_000),
    burst=st.integers(1, 20),
    asks=st.lists(st.tuples(st.floats(0, 3_000), st.integers(1, 5), st.sampled_from("abc")), max_size=40),
)
def test_never_more_than_the_rate(interval: float, burst: int, asks: list[tuple[float, int, str]]) -> None:
    limits, pace, now, slots = HostLimits(interval, burst), NEW, NOW, list[float]()
    for pause, count, replica in asks:
        now += pause
        pace, got = grant(pace, wish(slots=count, replica=replica, until=now + 60_000), limits, now)
        assert all(slot >= now for slot in got.slots)
        slots.extend(got.slots)

    slots.sort()
    for first, begin in enumerate(slots):
        for last in range(first, len(slots)):
            assert last - first + 1 <= burst + (slots[last] - begin) / interval + 1e-6


@given(
    at_once=st.integers(1, 5),
    asks=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 4), st.booleans()), max_size=40),
)
def test_never_more_open_than_allowed(at_once: int, asks: list[tuple[str, int, bool]]) -> None:
    limits, pace, held = HostLimits(at_once=at_once), NEW, dict.fromkeys("abc", 0)
    for replica, count, back in asks:
        if back:
            held[replica] = min(count, held[replica])
            pace = release(pace, replica, held[replica])
        else:
            pace, got = grant(pace, wish(slots=0, opening=count, replica=replica), limits, NOW)
            held[replica] += got.open
        assert sum(held.values()) <= at_once
