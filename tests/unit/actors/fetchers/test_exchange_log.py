"""A page with passing trouble is not learned from: it may lack a part that the next visit shows."""

from __future__ import annotations

import pytest

from actors.fetchers.sampling import ExchangeLog

PAGE = "https://shop.example/item/7"
OWN = "https://shop.example/api/item/7"
DATA = "https://data.example/v1/reviews"
TRACKER = "https://tracker.example/collect"


def answered(log: ExchangeLog, url: str) -> None:
    log.note_status("GET", url, 200)
    log.add(url, "GET", {}, sent=b"", status=200, content_type="application/json", body=b'{"a": 1}', took_ms=1)


@pytest.mark.parametrize(
    ("url", "status", "whole"),
    [
        (OWN, 0, False),
        (OWN, 429, False),
        (OWN, 503, False),
        (f"{DATA}?page=2", 503, False),
        (OWN, 404, True),
        (OWN, 401, True),
        (TRACKER, 503, True),
    ],
)
def test_trouble_that_may_pass_counts_where_the_page_gets_its_data(url: str, status: int, whole: bool) -> None:  # noqa: FBT001 - the expected answer
    log = ExchangeLog()
    answered(log, DATA)
    log.note_status("GET", url, status)

    assert log.is_whole(PAGE) is whole


def test_a_call_that_was_answered_at_last_leaves_no_trouble() -> None:
    log = ExchangeLog()
    log.note_status("GET", OWN, 503)
    answered(log, OWN)

    assert log.is_whole(PAGE)
