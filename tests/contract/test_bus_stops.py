"""Drains and broken connections, in memory and over NATS alike."""

from __future__ import annotations

import anyio
import pytest

from bus import DisconnectedError, remaining_ms
from protocol.faults import Code, FaultError
from tests.contract.world import ASK, ONCE, TOLD, Answer, Ask, MakeWorld, serve, taking_part, until

pytestmark = pytest.mark.full

LONG_MS = 20_000
DRAIN_MS = 10_000


async def test_work_in_hand_is_finished_and_answered(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        go_on = anyio.Event()
        answers: list[Answer] = []

        async def hold(ask: Ask) -> Answer:
            await go_on.wait()
            return Answer(text=ask.text)

        async def ask() -> None:
            answers.append(await caller.call(ASK, Ask(text="in hand"), timeout_ms=LONG_MS))

        await serve(callee, ASK, hold, at_once=5)

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask)
            await until(lambda: callee.figures().in_flight == 5)
            tasks.start_soon(callee.drain, DRAIN_MS)
            await anyio.wait_all_tasks_blocked()
            go_on.set()

        assert answers == [Answer(text="in hand")] * 5


async def test_nothing_is_lost_while_a_replica_drains(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer", "goes") as goes,
        taking_part(world, "answerer", "stays") as stays,
        taking_part(world, "asker") as caller,
    ):
        answers: list[str] = []

        def answering(name: str) -> object:
            async def answer(ask: Ask) -> Answer:
                await anyio.sleep(0.002)
                return Answer(text=ask.text, by=name)

            return answer

        async def ask(number: int) -> None:
            answers.append((await caller.call(ONCE, Ask(text=str(number)), timeout_ms=LONG_MS)).text)

        for bus, name in ((goes, "goes"), (stays, "stays")):
            await serve(bus, ONCE, answering(name), at_once=50)  # type: ignore[arg-type]  # a handler

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(ask, number)
                if number == 60:
                    tasks.start_soon(goes.drain, DRAIN_MS)
                await anyio.sleep(0.001)

        assert sorted(answers, key=int) == [str(number) for number in range(200)]
        assert goes.figures().served + stays.figures().served == 200
        assert goes.figures().in_flight == 0


async def test_after_a_drain_calls_go_elsewhere(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer", "gone") as gone,
        taking_part(world, "answerer", "there") as there,
        taking_part(world, "asker") as caller,
    ):
        for bus in (gone, there):

            async def answer(_: Ask, name: str = bus.replica) -> Answer:
                return Answer(by=name)

            await serve(bus, ASK, answer, at_once=4)
        await gone.drain(DRAIN_MS)

        answers = {(await caller.call(ASK, Ask())).by for _ in range(20)}

        assert answers == {"there"}


async def test_what_takes_too_long_to_drain_is_cut_off_with_a_fault(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        begun = anyio.Event()
        faults: list[FaultError] = []

        async def hold(_: Ask) -> Answer:
            begun.set()
            await anyio.sleep_forever()
            raise AssertionError

        async def ask() -> None:
            with pytest.raises(FaultError) as caught:
                await caller.call(ASK, Ask(), timeout_ms=LONG_MS)
            faults.append(caught.value)

        await serve(callee, ASK, hold)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await begun.wait()
            with anyio.fail_after(90):
                await callee.drain(50)

        assert [(one.fault.code, one.fault.retryable) for one in faults] == [(Code.INTERNAL_CANCELLED, True)]
        assert callee.figures().in_flight == 0


async def test_a_caller_may_go_while_the_callee_drains(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        begun = anyio.Event()

        async def hold(_: Ask) -> Answer:
            begun.set()
            await anyio.sleep_forever()
            raise AssertionError

        await serve(callee, ASK, hold)

        async with anyio.create_task_group() as draining:
            async with anyio.create_task_group() as asking:
                asking.start_soon(caller.call, ASK, Ask())
                await begun.wait()
                draining.start_soon(callee.drain, DRAIN_MS)
                await anyio.wait_all_tasks_blocked()
                asking.cancel_scope.cancel()
            with anyio.fail_after(90):
                await until(lambda: callee.figures().in_flight == 0)


async def test_events_that_arrived_are_heard_before_the_end(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as listener, taking_part(world, "asker") as teller:
        heard: list[int] = []

        async def hear(ask: Ask) -> None:
            await anyio.sleep(0.002)
            heard.append(ask.number)

        await serve(listener, TOLD, hear)
        for number in range(50):
            await teller.tell(TOLD, Ask(number=number))
        await teller.transport.flush()

        await listener.drain(DRAIN_MS)

        assert heard == list(range(50))


async def test_a_replica_may_end_in_the_middle_of_a_flood(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as teller:
        async with taking_part(world, "answerer") as listener:
            begun = anyio.Event()

            async def hear(_: Ask) -> None:
                begun.set()
                await anyio.sleep_forever()

            await serve(listener, TOLD, hear)
            for _ in range(50):
                await teller.tell(TOLD, Ask())
            await begun.wait()

        assert not listener.transport.connected


async def test_an_idempotent_call_is_repeated_when_the_connection_breaks(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        calls: list[int | None] = []
        answers: list[Answer] = []

        async def hold_once(ask: Ask) -> Answer:
            calls.append(remaining_ms())
            if len(calls) == 1:
                await anyio.sleep_forever()
            return Answer(text=ask.text)

        async def ask() -> None:
            answers.append(await caller.call(ASK, Ask(text="again"), timeout_ms=LONG_MS))

        await serve(callee, ASK, hold_once, at_once=2)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await until(lambda: len(calls) == 1)
            await world.breaks()
            await world.mends()

        assert answers == [Answer(text="again")]
        assert len(calls) == 2


async def test_a_call_that_is_not_ends_in_a_fault(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        calls: list[Ask] = []

        async def hold(ask: Ask) -> Answer:
            calls.append(ask)
            await anyio.sleep_forever()
            raise AssertionError

        await serve(callee, ONCE, hold, at_once=2)

        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                with anyio.fail_after(90), pytest.raises(DisconnectedError) as caught:
                    await caller.call(ONCE, Ask(), timeout_ms=LONG_MS)
                assert caught.value.fault.retryable
                tasks.cancel_scope.cancel()

            tasks.start_soon(ask)
            await until(lambda: bool(calls))
            await world.breaks()

        assert len(calls) == 1


async def test_a_call_made_while_the_connection_is_broken_is_answered_when_it_is_back(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        answers: list[Answer] = []

        async def answer(ask: Ask) -> Answer:
            return Answer(text=ask.text)

        async def ask() -> None:
            answers.append(await caller.call(ASK, Ask(text="patience"), timeout_ms=LONG_MS))

        await serve(callee, ASK, answer, at_once=2)
        await world.breaks()
        await until(lambda: not caller.transport.connected)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            await world.mends()

        assert answers == [Answer(text="patience")]


async def test_a_broken_connection_never_makes_a_call_hang(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:

        async def answer(ask: Ask) -> Answer:
            return Answer(text=ask.text)

        await serve(callee, ASK, answer, at_once=2)
        await world.breaks()
        await until(lambda: not caller.transport.connected)

        with anyio.fail_after(90), pytest.raises(FaultError) as caught:
            await caller.call(ASK, Ask(), timeout_ms=200)

        assert caught.value.fault.retryable
