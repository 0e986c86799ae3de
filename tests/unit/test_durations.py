"""The suite and its tests keep their budget, as they were last recorded on a quiet machine."""

from __future__ import annotations

from pathlib import Path

from tests.support import durations

ROOT = Path(__file__).parents[2]


def test_the_suite_takes_ten_minutes() -> None:
    assert durations.read().wall_s <= durations.SUITE_S


def test_what_takes_long_is_marked_as_slow() -> None:
    recorded = durations.read().tests

    assert {
        name: test.seconds for name, test in recorded.items() if test.seconds > durations.UNMARKED_S and not test.slow
    } == {}


def test_what_is_recorded_is_there() -> None:
    assert [file for file in durations.read().files if not (ROOT / file).exists()] == []
