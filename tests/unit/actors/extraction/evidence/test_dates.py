"""Dates are read to the day, in the forms that pages write them."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.extraction.evidence.dates import FIRST_YEAR, LAST_YEAR, dates_in, day, month_comes_first


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019-03-05T23:30:00+02:00", "2019-03-05"),
        ("20190305", "2019-03-05"),
        ("2019/3/5", "2019-03-05"),
        ("2019. 03. 05.", "2019-03-05"),
        ("Tue, 05 Mar 2019 12:00:00 GMT", "2019-03-05"),
        ("Tue Mar 05 12:00:00 UTC 2019", "2019-03-05"),
        ("1551787200", "2019-03-05"),
        ("1551787200000", "2019-03-05"),
        ("March 5th, 2019 at 5 pm", "2019-03-05"),
        ("Sept. 5, 2019", "2019-09-05"),
        ("5th of March 2019", "2019-03-05"),
        ("5-Mar-2019", "2019-03-05"),
        ("Veröffentlicht am 5. März 2019, 12:00 Uhr", "2019-03-05"),
        ("5 de marzo de 2019", "2019-03-05"),
        ("1er février 2019", "2019-02-01"),
        ("5 marca 2019", "2019-03-05"),
        ("12 марта 2019 г.", "2019-03-12"),
        ("2019. március 5.", "2019-03-05"),
        ("2019年3月5日", "2019-03-05"),
        ("2019년 3월 5일", "2019-03-05"),
        ("05.03.19", "2019-03-05"),
        ("posted 12 2019, changed 5 March 2020", "2020-03-05"),
        ("2019-13-40", ""),
        ("31 February 2019", ""),
        ("5 March 1889", ""),
        ("call 555 2019 now", ""),
        ("yesterday", ""),
    ],
)
def test_forms_of_dates(text: str, expected: str) -> None:
    assert day(text) == expected


@pytest.mark.parametrize(
    ("text", "day_first", "american"),
    [
        ("3/4/2019", "2019-04-03", "2019-03-04"),
        ("3.4.2019", "2019-04-03", "2019-04-03"),
        ("13/4/2019", "2019-04-13", "2019-04-13"),
        ("4/13/2019", "2019-04-13", "2019-04-13"),
    ],
)
def test_the_order_of_day_and_month(text: str, day_first: str, american: str) -> None:
    assert (day(text), day(text, month_first=True)) == (day_first, american)


@pytest.mark.parametrize(
    ("language", "expected"), [("en", True), ("en-US", True), ("en-GB", False), ("de", False), ("", False)]
)
def test_who_writes_the_month_first(language: str, expected: bool) -> None:  # noqa: FBT001 - a parameter of a test
    assert month_comes_first(language) is expected


def test_every_date_of_a_text_is_found_where_it_stands() -> None:
    text = "Created 5 March 2019 by Ann; changed 2020-01-02."

    found = [(text[start:end], name) for start, end, name in dates_in(text)]

    assert found == [("5 March 2019", "2019-03-05"), ("2020-01-02", "2020-01-02")]


@given(st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)))
def test_what_is_written_is_read_again(found: object) -> None:
    assert day(f"published on {found}") == str(found)


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    assert len(day(text)) in (0, 10)
