"""Limits of time and room: deadlines, callers that go, replicas that are busy, in memory and over NATS alike."""

from __future__ import annotations

import time
from contextlib import suppress

import anyio
import pytest

from bus import BusyError, DeadlineError, remaining_ms
from bus.transport import BusMessage
from bus.wire import PATIENCE
from protocol.faults import Code, FaultError
from tests.contract.world import ASK, RELAY, Answer, Ask, Holding, MakeWorld, echo, serve, taking_part, until

LONG_MS = 20_000
CANCEL_S = 90.0
"""A generous bound; the benchmark holds the 100 ms."""


async def test_the_deadline_shrinks_at_every_hop(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:

        async def tell_time(_: Ask) -> Answer:
            return Answer(left_ms=(remaining_ms(),))

        async def relay(ask: Ask) -> Answer:
            mine = remaining_ms()
            theirs = await callee.call(ASK, ask)
            return Answer(left_ms=(mine, *theirs.left_ms))

        await serve(callee, ASK, tell_time)
        await serve(callee, RELAY, relay)

        answer = await caller.call(RELAY, Ask(), timeout_ms=5_000)

        first, second = answer.left_ms
        assert first is not None
        assert second is not None
        assert 5_000 > first > second > 3_000


async def test_no_time_of_its_own_means_that_of_the_work_in_hand(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        holding = Holding()
        await serve(callee, ASK, holding)

        with anyio.fail_after(CANCEL_S):
            with suppress(FaultError), anyio.move_on_after(0.1):
                await caller.call(ASK, Ask(), timeout_ms=LONG_MS)
            await holding.cut_off.wait()


async def test_a_caller_whose_time_is_over_stops_the_callee(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        holding = Holding()
        await serve(callee, ASK, holding)

        with anyio.fail_after(CANCEL_S):
            with pytest.raises(FaultError) as caught:
                await caller.call(ASK, Ask(), timeout_ms=100)
            over_at = time.perf_counter()
            await holding.cut_off.wait()

        assert caught.value.fault.code is Code.INTERNAL_DEADLINE
        assert caught.value.fault.retryable
        print(f"cut off {(holding.cut_off_at - over_at) * 1000:.2f} ms after the caller's time was over")  # noqa: T201 - a figure


async def test_a_deaf_callee_is_given_up(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "overseer") as overseer,
        taking_part(world, "asker") as caller,
    ):
        await overseer.transport.subscribe(ASK.pattern, say_nothing)
        await overseer.transport.flush()

        with anyio.fail_after(CANCEL_S), pytest.raises(DeadlineError) as caught:
            await caller.call(ASK, Ask(), timeout_ms=50)

        assert caught.value.fault.code is Code.INTERNAL_DEADLINE


async def test_a_caller_that_goes_away_stops_the_callee_at_once(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        holding = Holding()
        await serve(callee, ASK, holding)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(caller.call, ASK, Ask())
            await holding.begun.wait()
            gone_at = time.perf_counter()
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True), anyio.fail_after(CANCEL_S):
                await holding.cut_off.wait()
            print(f"cut off {(holding.cut_off_at - gone_at) * 1000:.2f} ms after the caller went")  # noqa: T201 - a figure


async def test_cancelling_goes_down_every_hop(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        holding = Holding()

        async def relay(ask: Ask) -> Answer:
            return await callee.call(ASK, ask)

        await serve(callee, ASK, holding)
        await serve(callee, RELAY, relay)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(caller.call, RELAY, Ask())
            await holding.begun.wait()
            tasks.cancel_scope.cancel()

        with anyio.fail_after(CANCEL_S):
            await holding.cut_off.wait()


async def test_a_busy_replica_is_passed_over(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer", "stuck") as stuck,
        taking_part(world, "answerer", "free") as free,
        taking_part(world, "asker") as caller,
    ):
        holding = Holding()
        await serve(stuck, ASK, holding)
        answers: list[Answer] = []

        async def ask(text: str) -> None:
            answers.append(await caller.call(ASK, Ask(text=text), timeout_ms=LONG_MS))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "stuck")
            await holding.begun.wait()
            await serve(free, ASK, echo, at_once=20)
            async with anyio.create_task_group() as asking:
                for number in range(20):
                    asking.start_soon(ask, str(number))
            assert sorted(answer.text for answer in answers) == sorted(str(number) for number in range(20))
            holding.go_on.set()

        assert holding.calls == 1


async def test_when_all_are_busy_the_caller_hears_so_in_the_end(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        holding = Holding()
        await serve(callee, ASK, holding)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(caller.call, ASK, Ask())
            await holding.begun.wait()
            with anyio.fail_after(CANCEL_S), pytest.raises(BusyError) as caught:
                await caller.call(ASK, Ask(), timeout_ms=300)
            assert caught.value.fault.code is Code.INTERNAL_BUSY
            assert caught.value.fault.retryable
            holding.go_on.set()


async def test_who_is_refused_waits_for_room_ever_longer_where_they_ask_again(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer") as callee,
        taking_part(world, "overseer") as overseer,
        taking_part(world, "asker") as caller,
    ):
        holding, patience_ms, answers = Holding(), list[int](), list[Answer]()

        async def overhear(message: BusMessage) -> None:
            patience_ms.append(int(message.headers.get(PATIENCE, "0")))

        async def ask(text: str) -> None:
            answers.append(await caller.call(ASK, Ask(text=text), timeout_ms=LONG_MS))

        await serve(callee, ASK, holding)
        await overseer.transport.subscribe(ASK.pattern, overhear)
        await overseer.transport.flush()
        with anyio.fail_after(CANCEL_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, "first")
                await holding.begun.wait()
                tasks.start_soon(ask, "second")
                await until(lambda: len(patience_ms) > 5 and callee.figures().queued == 1)
                holding.go_on.set()

        first, *second = patience_ms
        assert (first, second[0]) == (0, 0)
        assert second == sorted(second)
        assert 0 < second[1] < second[-1]
        assert [answer.text for answer in answers] == ["first", "second"]


async def test_no_more_handlers_at_once_than_declared(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        running = most = 0

        async def work(ask: Ask) -> Answer:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await anyio.sleep(0.01)
            running -= 1
            return Answer(text=ask.text)

        await serve(callee, ASK, work, at_once=3)

        async with anyio.create_task_group() as tasks:
            for _ in range(30):
                tasks.start_soon(caller.call, ASK, Ask())

        assert most == 3
        assert callee.figures().in_flight == 0


async def say_nothing(_: BusMessage) -> None:
    """Hear, and do not answer."""
