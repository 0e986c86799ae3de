"""Turns between accounts: who sends much waits for themselves alone, in memory and over NATS alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import anyio
import pytest

from bus import Bus
from bus.context import account, current_account
from bus.fairness import ACTIVE_S, MOST_WAITING, Account, FairTurns, account_of
from bus.stats import Meter
from protocol.faults import Code, Fault, FaultError
from tests.contract.world import ASK, Answer, Ask, MakeWorld, serve, taking_part

PLACES = 8
TEST_S = 240.0
GREEDY, MODEST, WEIGHTY = Account("key-greedy"), Account("key-modest"), Account("key-weighty", 3)


@dataclass
class Desk:
    """Holds every call until it is let go, and knows for whom each is."""

    calls: Counter[str] = field(default_factory=Counter[str])
    most: Counter[str] = field(default_factory=Counter[str])
    changed: anyio.Event = field(default_factory=anyio.Event)
    let_go: anyio.Event = field(default_factory=anyio.Event)

    async def __call__(self, _: Ask) -> Answer:
        own = current_account()
        name = own.name if own else ""
        self.calls[name] += 1
        self.most[name] = max(self.most[name], self.calls[name])
        self._tell()
        try:
            await self.let_go.wait()
        finally:
            self.calls[name] -= 1
            self._tell()
        return Answer(by=name)

    async def until(self, **numbers: int) -> None:
        """Wait until so many are at work."""
        wanted = {f"key-{name}": number for name, number in numbers.items()}
        while any(self.calls[name] != number for name, number in wanted.items()):
            await self.changed.wait()

    def _tell(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()


async def ask(caller: Bus, who: Account, codes: list[Code | str], timeout_ms: int = 30_000) -> None:
    with account(who):
        try:
            codes.append((await caller.call(ASK, Ask(), timeout_ms=timeout_ms)).by)
        except FaultError as error:
            codes.append(error.fault.code)


async def refusal(caller: Bus) -> Fault:
    """Ask once more for the greedy account, and return why not."""
    with account(GREEDY), pytest.raises(FaultError) as caught:
        await caller.call(ASK, Ask())
    return caught.value.fault


async def test_who_sends_much_leaves_room_for_others_and_waits_for_their_own(make_world: MakeWorld) -> None:
    desk, greedy, modest = Desk(), list[Code | str](), list[Code | str]()
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, desk, at_once=PLACES)
        with anyio.fail_after(TEST_S):
            async with anyio.create_task_group() as tasks:
                for _ in range(3 * PLACES):
                    tasks.start_soon(ask, caller, GREEDY, greedy)
                await desk.until(greedy=PLACES - 1)
                tasks.start_soon(ask, caller, MODEST, modest)
                await desk.until(greedy=PLACES - 1, modest=1)
                desk.let_go.set()

    assert (greedy, modest) == ([GREEDY.name] * 3 * PLACES, [MODEST.name])
    figures = callee.figures().accounts
    assert {name: (one.calls, one.in_flight) for name, one in figures.items()} == {
        GREEDY.name: (3 * PLACES, 0),
        MODEST.name: (1, 0),
    }


@pytest.mark.slow
async def test_more_than_may_wait_is_refused_at_once_and_the_rest_when_its_time_is_over(make_world: MakeWorld) -> None:
    desk, greedy, refusals = Desk(), list[Code | str](), list[Fault]()
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, desk, at_once=2)
        with anyio.fail_after(TEST_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, caller, GREEDY, greedy)
                await desk.until(greedy=1)
                for _ in range(MOST_WAITING):
                    tasks.start_soon(ask, caller, GREEDY, greedy, 5_000)
                while callee.figures().queued < MOST_WAITING:
                    await anyio.sleep(0.01)
                refusals.append(await refusal(caller))
                while callee.figures().queued:
                    await anyio.sleep(0.01)
                desk.let_go.set()

    assert [(one.code, one.retry_after_ms) for one in refusals] == [(Code.RATE_LIMIT_EXCEEDED, 2_000)]
    assert Counter(greedy) == {Code.RATE_LIMIT_EXCEEDED: MOST_WAITING, GREEDY.name: 1}
    assert callee.figures().accounts[GREEDY.name].refused == MOST_WAITING + 1


def taken(turns: FairTurns, who: Account) -> int:
    """Take as many places as there are for an account."""
    count = 0
    while turns.take(who):
        count += 1
    return count


def test_shares_are_by_weight_and_leave_room_for_the_next() -> None:
    now = [0.0]
    turns = FairTurns(16, Meter("test"), lambda: now[0])

    assert taken(turns, MODEST) == 15  # alone: all but one
    assert (turns.take(WEIGHTY), turns.take(GREEDY)) == (True, False)
    for _ in range(15):
        turns.give_back(MODEST)
    turns.give_back(WEIGHTY)
    assert (taken(turns, GREEDY), taken(turns, WEIGHTY), turns.take(MODEST)) == (8, 6, True)
    for who, count in ((GREEDY, 8), (WEIGHTY, 6), (MODEST, 1)):
        for _ in range(count):
            turns.give_back(who)
    now[0] = ACTIVE_S + 1
    assert taken(turns, GREEDY) == 15


def test_places_that_become_free_go_round() -> None:
    turns = FairTurns(2, Meter("test"))
    assert (turns.take(GREEDY), turns.take(MODEST)) == (True, True)
    lines = [turns.join(who) for who in (GREEDY, GREEDY, GREEDY, MODEST)]

    turns.give_back(GREEDY)
    turns.give_back(MODEST)

    assert [waiter is not None and waiter.begun for waiter in lines] == [True, False, False, True]


@pytest.mark.parametrize("header", ["", "key-a", "key-a x", "key-a 0", "key-a 101", " 1", "key-a ²"])
def test_what_is_no_account_is_nobodys(header: str) -> None:
    assert account_of(header) is None
    assert account_of(WEIGHTY.header) == WEIGHTY
