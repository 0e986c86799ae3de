"""Figures are counted right."""

from __future__ import annotations

import pytest

from bus.stats import BUCKET_BOUNDS_S, EndpointStats, Meter, percentile_ms


@pytest.mark.parametrize(
    ("durations_s", "share", "value_ms"),
    [
        ([], 0.5, 0.0),
        ([0.001], 0.5, 1.0),
        ([0.001], 0.99, 1.0),
        ([0.002, 0.001], 0.5, 1.0),
        ([0.003, 0.001, 0.002], 0.5, 2.0),
        ([number / 1000 for number in range(100, 0, -1)], 0.99, 99.0),
        ([number / 1000 for number in range(1, 101)], 0.5, 50.0),
        ([number / 1000 for number in range(1, 101)], 1.0, 100.0),
        ([number / 1000 for number in range(1, 101)], 0.0, 1.0),
    ],
)
def test_percentiles_are_nearest_ranks(durations_s: list[float], share: float, value_ms: float) -> None:
    assert percentile_ms(durations_s, share) == value_ms


def test_a_meter_sorts_durations_into_buckets() -> None:
    meter = Meter("a")
    for duration_s in (0.0, 0.001, 0.0011, 300.0, 301.0):
        meter.count(duration_s)

    counts = dict(zip((*BUCKET_BOUNDS_S, float("inf")), meter.read(0).buckets, strict=True))

    filled = {bound: count for bound, count in counts.items() if count}
    assert filled == {0.001: 2, 0.0025: 1, 300.0: 1, float("inf"): 1}


def test_a_meter_keeps_its_last_error() -> None:
    meter = Meter("a")
    meter.in_flight = 2
    meter.count(0.5)
    meter.count(0.25, "INTERNAL_BUSY")
    meter.count(0.25)

    figures = meter.read(3)

    assert figures == EndpointStats(
        subject="a",
        calls=3,
        errors=1,
        in_flight=2,
        queued=3,
        duration_sum_s=1.0,
        buckets=figures.buckets,
        last_error="INTERNAL_BUSY",
    )
    assert sum(figures.buckets) == 3


def test_percentiles_look_back_a_bounded_way() -> None:
    meter = Meter("a")
    for _ in range(10_000):
        meter.count(1.0)

    assert len(meter.recent) < 10_000
