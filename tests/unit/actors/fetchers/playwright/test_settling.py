"""When a page counts as settled."""

from __future__ import annotations

import pytest

from actors.fetchers.playwright.settling import (
    FOR_FETCH,
    FOR_STEP,
    Ahead,
    Around,
    Look,
    ahead_in_ms,
    is_static,
    rest_in_ms,
)


def look(ready: str = "complete", quiet: float = 1_000, programs: int = 1, *, loading: bool = False) -> Look:
    return Look(ready, quiet, loading, programs)


def around(quiet_ms: float = 1_000, waited_ms: float = 1_000, scripts: int = 1, *, live: bool = False) -> Around:
    return Around(quiet_ms, waited_ms, scripts, live)


def test_the_two_settlings_are_those_of_the_seed() -> None:
    assert (FOR_FETCH.cap_ms, FOR_FETCH.quiet_ms) == (3_000, 300)
    assert (FOR_STEP.cap_ms, FOR_STEP.quiet_ms) == (5_000, 500)


@pytest.mark.parametrize(
    ("seen", "known", "rests"),
    [
        (look(), around(), True),
        (look("loading"), around(), False),
        (look("interactive"), around(), False),
        (look(), around(quiet_ms=0), False),
        (look(loading=True), around(), False),
        (look(quiet=149), around(), False),
        (look(quiet=151), around(), True),
        (look(quiet=151), around(live=True), False),
        (look(quiet=301), around(live=True), True),
        (look(), around(waited_ms=10), False),
        (look(quiet=0, programs=0), around(quiet_ms=1, waited_ms=0, scripts=0), True),
        (look(quiet=0, programs=0), around(quiet_ms=1, waited_ms=0, scripts=1), False),
    ],
)
def test_a_page_rests_when_nothing_moves(seen: Look, known: Around, *, rests: bool) -> None:
    assert (rest_in_ms(seen, known, FOR_FETCH) == 0) is rests


@pytest.mark.parametrize(
    ("ahead", "wait_ms"),
    [
        (Ahead(), 0),
        (Ahead(soon=100, chars=9_000), 120),
        (Ahead(late=2_000, chars=9_000), 0),
        (Ahead(late=2_000, chars=10), 2_020),
        (Ahead(frames=1, chars=9_000), 0),
        (Ahead(frames=1, chars=10), 50),
    ],
)
def test_what_was_put_off_is_waited_for(ahead: Ahead, wait_ms: float) -> None:
    assert ahead_in_ms(ahead, look(), around(), FOR_FETCH) == wait_ms


def test_a_page_that_draws_is_quiet_for_the_whole_time() -> None:
    moving = Ahead(frames=1, chars=9_000)

    assert ahead_in_ms(moving, look(quiet=200), around(), FOR_FETCH) == 100
    assert ahead_in_ms(moving, look(quiet=300), around(), FOR_FETCH) == 0


def test_only_a_page_without_scripts_is_static() -> None:
    assert [is_static(look(programs=n), around(scripts=m)) for n, m in ((0, 0), (1, 0), (0, 1))] == [True, False, False]
