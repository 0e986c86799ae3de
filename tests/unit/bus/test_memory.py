"""Where the twin is stricter, or has a life of its own."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint

from bus import Bus
from bus.errors import ForbiddenError, TransportError
from bus.fairness import NO_LINE
from bus.memory import Broker
from bus.permissions import grant
from bus.transport import BusMessage, weight
from protocol.subject_kinds import Bucket, Call, Event, Work

TEST_S = 240.0
ASK = Call("test.ask", str, str)
TOLD = Event("events.told", str)
CHORE = Work("work.chore", str)
PLACES = Bucket("places", str)


async def nothing(_: BusMessage) -> None:
    """Do nothing."""


async def test_what_is_not_declared_is_forbidden() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("stranger", grant("stranger", [], []))
            bus = Bus(transport, "stranger", "r1")
            async with bus.running():
                for forbidden in (
                    bus.call(ASK, "x"),
                    bus.tell(TOLD, "x"),
                    bus.enqueue(CHORE, "x"),
                    bus.table(PLACES),
                    transport.subscribe("test.ask", nothing),
                    transport.subscribe("_INBOX.>", nothing),
                    transport.publish("tool.x", b""),
                ):
                    with pytest.raises(ForbiddenError):
                        await forbidden


async def test_who_puts_work_may_not_take_it() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            queue = await broker.connect("maker", grant("maker", [], [CHORE])).queue(CHORE)
            await queue.put(BusMessage(CHORE.pattern, b"x", headers={"Nats-Msg-Id": "1"}), NO_LINE)

            with pytest.raises(ForbiddenError):
                await queue.take(1, 0)


async def test_nothing_flows_while_the_connection_is_broken() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            one, two = broker.connect("one"), broker.connect("two")
            heard: list[BusMessage] = []

            async def hear(message: BusMessage) -> None:
                heard.append(message)

            await two.subscribe("x", hear)
            await two.disconnect()
            await one.publish("x", b"lost")
            await two.reconnect()
            await one.publish("x", b"heard")
            while not heard:
                await checkpoint()

            assert [message.payload for message in heard] == [b"heard"]
            await one.disconnect()
            for refused in (one.publish("x", b""), one.flush(), one.blobs.get("x")):
                with pytest.raises(TransportError):
                    await refused


async def test_who_has_gone_leaves_nothing() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("one")
            await transport.subscribe("x", nothing)
            subscription = await transport.subscribe("y", nothing)

            await subscription.drain()
            await transport.close()

            assert broker.subscriptions == []


def test_a_message_weighs_its_headers_too() -> None:
    assert weight(b"abc", None) == weight(b"abc", {}) == 3
    assert weight(b"abc", {"a": "ä"}) == len(b"NATS/1.0\r\na: \xc3\xa4\r\n\r\nabc")
