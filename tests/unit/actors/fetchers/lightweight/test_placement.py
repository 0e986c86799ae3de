"""Which page gets which process."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from actors.fetchers.lightweight.placement import (
    PAGES_AT_ONCE,
    PAGES_IN_A_LIFE,
    AwaitSlot,
    JoinProcess,
    PageSlot,
    StartProcess,
    TenantProcess,
    place,
)


def room(tenant: str, *seats: PageSlot, served: int = 0, retired: bool = False) -> TenantProcess:
    return TenantProcess(tenant, set(seats), served, retired)


def test_an_empty_process_of_the_tenant_comes_first() -> None:
    busy, empty = room("a", PageSlot("a")), room("a")

    assert place([busy, empty], PageSlot("a"), 3) == JoinProcess(empty)


def test_then_a_new_one() -> None:
    assert place([room("a", PageSlot("a")), room("b")], PageSlot("a"), 3) == StartProcess()


def test_then_one_to_share() -> None:
    busy = room("a", PageSlot("a"))

    assert place([busy, room("b")], PageSlot("a"), 2) == JoinProcess(busy)


def test_then_an_idle_stranger_makes_room() -> None:
    idle = room("b")

    assert place([room("a", PageSlot("a"), PageSlot("a")), idle], PageSlot("a"), 2) == AwaitSlot(idle)
    assert place([room("b", PageSlot("b"))], PageSlot("a"), 1) == AwaitSlot(None)


def test_only_one_makes_room() -> None:
    assert place([room("b"), room("c", retired=True)], PageSlot("a"), 2) == AwaitSlot(None)


def test_a_page_that_wants_to_be_alone_shares_with_nobody() -> None:
    assert place([room("a", PageSlot("a"))], PageSlot("a", alone=True), 1) == AwaitSlot(None)
    assert place([room("a", PageSlot("a", alone=True))], PageSlot("a"), 1) == AwaitSlot(None)


def test_a_process_that_is_spent_takes_no_page() -> None:
    assert place([room("a", served=PAGES_IN_A_LIFE)], PageSlot("a"), 2) == StartProcess()
    assert place([room("a", retired=True)], PageSlot("a"), 2) == StartProcess()


def test_pages_in_one_process_are_each_others_company() -> None:
    first, second, later = PageSlot("a"), PageSlot("a"), PageSlot("a")
    host = room("a")
    host.take(first)
    assert not first.shared

    host.take(second)
    host.release(first, full=False)
    host.release(second, full=False)
    host.take(later)

    assert (first.shared, second.shared, later.shared) == (True, True, False)


def test_a_process_retires_after_a_page_that_ended_ill_or_left_it_full_or_was_the_last() -> None:
    for seat, full, served, retired in (
        (PageSlot("a"), False, 1, False),
        (PageSlot("a", failed=True), False, 1, True),
        (PageSlot("a"), True, 1, True),
        (PageSlot("a"), False, PAGES_IN_A_LIFE, True),
    ):
        host = room("a", seat, served=served)
        host.release(seat, full=full)

        assert (host.retired, host.slots) == (retired, set())


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
        room(name, *(PageSlot(name) for _ in range(seats)), served=served, retired=retired)
        for name, seats, served, retired in rows
    ]
    seat = PageSlot(tenant, alone=alone)

    match place(rooms, seat, most):
        case JoinProcess(found):
            assert found.tenant == tenant
            assert len(found.slots) < (1 if alone else PAGES_AT_ONCE)
            assert found.served < PAGES_IN_A_LIFE
            assert not found.retired
        case StartProcess():
            assert len(rooms) < most
        case AwaitSlot(evicted):
            assert len(rooms) >= most
            assert evicted is None or not evicted.slots
