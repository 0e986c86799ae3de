"""What a browser may ask for once: by visit, by address, and along redirects."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.playwright.shots import Shots

PAGE = "http://a.example/page"


def test_what_broke_off_is_spent_while_the_visit_lasts() -> None:
    shots = Shots()

    with shots.once(PAGE):
        before = shots.spent(PAGE)
        shots.broke(PAGE)
        after, other = shots.spent(PAGE), shots.spent("http://a.example/other")

    assert (before, after, other, shots.spent(PAGE)) == (False, True, False, False)


def test_what_nobody_wants_once_is_never_spent() -> None:
    shots = Shots()

    shots.broke(PAGE)

    assert not shots.spent(PAGE)


def test_each_visit_has_a_shot_of_its_own() -> None:
    shots = Shots()

    with shots.once(PAGE), shots.once(PAGE):
        shots.broke(PAGE)
        first = shots.spent(PAGE)
        shots.broke(PAGE)
        second = shots.spent(PAGE)

    assert (first, second) == (False, True)


def test_where_a_page_leads_is_asked_once_too() -> None:
    shots = Shots()

    with shots.once(PAGE):
        shots.led(PAGE, "/onward")
        shots.led("http://a.example/onward", "http://b.example")
        shots.broke("http://b.example/")

        assert shots.spent("http://b.example/")


@pytest.mark.parametrize("written", ["http://A.example/page#part", "http://a.example:80/page", "http://a.example/page"])
def test_an_address_is_known_as_the_browser_writes_it(written: str) -> None:
    shots = Shots()

    with shots.once(written):
        shots.broke(PAGE)

        assert shots.spent(PAGE)


@given(url=st.text(), target=st.text(), location=st.text())
def test_nothing_that_a_site_says_breaks_it(url: str, target: str, location: str) -> None:
    shots = Shots()

    with shots.once(url), shots.once(target):
        shots.led(target, location)
        shots.broke(target)
        shots.broke(target)

        assert shots.spent(target)
