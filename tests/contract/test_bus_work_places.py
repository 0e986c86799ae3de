"""Work of which only so much is in hand at once, in all replicas together, in memory and over NATS alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
import pytest

from bus import Bus, TransportError
from bus.errors import ForbiddenError
from protocol.faults import FaultError, rate_limited
from tests.contract.world import (
    FEW,
    MAX_DELIVER,
    Ask,
    Doomed,
    MakeWorld,
    World,
    taking_part,
    until,
)
from tests.support.nats import OVERSEER

LONG_S = 1.5 * FEW.ack_wait_ms / 1000


@dataclass
class Hands:
    """What all workers together have in hand."""

    now: int = 0
    most: int = 0
    begun: list[int] = field(default_factory=list[int])
    done: list[int] = field(default_factory=list[int])
    takes_s: float = 0.01

    async def do(self, ask: Ask) -> None:
        """Work for a while."""
        self.begun.append(ask.number)
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await anyio.sleep(self.takes_s)
        finally:
            self.now -= 1
        self.done.append(ask.number)

    def have_done(self, count: int) -> bool:
        """Return whether so many pieces, numbered from 0, are done, and no other."""
        return set(self.done) == set(range(count))

    async def hang(self, ask: Ask) -> None:
        """Never end."""
        self.begun.append(ask.number)
        await anyio.sleep_forever()


@asynccontextmanager
async def workers(world: World, hands: Hands, count: int) -> AsyncGenerator[list[Bus]]:
    """Run workers that have much more room than there are places."""
    async with AsyncExitStack() as stack:
        buses = [await stack.enter_async_context(taking_part(world, "answerer", f"r{n}")) for n in range(count)]
        for bus in buses:
            await bus.serve(FEW, hands.do, at_once=5)
        yield buses


async def put(bus: Bus, count: int, first: int = 0) -> None:
    """Put numbered work."""
    for number in range(first, first + count):
        await bus.enqueue(FEW, Ask(number=number), packet_id=f"few-{number}")


@pytest.mark.parametrize("takes_s", [0.01, LONG_S], ids=["short work", "work that shows life meanwhile"])
@pytest.mark.slow
async def test_all_workers_together_have_no_more_in_hand_than_there_are_places(
    make_world: MakeWorld, takes_s: float
) -> None:
    hands = Hands(takes_s=takes_s)
    count = 30 if takes_s < LONG_S else 6
    async with make_world() as world, taking_part(world, "asker") as bus, workers(world, hands, 3):
        await put(bus, count)
        await until(lambda: len(hands.done) >= count)

        assert (hands.most, sorted(hands.begun)) == (2, list(range(count)))


async def test_the_place_of_a_worker_that_died_is_free_again(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0.2)  # so long that two are at work together
    async with make_world() as world, taking_part(world, "asker") as bus, anyio.create_task_group() as tasks:
        doomed = Doomed()

        async def hang(worker: Bus) -> None:
            await worker.serve(FEW, hands.hang, at_once=5)

        await tasks.start(doomed.run, world, "answerer", hang)
        await put(bus, 6)
        await until(lambda: len(hands.begun) == 2)
        doomed.scope.cancel()
        async with workers(world, hands, 1):
            await until(lambda: len(hands.done) == 6)

    assert (hands.most, sorted(hands.done)) == (2, list(range(6)))
    assert sorted(hands.begun) == [0, 0, 1, 1, 2, 3, 4, 5]


async def test_work_that_is_cut_off_is_handed_on_though_every_place_is_taken(make_world: MakeWorld) -> None:
    hands = Hands()
    async with (
        make_world() as world,
        taking_part(world, "asker") as bus,
        taking_part(world, "answerer", "goes") as goes,
    ):
        await goes.serve(FEW, hands.hang, at_once=5)
        await put(bus, 6)
        await until(lambda: len(hands.begun) == 2)
        await goes.drain(20)
        async with workers(world, hands, 1):
            await until(lambda: len(set(hands.done)) == 6)  # beside load one may be done twice, as any work may

    assert (hands.most, set(hands.done)) == (2, set(range(6)))


async def test_work_is_handed_out_as_often_as_it_takes(make_world: MakeWorld) -> None:
    tries: list[int] = []
    enough = 2 * MAX_DELIVER

    async def do(ask: Ask) -> None:
        tries.append(ask.number)
        if len(tries) < enough:
            raise FaultError(rate_limited("slowly", 20))

    async with (
        make_world() as world,
        taking_part(world, "asker") as bus,
        taking_part(world, "answerer") as worker,
    ):
        await worker.serve(FEW, do, at_once=1)
        await put(bus, 1)
        await until(lambda: len(tries) == enough and worker.figures().in_flight == 0)

        assert (worker.figures().errors, worker.figures().served) == (enough - 1, enough)


async def test_work_that_is_to_be_tried_later_keeps_its_place(make_world: MakeWorld) -> None:
    hands = Hands()
    tries: list[int] = []
    unfinished: list[int] = []

    async def do(ask: Ask) -> None:
        tries.append(ask.number)
        unfinished.append(len(set(tries)) - len(hands.done))
        if tries.count(ask.number) == 1 and ask.number < 2:
            raise FaultError(rate_limited("later", 600))
        await hands.do(ask)

    async with (
        make_world() as world,
        taking_part(world, "asker") as bus,
        taking_part(world, "answerer") as worker,
    ):
        await worker.serve(FEW, do, at_once=5)
        await put(bus, 4)
        await until(lambda: len(hands.done) == 4)

        assert sorted(tries) == [0, 0, 1, 1, 2, 3]
        assert sorted(hands.done) == [0, 1, 2, 3]
        assert max(unfinished) == 2


@pytest.mark.slow
async def test_the_number_of_places_can_be_set_anew_by_an_overseer_alone(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0.1)
    async with make_world() as world, taking_part(world, "asker") as bus, workers(world, hands, 3) as buses:
        with pytest.raises((ForbiddenError, TransportError)):
            await buses[0].prepare(replace(FEW, at_once=7))
        async with taking_part(world, OVERSEER) as overseer:
            await overseer.prepare(replace(FEW, at_once=4))
        await put(bus, 20)
        await until(lambda: set(hands.done) == set(range(20)))
        assert hands.most == 4

        async with taking_part(world, OVERSEER) as overseer:
            await overseer.prepare(FEW)
        hands.most = 0
        await put(bus, 10, first=20)
        await until(lambda: set(hands.done) == set(range(30)))
        assert hands.most == 2


@pytest.mark.slow
async def test_places_are_kept_when_the_server_dies(make_world: MakeWorld) -> None:
    """What nats-server handed out less than a tenth of a second before, it forgets, and hands out once more."""
    hands = Hands(takes_s=0.05)
    async with make_world() as world, taking_part(world, "asker") as bus, workers(world, hands, 3):
        await put(bus, 20)
        await until(lambda: len(hands.done) >= 5)
        await world.breaks()
        await until(lambda: not bus.transport.connected)
        await world.mends()
        await until(lambda: set(hands.done) == set(range(20)) and hands.now == 0)
        assert hands.most <= 2 * 2

        hands.most = 0
        for first in range(20, 520, 10):  # a place is free again once the server has heard that its work is done
            await put(bus, 10, first=first)
            await until(partial(hands.have_done, first + 10))
            if hands.most > 1:
                break
        assert hands.most == 2
