"""What a browser may ask for once: by visit, by address, and along redirects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.playwright.single_attempts import SingleAttempts

PAGE = "http://a.example/page"


def test_what_broke_off_is_spent_while_the_visit_lasts() -> None:
    attempts = SingleAttempts()

    with attempts.limit(PAGE):
        before = attempts.exhausted(PAGE)
        attempts.failed(PAGE)
        after, other = attempts.exhausted(PAGE), attempts.exhausted("http://a.example/other")

    assert (before, after, other, attempts.exhausted(PAGE)) == (False, True, False, False)


def test_what_nobody_wants_once_is_never_spent() -> None:
    attempts = SingleAttempts()

    attempts.failed(PAGE)

    assert not attempts.exhausted(PAGE)


def test_each_visit_has_an_attempt_of_its_own() -> None:
    attempts = SingleAttempts()

    with attempts.limit(PAGE), attempts.limit(PAGE):
        attempts.failed(PAGE)
        first = attempts.exhausted(PAGE)
        attempts.failed(PAGE)
        second = attempts.exhausted(PAGE)

    assert (first, second) == (False, True)


def test_where_a_page_leads_is_asked_once_too() -> None:
    attempts = SingleAttempts()

    with attempts.limit(PAGE):
        attempts.redirected(PAGE, "/onward")
        attempts.redirected("http://a.example/onward", "http://b.example")
        attempts.failed("http://b.example/")

        assert attempts.exhausted("http://b.example/")


@pytest.mark.parametrize("written", ["http://A.example/page#part", "http://a.example:80/page", "http://a.example/page"])
def test_an_address_is_known_as_the_browser_writes_it(written: str) -> None:
    attempts = SingleAttempts()

    with attempts.limit(written):
        attempts.failed(PAGE)

        assert attempts.exhausted(PAGE)


@given(url=st.text(), target=st.text(), location=st.text())
def test_nothing_that_a_site_says_breaks_it(url: str, target: str, location: str) -> None:
    attempts = SingleAttempts()

    with attempts.limit(url), attempts.limit(target):
        attempts.redirected(target, location)
        attempts.failed(target)
        attempts.failed(target)

        assert attempts.exhausted(target)
