"""How often, and how much at once: by a clock of the test."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.gateway.access import limits
from actors.gateway.access.limits import ConcurrencyKind, ConcurrencyLimits, RateLimits, address_of
from actors.gcra import Rate


@dataclass
class Clock:
    now_ms: float = 1_000.0

    def __call__(self) -> float:
        return self.now_ms


def test_a_burst_comes_at_once_and_then_the_rate_holds() -> None:
    clock = Clock()
    rates = RateLimits(Rate.per_minute(60, 3), clock)

    taken = [rates.take("a") for _ in range(4)]
    clock.now_ms += 999
    early = rates.take("a")
    clock.now_ms += 1
    due = rates.take("a")

    assert [(rate_state.left, rate_state.wait_ms) for rate_state in taken] == [(2, 0), (1, 0), (0, 0), (0, 1_000)]
    assert (early.wait_ms, due.wait_ms, due.left) == (1, 0, 0)


def test_everybody_has_a_rate_of_their_own() -> None:
    rates = RateLimits(Rate.per_minute(60, 1), Clock())

    assert [rates.take(who).wait_ms for who in ("a", "b", "a")] == [0, 0, 1_000]


def test_looking_takes_nothing() -> None:
    rates = RateLimits(Rate.per_minute(60, 1), Clock())

    assert [rates.look("a").wait_ms, rates.look("a").wait_ms, rates.take("a").wait_ms] == [0, 0, 0]


def test_no_limit_is_no_limit() -> None:
    rates = RateLimits(Rate.per_minute(0, 1), Clock())

    assert {(rate_state.wait_ms, rate_state.headers) for rate_state in (rates.take("a") for _ in range(1_000))} == {
        (0.0, ())
    }


def test_what_is_left_is_told_in_the_fields_of_the_draft() -> None:
    rates = RateLimits(Rate.per_minute(600, 50), Clock())

    rate_state = [rates.take("a") for _ in range(20)][-1]

    assert rate_state.headers == ((b"ratelimit-policy", b'"burst";q=50;w=5'), (b"ratelimit", b'"burst";r=30;t=2'))


@given(st.lists(st.tuples(st.floats(0, 5_000), st.booleans()), max_size=200), st.integers(1, 20))
def test_no_window_holds_more_than_the_burst_and_the_rate(steps: list[tuple[float, bool]], burst: int) -> None:
    clock = Clock()
    rates = RateLimits(Rate.per_minute(60, burst), clock)
    let_in: list[float] = []
    for pause_ms, _ in steps:
        clock.now_ms += pause_ms
        if rates.take("a").wait_ms <= 0:
            let_in.append(clock.now_ms)

    for first, begin in enumerate(let_in):
        for last in range(first, len(let_in)):
            assert last - first + 1 <= burst + (let_in[last] - begin) / 1_000 + 1e-6


def test_strangers_take_no_more_memory_than_there_is_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_KNOWN", 10)
    rates = RateLimits(Rate.per_minute(60, 1), Clock())

    waits = [rates.take(f"stranger {number}").wait_ms for number in range(100)]

    assert set(waits) == {0}
    assert [rates.look(f"stranger {number}").wait_ms > 0 for number in (89, 90, 99)] == [False, True, True]


def test_a_place_is_given_back_however_the_work_ends() -> None:
    concurrency, found = ConcurrencyLimits(dict.fromkeys(ConcurrencyKind, 1)), list[bool]()

    def fail() -> None:
        with (
            concurrency.holding(ConcurrencyKind.REQUEST, "a") as first,
            concurrency.holding(ConcurrencyKind.REQUEST, "a") as second,
        ):
            with (
                concurrency.holding(ConcurrencyKind.REQUEST, "b") as other,
                concurrency.holding(ConcurrencyKind.STREAM, "a") as another_kind,
            ):
                found.extend((first, second, other, another_kind))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()

    assert found == [True, False, True, True]
    assert [concurrency.count(kind, who) for kind in ConcurrencyKind for who in "ab"] == [0] * 6


@pytest.mark.parametrize(
    ("client", "name"),
    [
        (None, "unknown"),
        (("192.0.2.7", 5), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5), "2001:db8:1:2::"),
        (("2001:db8:1:2::9", 5), "2001:db8:1:2::"),
        (("2001:db8:1:3::9", 5), "2001:db8:1:3::"),
        (("::ffff:192.0.2.7", 5), "192.0.2.7"),
        (("fe80::1%eth0", 5), "fe80::"),
        (("a:b", 5), "a:b"),
    ],
)
def test_an_address_is_that_of_a_subscriber(client: tuple[str, int] | None, name: str) -> None:
    assert address_of(client) == name
