"""Whoever observes the bus hears all that passes and knows how all that is kept stands, and can do nothing else."""

from __future__ import annotations

import anyio
import pytest

from bus.errors import ForbiddenError
from bus.observing import MAX_HELD, Observer
from bus.permissions import OBSERVER
from protocol.faults import Code, FaultError
from tests.contract.world import CHORE, DIARY, TOLD, Ask, MakeWorld, taking_part, until


async def test_an_observer_hears_what_passes_and_loses_what_it_does_not_take(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as asker, world.connect(OBSERVER) as transport:
        async with Observer(transport).tap("events.>") as tap:
            await transport.flush()
            await asker.tell(TOLD, Ask(text="first"))
            (first,) = await tap.take(10)
            for number in range(MAX_HELD + 5):
                await asker.tell(TOLD, Ask(number=number))
                if number % 500 == 0:
                    await asker.transport.flush()
            await until(lambda: tap.lost >= 5)
            rest = await tap.take(10_000)

        assert (first.message.subject, b"first" in first.message.payload) == (TOLD.pattern, True)
        assert (len(rest), tap.lost) == (MAX_HELD, 5)
        refused = list[ForbiddenError]()
        transport.watch_refusals(refused.append)
        try:
            await transport.publish(TOLD.pattern, b"forged")
        except ForbiddenError as error:
            refused.append(error)
        await until(lambda: bool(refused))


async def test_an_observer_knows_how_journals_and_queues_stand(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "asker") as asker,
        taking_part(world, "answerer") as answerer,
        world.connect(OBSERVER) as transport,
    ):
        await (await asker.journal(DIARY)).append("a", Ask(text="line"))
        held, release = anyio.Event(), anyio.Event()

        async def hold(_: Ask) -> None:
            held.set()
            await release.wait()

        await answerer.serve(CHORE, hold, at_once=1)
        for number in range(3):
            await asker.enqueue(CHORE, Ask(number=number))
        await held.wait()
        stands = {one.name: one for one in await Observer(transport).streams()}
        release.set()

    diary, chore = stands["JOURNAL_diary"], stands["WORK_work_chore"]
    (consumer,) = chore.consumers
    assert (diary.messages, diary.last_sequence, diary.size_bytes > 0, diary.last_at_ms > 0) == (1, 1, True, True)
    assert (diary.max_bytes, diary.consumers) == (DIARY.max_bytes, ())
    assert (chore.messages, consumer.waiting, consumer.in_hand, consumer.again) == (3, 2, 1, 0)


async def test_who_is_not_trusted_with_it_does_not_observe(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as asker:
        with pytest.raises(FaultError, match="cannot be looked at") as refusal:
            async with asker.observer():
                pass
        asker.observing = lambda: world.connect(OBSERVER)
        async with asker.observer() as looking:
            stands = await looking.streams()

    assert refusal.value.fault.code is Code.INTERNAL_UNAVAILABLE
    assert "JOURNAL_diary" in {one.name for one in stands}
