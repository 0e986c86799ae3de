"""What becomes of a call whose replica died with it, in memory and over NATS alike."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest

from bus import Bus
from bus.serving import Handler
from protocol.replicas import ReplicaGone
from protocol.subject_kinds import Call
from protocol.subjects import REPLICA_GONE
from tests.contract.world import ASK, ONCE, SECRET, Answer, Ask, MakeWorld, World, serve, taking_part, until
from tests.support.nats import OVERSEER

LONG_MS = 20_000
WAIT_MS = 2_000


async def never(ask: Ask) -> Answer:
    await anyio.sleep_forever()
    raise AssertionError


async def at_once(ask: Ask) -> Answer:
    return Answer(text=ask.text, by="heir")


@asynccontextmanager
async def replica(world: World, call: Call[Ask, Answer], handler: Handler) -> AsyncGenerator[Bus]:
    """Run a replica that serves; it says nothing when it goes, as one that was killed."""
    async with taking_part(world, "answerer") as bus:
        await serve(bus, call, handler, at_once=2)
        yield bus


async def told(world: World, *answers: str) -> None:
    """Have it told that a replica has died, by who alone may."""
    async with taking_part(world, OVERSEER) as bus:
        await bus.tell(REPLICA_GONE, ReplicaGone(actor="answerer", replica="r1", reason="died", answers=answers))
        await bus.transport.flush()


async def test_a_call_that_died_with_its_replica_is_answered_by_the_next(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as caller, anyio.create_task_group() as tasks:
        answers: list[Answer] = []

        async def ask() -> None:
            answers.append(await caller.call(ASK, Ask(text="dear"), timeout_ms=LONG_MS, wait_ms=WAIT_MS))

        async with replica(world, ASK, never) as doomed:
            tasks.start_soon(ask)
            await until(lambda: doomed.figures().in_flight == 1)
            await doomed.transport.close()
            await told(world, ASK.wildcard)
        async with replica(world, ASK, at_once):
            await until(lambda: bool(answers))

        assert answers == [Answer(text="dear", by="heir")]


@pytest.mark.parametrize(
    ("call", "answers"), [(ONCE, ONCE.wildcard), (ASK, SECRET.wildcard)], ids=["not idempotent", "of another actor"]
)
async def test_a_call_that_need_not_be_lost_is_left_alone(
    make_world: MakeWorld, call: Call[Ask, Answer], answers: str
) -> None:
    async with make_world() as world, taking_part(world, "asker") as caller:
        go_on = anyio.Event()
        asked: list[str] = []

        async def hold(ask: Ask) -> Answer:
            asked.append(ask.text)
            await go_on.wait()
            return Answer(text=ask.text)

        async def ask() -> None:
            assert await caller.call(call, Ask(text="kept"), timeout_ms=LONG_MS) == Answer(text="kept")

        async with replica(world, call, hold) as callee, anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await until(lambda: callee.figures().in_flight == 1)
            await told(world, answers)
            await caller.transport.flush()
            go_on.set()

        assert asked == ["kept"]
