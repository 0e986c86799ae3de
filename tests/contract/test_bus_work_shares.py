"""Work of which each account has a share: they take turns, and nothing of it is lost or done twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import anyio

from bus import Bus
from bus.context import account
from bus.fairness import Account
from bus.nats.workqueue import TakenMessage
from tests.contract.test_bus_work_places import Hands
from tests.contract.world import CHORE, FAIR, Ask, Doomed, MakeWorld, taking_part, until
from tests.support.nats import OVERSEER

MANY, FEW, OTHER = Account("key_many"), Account("few@example.org"), None
"""Those who share: a name that is a token, one that is none, and the system itself."""


async def put(bus: Bus, who: Account | None, numbers: range) -> None:
    """Put numbered work of an account."""
    with account(who):
        for number in numbers:
            await bus.enqueue(FAIR, Ask(number=number), packet_id=f"fair-{number}")


async def test_who_comes_later_does_not_wait_for_all_of_who_came_first(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0)
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as worker:
        await put(bus, MANY, range(12))
        await put(bus, FEW, range(20, 23))
        await put(bus, OTHER, range(30, 31))
        await worker.serve(FAIR, hands.do, at_once=1)
        await until(lambda: len(hands.done) == 16)

    assert hands.done[:8] == [0, 1, 20, 21, 30, 2, 3, 22]
    assert hands.done[8:] == list(range(4, 12))


async def test_one_alone_has_every_place_of_all_replicas(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0.02)
    async with (
        make_world() as world,
        taking_part(world, "asker") as bus,
        taking_part(world, "answerer", "one") as one,
        taking_part(world, "answerer", "two") as two,
        taking_part(world, OVERSEER) as overseer,
    ):
        await overseer.prepare(replace(FAIR, at_once=4, share=4))
        await put(bus, MANY, range(10))
        for worker in (one, two):
            await worker.serve(FAIR, hands.do, at_once=2)
        await until(lambda: len(hands.done) == 10)

    assert (hands.most, sorted(hands.begun)) == (4, list(range(10)))


async def test_what_waits_in_a_line_is_there_once(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0)
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as worker:
        for _ in range(3):
            await put(bus, MANY, range(6))
        await worker.serve(FAIR, hands.do, at_once=2)
        await until(lambda: len(hands.done) == 6)
        await put(bus, MANY, range(7))
        await until(lambda: 6 in hands.done)

    assert Counter(hands.begun) == Counter(range(7))


async def test_nothing_of_a_line_is_lost_with_who_worked_on_it_or_with_the_server(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0.02)
    async with make_world() as world, taking_part(world, "asker") as bus, anyio.create_task_group() as tasks:
        doomed = Doomed()

        async def hang(worker: Bus) -> None:
            await worker.serve(FAIR, hands.hang, at_once=2)

        await tasks.start(doomed.run, world, "answerer", hang)
        await put(bus, MANY, range(12))
        await put(bus, FEW, range(12, 15))
        await until(lambda: len(hands.begun) == 2)
        doomed.scope.cancel()
        async with taking_part(world, "answerer", "one") as one, taking_part(world, "answerer", "two") as two:
            for worker in (one, two):
                await worker.serve(FAIR, hands.do, at_once=1)
            await until(lambda: len(hands.done) >= 4)
            await world.breaks()
            await until(lambda: not bus.transport.connected)
            await world.mends()
            await until(lambda: set(hands.done) == set(range(15)) and hands.now == 0)

    assert hands.most <= 2 * 2  # as of any work: what a server that dies has just handed out it hands out once more


async def test_a_line_goes_on_where_who_had_its_work_died_before_advancing_it(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0)
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, "answerer") as worker:
        await put(bus, MANY, range(5))
        queue = await worker.transport.queue(FAIR)
        for one in await queue.take(2, 5):
            if isinstance(one, TakenMessage):
                await one.inner.ack_sync()
            else:
                await one.finish()
        await worker.serve(FAIR, hands.do, at_once=1)
        await until(lambda: hands.done == [2, 3, 4])


async def test_what_an_earlier_weft_has_queued_without_shares_is_done(make_world: MakeWorld) -> None:
    hands = Hands(takes_s=0)
    shared = replace(CHORE, share=1)
    async with make_world() as world, taking_part(world, "asker") as bus, taking_part(world, OVERSEER) as overseer:
        for number in range(3):
            await bus.enqueue(CHORE, Ask(number=number))
        await overseer.prepare(shared)
        for number in range(3, 6):
            await overseer.enqueue(shared, Ask(number=number))
        await overseer.serve(shared, hands.do, at_once=1)
        await until(lambda: hands.done == list(range(6)))
