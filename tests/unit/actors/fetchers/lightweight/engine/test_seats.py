"""Which page gets which process."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.lightweight.engine.seats import (
    PAGES_AT_ONCE,
    PAGES_IN_A_LIFE,
    Begin,
    Room,
    Seat,
    Take,
    Wait,
    choose,
)


def room(tenant: str, *seats: Seat, served: int = 0, retired: bool = False) -> Room:
    return Room(tenant, set(seats), served, retired)


def test_an_empty_process_of_the_tenant_comes_first() -> None:
    busy, empty = room("a", Seat("a")), room("a")

    assert choose([busy, empty], Seat("a"), 3) == Take(empty)


def test_then_a_new_one() -> None:
    assert choose([room("a", Seat("a")), room("b")], Seat("a"), 3) == Begin()


def test_then_one_to_share() -> None:
    busy = room("a", Seat("a"))

    assert choose([busy, room("b")], Seat("a"), 2) == Take(busy)


def test_then_an_idle_stranger_makes_room() -> None:
    idle = room("b")

    assert choose([room("a", Seat("a"), Seat("a")), idle], Seat("a"), 2) == Wait(idle)
    assert choose([room("b", Seat("b"))], Seat("a"), 1) == Wait(None)


def test_only_one_makes_room() -> None:
    assert choose([room("b"), room("c", retired=True)], Seat("a"), 2) == Wait(None)


def test_a_page_that_wants_to_be_alone_shares_with_nobody() -> None:
    assert choose([room("a", Seat("a"))], Seat("a", alone=True), 1) == Wait(None)
    assert choose([room("a", Seat("a", alone=True))], Seat("a"), 1) == Wait(None)


def test_a_process_that_is_spent_takes_no_page() -> None:
    assert choose([room("a", served=PAGES_IN_A_LIFE)], Seat("a"), 2) == Begin()
    assert choose([room("a", retired=True)], Seat("a"), 2) == Begin()


def test_pages_in_one_process_are_each_others_company() -> None:
    first, second, later = Seat("a"), Seat("a"), Seat("a")
    host = room("a")
    host.take(first)
    assert not first.company

    host.take(second)
    host.release(first, full=False)
    host.release(second, full=False)
    host.take(later)

    assert (first.company, second.company, later.company) == (True, True, False)


def test_a_process_retires_after_a_page_that_ended_ill_or_left_it_full_or_was_the_last() -> None:
    for seat, full, served, retired in (
        (Seat("a"), False, 1, False),
        (Seat("a", ill=True), False, 1, True),
        (Seat("a"), True, 1, True),
        (Seat("a"), False, PAGES_IN_A_LIFE, True),
    ):
        host = room("a", seat, served=served)
        host.release(seat, full=full)

        assert (host.retired, host.seats) == (retired, set())


@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, PAGES_IN_A_LIFE), st.booleans())),
    tenant=st.sampled_from("abc"),
    alone=st.booleans(),
    most=st.integers(1, 4),
)
def test_no_choice_breaks_a_rule(
    *, rows: list[tuple[str, int, int, bool]], tenant: str, alone: bool, most: int
) -> None:
    rooms = [
        room(name, *(Seat(name) for _ in range(seats)), served=served, retired=retired)
        for name, seats, served, retired in rows
    ]
    seat = Seat(tenant, alone=alone)

    match choose(rooms, seat, most):
        case Take(found):
            assert found.tenant == tenant
            assert len(found.seats) < (1 if alone else PAGES_AT_ONCE)
            assert found.served < PAGES_IN_A_LIFE
            assert not found.retired
        case Begin():
            assert len(rooms) < most
        case Wait(evicted):
            assert len(rooms) >= most
            assert evicted is None or not evicted.seats
