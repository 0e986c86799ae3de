"""The pure rules of the actor."""

from __future__ import annotations

import pytest

from actors.fetchers.page_answer import time_for_site
from actors.web.rate_limits import retry_after_ms

NOW_S = 1_735_725_600.0  # Wed, 01 Jan 2025 10:00:00 GMT


@pytest.mark.parametrize(
    ("value", "wait_ms"),
    [
        ("120", 120_000),
        (" 0 ", 0),
        ("Wed, 01 Jan 2025 10:00:30 GMT", 30_000),
        ("Wed, 01 Jan 2025 09:00:00 GMT", 0),
        ("99999999999", 86_400_000),
        ("soon", None),
        ("-5", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(value: str | None, wait_ms: int | None) -> None:
    assert retry_after_ms(value, NOW_S) == wait_ms


@pytest.mark.parametrize(("left", "given"), [(None, 29_000), (30_000, 29_000), (1_000, 900), (5, 5), (0, 1)])
def test_the_site_gets_a_little_less_than_is_left(left: int | None, given: int) -> None:
    assert time_for_site(left) == given
