"""What sites and pages write into headers is read or passed over, never stumbled upon."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.web import cache_rules
from actors.web.cache_rules import CacheUse, RequestDirectives
from actors.web.rate_limits import MAX_RETRY_AFTER_MS, retry_after_ms
from protocol.web import KeptAnswer

NOW = 1_750_000_000.0
CONTROL = st.text(alphabet='abcdeghmnrsty-=,"\\ 0159', max_size=60)
DATES = st.text(alphabet="SunNov 0123456789:,-+GMT", max_size=40)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, {}),
        ("", {}),
        (" , ,", {}),
        ("max-age=60", {"max-age": "60"}),
        ("Max-Age=60,no-store", {"max-age": "60", "no-store": ""}),
        ('private="a, b", max-age="7"', {"private": "a, b", "max-age": "7"}),
        ("no-cache, no-cache=x", {"no-cache": ""}),
        ('x="a\\"b, no-store", y', {"x": 'a\\"b, no-store', "y": ""}),
        ("max-age=, no-store", {"max-age": "", "no-store": ""}),
    ],
)
def test_directives(text: str | None, said: dict[str, str]) -> None:
    assert cache_rules.cache_directives(text) == said


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777.0),
        ("Sun Nov  6 08:49:37 1994", 784_111_777.0),
        ("0", None),
        ("", None),
        (None, None),
        ("Sun, 99 Nov 1994 08:49:37 GMT", None),
        ("Sun, 06 Foo 1994 08:49:37 GMT", None),
    ],
)
def test_dates(text: str | None, time: float | None) -> None:
    assert cache_rules.http_date(text) == time


@given(control=CONTROL, asked=CONTROL, date=DATES, age=DATES, vary=CONTROL, passed=st.integers(0, 10**9))
def test_nothing_is_stumbled_upon(  # noqa: PLR0913, PLR0917 - everything that may be odd
    control: str, asked: str, date: str, age: str, vary: str, passed: int
) -> None:
    headers = {"date": date, "age": age, "cache-control": control, "expires": date, "last-modified": date}
    kept = KeptAnswer(
        id="a",
        status=200,
        headers=tuple(headers.items()),
        received_at=NOW,
        initial_age=cache_rules.initial_age(headers, NOW, NOW),
    )
    request = RequestDirectives.of(asked)

    assert cache_rules.judge(kept, request, NOW + passed) in CacheUse
    assert cache_rules.lifetime(kept) >= 0
    assert cache_rules.age(kept, NOW + passed) >= passed
    assert isinstance(cache_rules.may_replace_error(kept, request, NOW), bool)
    assert isinstance(cache_rules.may_store(200, control, vary, request), bool)


@given(DATES)
def test_no_wait_is_stumbled_upon(value: str) -> None:
    wait_ms = retry_after_ms(value, NOW)

    assert wait_ms is None or 0 <= wait_ms <= MAX_RETRY_AFTER_MS
