"""Events, large packets, permissions, discovery, taps and floods, in memory and over NATS alike."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import anyio
import msgspec
import pytest
from nats.micro.service import ServiceInfo, ServicePing, ServiceStats
from structlog.testing import capture_logs

from bus import Bus
from bus.errors import ForbiddenError, TransportError
from bus.stats import Replica
from bus.transport import BusMessage, weight
from bus.wire import CLAIM, CLAIM_KEY
from protocol.codec import MalformedError, encode
from protocol.faults import Code, Fault
from protocol.packets import Request, Response
from tests.contract.world import ASK, SECRET, TOLD, Answer, Ask, MakeWorld, World, echo, serve, taking_part, until

LARGE = 20 * 1024 * 1024


def note(messages: list[BusMessage]) -> Callable[[BusMessage], Awaitable[None]]:
    """Note every message."""

    async def keep(message: BusMessage) -> None:
        messages.append(message)

    return keep


# -- events ----------------------------------------------------------------------------------------------------------


async def test_an_event_reaches_every_listener(make_world: MakeWorld) -> None:
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(make_world())
        heard: list[tuple[str, str]] = []
        for name in ("one", "two", "three"):
            listener = await stack.enter_async_context(taking_part(world, "answerer", name))

            async def hear(ask: Ask, name: str = name) -> None:
                heard.append((name, ask.text))

            await serve(listener, TOLD, hear)
        teller = await stack.enter_async_context(taking_part(world, "asker"))

        for text in ("a", "b"):
            await teller.tell(TOLD, Ask(text=text))
        await until(lambda: len(heard) == 6)

        assert sorted(heard) == [(name, text) for name in ("one", "three", "two") for text in ("a", "b")]


async def test_an_event_that_is_shared_reaches_one_replica_and_the_others_that_listen(make_world: MakeWorld) -> None:
    async with make_world() as world, AsyncExitStack() as stack:
        heard = list[tuple[str, str]]()
        for name in ("one", "two", "three"):
            listener = await stack.enter_async_context(taking_part(world, "answerer", name))

            async def hear(ask: Ask) -> None:
                heard.append(("every", ask.text))

            async def hear_shared(ask: Ask) -> None:
                heard.append(("one", ask.text))

            await listener.serve(TOLD, hear_shared, at_once=1, shared=True)
            await serve(listener, TOLD, hear)
        teller = await stack.enter_async_context(taking_part(world, "asker"))

        for number in range(20):
            await teller.tell(TOLD, Ask(text=str(number)))
        await teller.flush()
        await until(lambda: len(heard) == 80)

        assert sorted(text for kind, text in heard if kind == "one") == sorted(map(str, range(20)))


async def test_an_event_without_listeners_is_no_error(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as teller:
        await teller.tell(TOLD, Ask())
        await teller.transport.flush()

        assert teller.figures().errors == 0


@pytest.mark.slow
async def test_a_listener_that_fails_hears_the_next_event(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as listener, taking_part(world, "asker") as teller:
        heard: list[str] = []

        async def hear(ask: Ask) -> None:
            heard.append(ask.text)
            msg = "not today"
            raise RuntimeError(msg)

        await serve(listener, TOLD, hear)

        await teller.tell(TOLD, Ask(text="a"))
        await teller.transport.publish(TOLD.pattern, b"garbage")
        await teller.tell(TOLD, Ask(text="b"))
        await until(lambda: heard == ["a", "b"])

        await until(lambda: listener.figures().errors == 3)


async def test_events_are_heard_no_more_at_once_than_declared(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as listener, taking_part(world, "asker") as teller:
        running = most = heard = 0

        async def hear(_: Ask) -> None:
            nonlocal running, most, heard
            running += 1
            most = max(most, running)
            await anyio.sleep(0.005)
            running -= 1
            heard += 1

        await serve(listener, TOLD, hear, at_once=2)

        for _ in range(20):
            await teller.tell(TOLD, Ask())
        await until(lambda: heard == 20)

        assert most == 2


# -- large packets ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_twenty_megabytes_go_both_ways_and_leave_nothing(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)
        text = "ä" * (LARGE // 2)

        answer = await caller.call(ASK, Ask(text=text))

        assert answer.text == text
        assert await world.claims() == []


@pytest.mark.parametrize("over", [-1, 0, 1, 4_097])
async def test_a_packet_may_have_any_size_around_the_limit(make_world: MakeWorld, over: int) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)
        empty = len(encode(caller.wire.request(ASK, Ask())))
        text = "x" * (caller.transport.max_payload - 4_096 - empty + over)

        assert await caller.call(ASK, Ask(text=text)) == Answer(text=text)
        assert await world.claims() == []


@pytest.mark.parametrize("headers", [None, {"Weft-Test": "x" * 100}])
async def test_a_message_over_the_limit_is_refused_and_breaks_nothing(
    make_world: MakeWorld, headers: dict[str, str] | None
) -> None:
    async with make_world() as world, taking_part(world, "overseer") as one:
        heard: list[BusMessage] = []
        await one.transport.subscribe("anything", note(heard))
        room = one.transport.max_payload - weight(b"", headers)

        await one.transport.publish("anything", b"x" * room, headers=headers)
        with pytest.raises(TransportError):
            await one.transport.publish("anything", b"x" * (room + 1), headers=headers)
        await until(lambda: len(heard) == 1)

        assert one.transport.connected


async def test_a_claim_check_opens_for_the_receiver_of_its_message_alone(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        packet = caller.wire.request(ASK, Ask(text="needle" * 200_000))
        packed = await caller.wire.pack(encode(packet), ASK.pattern)
        assert packed.claim is not None
        kept = await callee.transport.blobs.get(packed.claim)
        messages = [
            BusMessage(ASK.pattern, b"", headers=packed.headers | more) for more in ({}, {CLAIM_KEY: "00" * 32})
        ]

        opened = await callee.wire.unpack(messages[0], Request[Ask])
        with pytest.raises(MalformedError):
            await callee.wire.unpack(messages[1], Request[Ask])

        assert b"needle" not in kept
        assert opened.input.task.args.text == "needle" * 200_000


async def test_a_claim_check_that_is_gone_is_a_fault(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "answerer") as callee, taking_part(world, "asker") as caller:
        await serve(callee, ASK, echo)
        answers: list[BusMessage] = []
        inbox = f"{caller.transport.inbox}.raw"
        await caller.transport.subscribe(inbox, note(answers))

        await caller.transport.publish(ASK.pattern, b"", reply=inbox, headers={CLAIM: "never-there"})
        await until(lambda: bool(answers))

        answer: Response[Answer] = await caller.wire.unpack(answers[0], Response[Answer])
        assert isinstance(answer.error, Fault)
        assert answer.error.code is Code.VALIDATION_INVALID_PACKET


# -- permissions -----------------------------------------------------------------------------------------------------


async def test_nothing_arrives_where_the_sender_has_no_business(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "overseer") as overseer:
        heard: list[BusMessage] = []
        await overseer.transport.subscribe(">", note(heard))
        await overseer.transport.flush()
        async with taking_part(world, "answerer") as answerer:
            for subject in (SECRET.pattern, "tool.x", "events.test.told", "_INBOX.keeper.x", "$JS.API.STREAM.DELETE.X"):
                with suppress(ForbiddenError):
                    await answerer.transport.publish(subject, b"forbidden")
            await answerer.transport.publish(ASK.pattern, b"declared")
            await answerer.transport.flush()

        await until(lambda: any(message.payload == b"declared" for message in heard))
        assert not [message.subject for message in heard if message.payload == b"forbidden"]


async def test_nothing_is_heard_where_the_listener_has_no_business(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "overseer") as overseer,
        taking_part(world, "answerer") as answerer,
    ):
        heard: list[BusMessage] = []
        for subject in (SECRET.pattern, "tool.>", ">", "*.*", "_INBOX.asker.>", "test.>"):
            with suppress(ForbiddenError):
                await answerer.transport.subscribe(subject, note(heard))
        await answerer.transport.subscribe(ASK.pattern, note(heard))
        await answerer.transport.flush()

        for subject in (SECRET.pattern, "tool.x", "_INBOX.asker.x", "test.other", ASK.pattern):
            await overseer.transport.publish(subject, subject.encode())
        await overseer.transport.flush()

        await until(lambda: bool(heard))
        assert [message.subject for message in heard] == [ASK.pattern]


async def test_a_reply_reaches_who_may_ask_whatever_inbox_the_question_names(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "answerer") as answerer,
        taking_part(world, "asker") as asker,
        taking_part(world, "keeper") as keeper,
    ):
        heard: list[BusMessage] = []
        own, other = f"{asker.transport.inbox}.mine", f"{keeper.transport.inbox}.theirs"
        await asker.transport.subscribe(own, note(heard))
        await keeper.transport.subscribe(other, note(heard))
        await keeper.transport.flush()

        async def answer(message: BusMessage) -> None:
            with suppress(ForbiddenError):
                await answerer.transport.publish(message.reply, b"answer")

        await answerer.transport.subscribe(ASK.pattern, answer)
        await answerer.transport.flush()

        await asker.transport.publish(ASK.pattern, b"", reply=other)
        await asker.transport.publish(ASK.pattern, b"", reply=own)
        await until(lambda: bool(heard))
        await answerer.transport.flush()
        await keeper.transport.flush()

        assert [message.subject for message in heard] == [own]


async def test_a_forbidden_call_never_reaches_anybody(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "keeper") as keeper,
        taking_part(world, "asker") as asker,
        taking_part(world, "overseer") as overseer,
    ):
        asked: list[str] = []

        async def open_up(ask: Ask) -> Answer:
            asked.append(ask.text)
            return Answer(text="sesame")

        await serve(keeper, SECRET, open_up)

        with pytest.raises(ForbiddenError, match=r"asker has no permission to publish tool\.secret"):
            await asker.call(SECRET, Ask(text="asker"))

        assert await overseer.call(SECRET, Ask(text="overseer")) == Answer(text="sesame")
        assert asked == ["overseer"]


# -- discovery -------------------------------------------------------------------------------------------------------


async def ask_service(bus: Bus, subject: str, count: int) -> list[dict[str, Any]]:
    """Ask as the `nats micro` tooling does, and read what `count` services answer."""
    heard: list[BusMessage] = []
    inbox = f"{bus.transport.inbox}.srv{len(subject)}"
    await bus.transport.subscribe(inbox, note(heard))
    await bus.transport.publish(subject, b"", reply=inbox)
    await until(lambda: len(heard) == count)
    return [json.loads(message.payload) for message in heard]


@pytest.mark.parametrize("suffix", ["", ".answerer", ".answerer.r1"])
async def test_the_official_types_read_what_discovery_answers(make_world: MakeWorld, suffix: str) -> None:
    async with make_world() as world, taking_part(world, "overseer") as overseer, served(world) as answerer:
        ping, info, stats = [
            (await ask_service(overseer, f"$SRV.{verb}{suffix}", 1))[0] for verb in ("PING", "INFO", "STATS")
        ]

        identity = {"name": "answerer", "id": "r1", "version": "1.2.3"}
        for answer, kind in ((ping, "ping"), (info, "info"), (stats, "stats")):
            assert answer["type"] == f"io.nats.micro.v1.{kind}_response"
            assert identity.items() <= answer.items()
            assert answer["metadata"]["pid"] == str(answerer.figures().pid)
        assert ServicePing.from_dict(ping).name == "answerer"
        assert ServiceInfo.from_dict(info).description == "The answerer of the tests"
        assert [(one.name, one.subject, one.queue_group) for one in ServiceInfo.from_dict(info).endpoints] == [
            ("test-ask", "test.ask", "answerer")
        ]
        (endpoint,) = ServiceStats.from_dict(stats).endpoints
        assert (endpoint.num_requests, endpoint.num_errors, endpoint.last_error) == (1, 0, "")
        assert endpoint.average_processing_time == endpoint.processing_time > 0


async def test_another_name_does_not_answer(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "overseer") as overseer, served(world):
        answers = await ask_service(overseer, "$SRV.PING", 1)
        heard: list[BusMessage] = []
        await overseer.transport.subscribe(f"{overseer.transport.inbox}.none", note(heard))
        await overseer.transport.publish("$SRV.PING.other", b"", reply=f"{overseer.transport.inbox}.none")
        await until(lambda: bool(heard))

        assert [answer["name"] for answer in answers] == ["answerer"]
        assert [message.status for message in heard] == ["503"]


async def test_replicas_tell_their_figures(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        served(world) as answerer,
        taking_part(world, "asker") as asker,
        taking_part(world, "stranger", "r9") as stranger,
    ):
        await stranger.open_discovery()
        await stranger.transport.flush()

        def both(found: list[Replica]) -> bool:
            return len(found) == 2

        replicas = await asker.replicas(5_000, enough=both)

        served_by = [(one.actor, one.replica, one.served) for one in replicas]
        assert served_by == [("answerer", "r1", 1), ("stranger", "r9", 0)]
        measured = {"memory_bytes": replicas[0].memory_bytes, "clock_ms": replicas[0].clock_ms}
        assert replicas[0] == msgspec.structs.replace(answerer.figures(), **measured)
        assert all(measured.values())
        assert replicas[0].p50_ms == replicas[0].p99_ms > 0


async def test_nobody_announced_is_no_wait(make_world: MakeWorld) -> None:
    async with make_world() as world, taking_part(world, "asker") as asker:
        with anyio.fail_after(90):
            assert await asker.replicas(20_000) == ()


# -- looking on ------------------------------------------------------------------------------------------------------


async def test_a_tap_sees_packets_as_they_travel(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "overseer") as overseer,
        taking_part(world, "answerer") as callee,
        taking_part(world, "asker") as caller,
    ):
        await serve(callee, ASK, echo)
        seen: list[BusMessage] = []

        async def look() -> None:
            async for message in overseer.tap("test.>"):
                seen.append(message)  # noqa: PERF401 - looked at while it grows

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look)
            while not seen:
                await caller.call(ASK, Ask(text="hello"))
            tasks.cancel_scope.cancel()

        assert seen[0].subject == ASK.pattern
        assert b'"text":"hello"' in seen[0].payload


async def test_a_flood_is_counted_and_logged(make_world: MakeWorld) -> None:
    async with (
        make_world() as world,
        taking_part(world, "asker") as teller,
        taking_part(world, "answerer", pending_limit=10) as listener,
    ):
        go_on = anyio.Event()

        async def hear(_: Ask) -> None:
            await go_on.wait()

        await serve(listener, TOLD, hear)

        with capture_logs() as logs:
            for _ in range(100):
                await teller.tell(TOLD, Ask())
            await teller.transport.flush()
            # one is in hand, one waits for its turn
            await until(lambda: listener.transport.slow + listener.figures().queued == 98)

        assert "slow_consumer" in {line["event"] for line in logs}
        assert listener.figures().slow >= 88
        go_on.set()


@asynccontextmanager
async def served(world: World) -> AsyncGenerator[Bus]:
    """Run an answerer that is announced and has answered one call."""
    async with taking_part(world, "answerer") as answerer, taking_part(world, "asker") as caller:
        await serve(answerer, ASK, echo)
        await answerer.open_discovery()
        await caller.call(ASK, Ask())
        await until(lambda: answerer.figures().in_flight == 0)
        yield answerer
