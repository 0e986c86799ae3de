"""Durable work: done at least once, by whoever has room, in memory and over NATS alike."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from itertools import pairwise

import anyio
import pytest

from bus import Bus, TransportError, conversation
from bus.context import current_conversation
from bus.errors import ForbiddenError
from bus.fairness import NO_LINE
from bus.serving import Handler
from bus.transport import BusMessage
from protocol.faults import Code, FaultError, fault, rate_limited
from tests.contract.world import ACK_WAIT_MS, CHORE, MAX_DELIVER, Ask, Doomed, MakeWorld, taking_part, until


async def test_work_is_done_whoever_comes_first(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        done: list[int] = []

        async def do(ask: Ask) -> None:
            done.append(ask.number)

        await bus.enqueue(CHORE, Ask(number=1))
        await worker.serve(CHORE, do, at_once=2)
        for number in range(2, 20):
            await bus.enqueue(CHORE, Ask(number=number))
        await until(lambda: len(done) == 19)

        assert sorted(done) == list(range(1, 20))
        await until(lambda: worker.figures().served == 19)


async def test_the_same_id_is_done_once(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        done: list[str] = []

        async def do(ask: Ask) -> None:
            done.append(ask.text)

        await worker.serve(CHORE, do, at_once=1)
        ids = [await bus.enqueue(CHORE, Ask(text="x"), packet_id="job-1") for _ in range(3)]
        await bus.enqueue(CHORE, Ask(text="last"))
        await until(lambda: "last" in done)

        assert ids == ["job-1"] * 3
        assert done == ["x", "last"]


async def test_work_of_a_worker_that_dies_goes_to_another(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as bus:
        begun = anyio.Event()
        done: list[str] = []

        async def hang(_: Ask) -> None:
            begun.set()
            await anyio.sleep_forever()

        async def do(ask: Ask) -> None:
            done.append(ask.text)

        async with anyio.create_task_group() as tasks:
            doomed = Doomed()
            await tasks.start(doomed.run, world, "answerer", working(hang))
            await bus.enqueue(CHORE, Ask(text="x"))
            await begun.wait()
            doomed.scope.cancel()
            died_at = time.perf_counter()
            async with taking_part(world, "answerer", "heir") as heir:
                await heir.serve(CHORE, do, at_once=1)
                await until(lambda: bool(done))
                print(f"taken over {time.perf_counter() - died_at:.2f} s after the death")  # noqa: T201 - a figure

        assert done == ["x"]


async def test_long_work_stays_with_who_does_it(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer", "one") as one,
        taking_part(world, "answerer", "two") as two,
        taking_part(world, "asker") as bus,
    ):
        begun = ended = 0

        async def do(_: Ask) -> None:
            nonlocal begun, ended
            begun += 1
            await anyio.sleep(3 * ACK_WAIT_MS / 1000)
            ended += 1

        for worker in (one, two):
            await worker.serve(CHORE, do, at_once=2)
        await bus.enqueue(CHORE, Ask())
        await until(lambda: ended == 1 and one.figures().in_flight + two.figures().in_flight == 0)

        assert begun == 1


async def test_a_retryable_fault_is_tried_again_after_its_delay(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        tries: list[float] = []

        async def do(_: Ask) -> None:
            tries.append(time.monotonic())
            if len(tries) < 3:
                raise FaultError(rate_limited("slowly", 50))

        await worker.serve(CHORE, do, at_once=1)
        await bus.enqueue(CHORE, Ask())
        await until(lambda: len(tries) == 3 and worker.figures().in_flight == 0)

        assert all(later - earlier >= 0.049 for earlier, later in pairwise(tries))
        assert worker.figures().errors == 2


@pytest.mark.parametrize("code", [Code.HTTP_NOT_FOUND, Code.RATE_LIMIT_EXCEEDED])
async def test_work_that_cannot_be_done_is_dropped(make_world: MakeWorld, code: Code) -> None:
    """At once when trying again does not help, after the last delivery otherwise."""
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        tries: list[str] = []

        async def do(ask: Ask) -> None:
            tries.append(ask.text)
            if ask.text == "bad":
                raise FaultError(rate_limited("", 10) if code is Code.RATE_LIMIT_EXCEEDED else fault(code))

        await worker.serve(CHORE, do, at_once=1)
        await bus.enqueue(CHORE, Ask(text="bad"))
        allowed = MAX_DELIVER if code is Code.RATE_LIMIT_EXCEEDED else 1
        await until(lambda: worker.figures().errors == allowed and worker.figures().in_flight == 0)
        await bus.enqueue(CHORE, Ask(text="good"))
        await until(lambda: "good" in tries)

        assert tries == ["bad"] * allowed + ["good"]


async def test_garbage_is_dropped(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        done: list[str] = []

        async def do(ask: Ask) -> None:
            done.append(ask.text)

        await worker.serve(CHORE, do, at_once=1)
        await bus.transport.flush()
        queue = await bus.transport.queue(CHORE)
        await queue.put(BusMessage(CHORE.pattern, b"garbage", headers={"Nats-Msg-Id": "garbage"}), NO_LINE)
        await bus.enqueue(CHORE, Ask(text="good"))
        await until(lambda: worker.figures().served == 2)

        assert done == ["good"]
        assert worker.figures().endpoints[0].last_error == Code.VALIDATION_INVALID_PACKET


async def test_no_more_work_at_once_than_declared(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        running = most = done = 0
        full = anyio.Event()

        async def do(_: Ask) -> None:
            nonlocal running, most, done
            running += 1
            most = max(most, running)
            if running == 3:
                full.set()
            with anyio.fail_after(90):
                await full.wait()
            await anyio.sleep(0.005)
            running -= 1
            done += 1

        await worker.serve(CHORE, do, at_once=3)
        for _ in range(30):
            await bus.enqueue(CHORE, Ask())
        await until(lambda: done == 30)

        assert most == 3


async def test_one_piece_of_work_does_not_wait_for_more(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        done = anyio.Event()

        async def do(_: Ask) -> None:
            done.set()

        await worker.serve(CHORE, do, at_once=10)
        await bus.enqueue(CHORE, Ask())

        with anyio.fail_after(90):
            await done.wait()


@pytest.mark.slow
async def test_a_worker_that_drains_leaves_the_rest_to_others(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer", "goes") as goes,
        taking_part(world, "answerer", "stays") as stays,
        taking_part(world, "asker") as bus,
    ):
        done: list[int] = []

        async def do(ask: Ask) -> None:
            await anyio.sleep(0.005)
            done.append(ask.number)

        for worker in (goes, stays):
            await worker.serve(CHORE, do, at_once=2)
        for number in range(40):
            await bus.enqueue(CHORE, Ask(number=number))
        await goes.drain(5_000)
        done_by_then = goes.figures().served
        await until(lambda: len(done) >= 40)

        assert sorted(done) == list(range(40))
        assert goes.figures().served == done_by_then


async def test_work_that_is_cut_off_is_handed_on_at_once(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer", "goes") as goes,
        taking_part(world, "answerer", "stays") as stays,
        taking_part(world, "asker") as bus,
    ):
        begun = anyio.Event()
        done: list[str] = []

        async def hang(_: Ask) -> None:
            begun.set()
            await anyio.sleep_forever()

        async def do(ask: Ask) -> None:
            done.append(ask.text)

        await goes.serve(CHORE, hang, at_once=1)
        await bus.enqueue(CHORE, Ask(text="x"))
        await begun.wait()
        await goes.drain(20)
        await stays.serve(CHORE, do, at_once=1)
        await until(lambda: bool(done))

        assert done == ["x"]
        assert goes.figures().in_flight == 0


async def test_the_conversation_travels_with_the_work(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        heard: list[str] = []

        async def do(_: Ask) -> None:
            heard.append(current_conversation().id)

        await worker.serve(CHORE, do, at_once=1)
        with conversation() as mine:
            await bus.enqueue(CHORE, Ask())
        await until(lambda: bool(heard))

        assert heard == [mine]


@pytest.mark.slow
async def test_who_did_not_declare_it_cannot_touch_the_work(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "stranger") as stranger:
        with pytest.raises((ForbiddenError, TransportError)):
            await stranger.enqueue(CHORE, Ask())


@pytest.mark.slow
async def test_no_acknowledged_work_is_lost_when_the_server_dies(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        acknowledged: set[int] = set()
        done: list[int] = []

        async def do(ask: Ask) -> None:
            done.append(ask.number)

        async def put(number: int) -> None:
            while number not in acknowledged:
                try:
                    await bus.enqueue(CHORE, Ask(number=number), packet_id=f"job-{number}")
                    acknowledged.add(number)
                except TransportError:
                    await anyio.sleep(0.02)

        async def load(first: int) -> None:
            for number in range(first, first + 100):
                await put(number)

        await worker.serve(CHORE, do, at_once=8)

        async with anyio.create_task_group() as tasks:
            for first in range(0, 400, 100):
                tasks.start_soon(load, first)
            await until(lambda: len(acknowledged) > 100)
            await world.breaks()
            await until(lambda: not bus.transport.connected)
            await world.mends()
        await until(lambda: set(done) == set(range(400)))

        assert acknowledged == set(range(400))
        print(f"{len(done)} deliveries of 400")  # noqa: T201 - a figure


async def test_what_is_in_hand_when_the_server_dies_is_not_begun_twice(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as worker, taking_part(world, "asker") as bus:
        begun: list[int] = []
        back = anyio.Event()

        async def do(ask: Ask) -> None:
            begun.append(ask.number)
            if ask.number == 1:
                await back.wait()

        await worker.serve(CHORE, do, at_once=2)
        await bus.enqueue(CHORE, Ask(number=1))
        await until(lambda: begun == [1])
        await world.breaks()
        await until(lambda: not bus.transport.connected)
        await world.mends()
        await until(lambda: bus.transport.connected)
        await bus.enqueue(CHORE, Ask(number=2))
        await until(lambda: 2 in begun)
        back.set()
        await bus.enqueue(CHORE, Ask(number=3))
        await until(lambda: 3 in begun and worker.figures().in_flight == 0)

        assert begun == [1, 2, 3]


def working(handler: Handler) -> Callable[[Bus], Awaitable[None]]:
    """Have a doomed replica work."""

    async def arrange(bus: Bus) -> None:
        await bus.serve(CHORE, handler, at_once=1)

    return arrange
