"""Calls and their answers, in memory and over NATS alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import anyio
import pytest

from bus import Bus, NoResponderError, conversation
from bus.context import current_conversation
from bus.transport import BusMessage
from bus.wire import TIMEOUT
from protocol.actions import Action
from protocol.codec import decoder, encode
from protocol.faults import Code, FaultError, fault
from protocol.packets import Response
from tests.contract.world import (
    ASK,
    ONCE,
    RELAY,
    ROOMS,
    Answer,
    Ask,
    Holding,
    MakeWorld,
    echo,
    serve,
    taking_part,
    until,
)


async def test_a_call_is_answered_with_types(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)

        answer = await caller.call(ASK, Ask(text="Grüße"))

        assert answer == Answer(text="Grüße")


async def test_slots_are_served_together_and_asked_one_by_one(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ROOMS, echo, at_once=2)

        answers = [await caller.call(ROOMS.at(room=room), Ask(text=room)) for room in ("attic", "cellar")]

        assert answers == [Answer(text="attic"), Answer(text="cellar")]


async def test_the_fault_of_the_callee_comes_through_whole(make_world: MakeWorld) -> None:
    wanted = fault(
        Code.BLOCKED_GEO_RESTRICTED,
        "Not from here",
        http_status=451,
        field="url",
        actions=(Action(action="move", description="Go elsewhere", suggested_delay_ms=7),),
    ).at(url="https://example.org/x", tier="intelligence", attempt=2)

    async def refuse(_: Ask) -> Answer:
        raise FaultError(wanted)

    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, refuse)

        with pytest.raises(FaultError) as caught:
            await caller.call(ASK, Ask())

        assert caught.value.fault == wanted


async def test_an_exception_nobody_meant_says_nothing_of_itself(make_world: MakeWorld) -> None:
    async def break_down(_: Ask) -> Answer:
        msg = "password=hunter2 in /srv/secret.py"
        raise RuntimeError(msg)

    async with (
        make_world() as world,
        taking_part(world, "overseer") as overseer,
        taking_part(world, "answerer") as callee,
        taking_part(world, "asker") as caller,
    ):
        wire: list[bytes] = []
        await overseer.transport.subscribe(">", keep(wire))
        await overseer.transport.flush()
        await serve(callee, ASK, break_down)

        with pytest.raises(FaultError) as caught:
            await caller.call(ASK, Ask())

        assert caught.value.fault == fault(Code.INTERNAL_ERROR)
        await until(lambda: any(b"INTERNAL_ERROR" in payload for payload in wire))
        assert not any(b"hunter2" in payload or b"secret.py" in payload for payload in wire)


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        (b"no JSON", None),
        (b"", None),
        (b'{"type":"request"}', "protocol"),
        (b'{"type":"request","protocol":{"name":"other","version":1}}', "protocol.name"),
    ],
)
async def test_a_malformed_packet_is_answered_with_what_is_wrong(
    make_world: MakeWorld, payload: bytes, field: str | None
) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)

        answer = await ask_raw(caller, payload)

        assert isinstance(answer.error, type(fault(Code.INTERNAL_ERROR)))
        assert answer.error.code is Code.VALIDATION_INVALID_PACKET
        assert answer.error.field == field


async def test_arguments_of_another_type_name_the_field(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)
        packet = encode(caller.wire.request(ASK, Ask(text="x"))).replace(b'"text":"x"', b'"text":5')

        answer = await ask_raw(caller, packet)

        assert isinstance(answer.error, type(fault(Code.INTERNAL_ERROR)))
        assert answer.error.field == "input.task.args.text"


@pytest.mark.parametrize("senseless", ["9" * 400, "-1", "soon", "", "\u0663"])
async def test_a_senseless_timeout_is_not_the_end_of_the_callee(make_world: MakeWorld, senseless: str) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)
        packet = encode(caller.wire.request(ASK, Ask(text="x")))

        answer = await ask_raw(caller, packet, {TIMEOUT: senseless})

        assert isinstance(answer, Response)
        assert await caller.call(ASK, Ask(text="alive")) == Answer(text="alive")


async def test_a_call_without_an_inbox_is_not_the_end_of_the_callee(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)

        await caller.transport.publish(ASK.pattern, encode(caller.wire.request(ASK, Ask())))

        assert await caller.call(ASK, Ask(text="alive")) == Answer(text="alive")


async def test_nobody_there_is_told_at_once(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as caller:
        with anyio.fail_after(90), pytest.raises(NoResponderError) as caught:
            await caller.call(ASK, Ask(), timeout_ms=30_000)

        assert caught.value.fault.retryable


async def test_one_may_wait_for_somebody_to_come(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        answers: list[Answer] = []

        async def ask() -> None:
            answers.append(await caller.call(ASK, Ask(text="late"), wait_ms=10_000))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.1)
            await serve(callee, ASK, echo)

        assert answers == [Answer(text="late")]


async def test_an_actor_may_call_itself(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:

        async def count_down(ask: Ask) -> Answer:
            if ask.number == 0:
                return Answer(text="ground")
            return await callee.call(ASK, Ask(number=ask.number - 1))

        await serve(callee, ASK, count_down, at_once=4)

        assert await caller.call(ASK, Ask(number=3)) == Answer(text="ground")


async def test_a_fast_call_does_not_wait_for_a_slow_one(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        holding = Holding()

        async def mixed(ask: Ask) -> Answer:
            return await holding(ask) if ask.text == "slow" else Answer(text=ask.text)

        await serve(callee, ASK, mixed, at_once=2)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(caller.call, ASK, Ask(text="slow"))
            await holding.begun.wait()
            assert await caller.call(ASK, Ask(text="fast")) == Answer(text="fast")
            holding.go_on.set()


async def test_the_conversation_travels_to_the_second_hop(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:

        async def who(_: Ask) -> Answer:
            return Answer(text=current_conversation().id)

        async def relay(ask: Ask) -> Answer:
            return await callee.call(ASK, ask)

        await serve(callee, ASK, who)
        await serve(callee, RELAY, relay)

        with conversation() as mine:
            answer = await caller.call(RELAY, Ask())

        assert answer == Answer(text=mine)


async def test_headers_of_a_request_are_not_echoed(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)
        answers: list[BusMessage] = []

        async def keep_message(message: BusMessage) -> None:
            answers.append(message)

        inbox = f"{caller.transport.inbox}.raw"
        await caller.transport.subscribe(inbox, keep_message)
        await caller.transport.publish(
            ASK.pattern,
            encode(caller.wire.request(ASK, Ask())),
            reply=inbox,
            headers={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "Nats-Msg-Id": "1", TIMEOUT: "1000"},
        )
        await until(lambda: bool(answers))

        assert dict(answers[0].headers) == {}


async def test_every_call_is_answered_by_one_replica(make_world: MakeWorld) -> None:
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(make_world())
        served: list[str] = []
        for name in ("one", "two", "three"):
            replica = await stack.enter_async_context(taking_part(world, "answerer", name))

            async def answer(ask: Ask, name: str = name) -> Answer:
                served.append(name)
                return Answer(text=ask.text, by=name)

            await serve(replica, ONCE, answer, at_once=60)
        caller = await stack.enter_async_context(taking_part(world, "asker"))

        async with anyio.create_task_group() as tasks:
            for number in range(60):
                tasks.start_soon(caller.call, ONCE, Ask(text=str(number)))

        assert len(served) == 60
        assert set(served) == {"one", "two", "three"}


def keep(payloads: list[bytes]) -> Callable[[BusMessage], Awaitable[None]]:
    """Note every payload."""

    async def note(message: BusMessage) -> None:
        payloads.append(message.payload)

    return note


async def ask_raw(caller: Bus, payload: bytes, headers: dict[str, str] | None = None) -> Response[Answer]:
    """Send bytes to ASK, and read what comes back."""
    answers: list[bytes] = []
    inbox = f"{caller.transport.inbox}.raw"
    await caller.transport.subscribe(inbox, keep(answers))
    await caller.transport.publish(ASK.pattern, payload, reply=inbox, headers=headers)
    await until(lambda: bool(answers))
    response: Response[Answer] = decoder(Response[Answer]).decode(answers[0])
    return response
