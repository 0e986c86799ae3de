"""The policy of restarts: how long to wait, and when to give up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runtime.supervisor import RestartPolicy, restart_delay_s

POLICY = RestartPolicy(limit=5, window_s=60.0, backoff_s=0.05, backoff_max_s=0.5)
SECONDS = st.floats(min_value=0, max_value=1e6)
POLICIES = st.builds(
    RestartPolicy, limit=st.integers(0, 10_000), window_s=SECONDS, backoff_s=SECONDS, backoff_max_s=SECONDS
)


@pytest.mark.parametrize(("deaths", "waits_s"), [(1, 0.05), (2, 0.1), (3, 0.2), (4, 0.4), (5, 0.5)])
def test_each_further_death_doubles_the_wait_up_to_the_most(deaths: int, waits_s: float) -> None:
    assert restart_delay_s(POLICY, [100.0] * deaths, 100.0, jitter=0) == pytest.approx(waits_s)


def test_one_death_more_than_the_limit_is_too_many() -> None:
    assert restart_delay_s(POLICY, [100.0] * 6, 100.0, jitter=0) is None


def test_a_limit_of_zero_gives_up_at_the_first_death() -> None:
    assert restart_delay_s(RestartPolicy(0, 60.0, 0.05, 0.5), [1.0], 1.0, jitter=0) is None


def test_deaths_before_the_window_are_forgotten() -> None:
    long_ago = [39.9] * 20

    assert restart_delay_s(POLICY, [*long_ago, 100.0], 100.0, jitter=0) == pytest.approx(0.05)
    assert restart_delay_s(POLICY, [40.0] * 5 + [100.0], 100.0, jitter=0) is None


def test_jitter_takes_away_up_to_half() -> None:
    assert restart_delay_s(POLICY, [1.0], 1.0, jitter=1) == pytest.approx(0.025)


@given(POLICIES, st.integers(1, 10_001), st.floats(0, 1))
def test_the_wait_is_bounded_and_grows_with_the_deaths(policy: RestartPolicy, deaths: int, jitter: float) -> None:
    one, more = (restart_delay_s(policy, [1.0] * count, 1.0, jitter) for count in (deaths, deaths + 1))

    assert (one is None) == (deaths > policy.limit)
    if one is not None and more is not None:
        assert 0 <= one <= more <= policy.backoff_max_s
