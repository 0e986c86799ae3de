"""Answers find the call that waits for them, once, and no call waits for ever."""

from __future__ import annotations

import anyio
import pytest

from bus import DeadlineError, DisconnectedError
from bus.calling import Replies
from bus.memory import Broker

TEST_S = 240.0


async def test_each_answer_goes_to_its_call() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("a")
            replies = Replies(transport)
            await replies.open()
            one, first = replies.expect("x", 1_000, repeatable=True)
            two, second = replies.expect("x", 1_000, repeatable=True)

            await transport.publish(two, b"two")
            await transport.publish(one, b"one")

            assert ((await first).payload, (await second).payload) == (b"one", b"two")


async def test_a_second_answer_is_nothing() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("a")
            replies = Replies(transport)
            await replies.open()
            inbox, future = replies.expect("x", 1_000, repeatable=True)

            for text in (b"one", b"two"):
                await transport.publish(inbox, text)
            await transport.publish(f"{inbox}0", b"nobody's")

            assert (await future).payload == b"one"


async def test_time_runs_out() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            replies = Replies(broker.connect("a"))
            _, future = replies.expect("x", 1, repeatable=True)

            with pytest.raises(DeadlineError, match="x gave no answer within 1 ms"):
                await future


async def test_time_that_runs_out_while_the_bus_is_away_says_so() -> None:
    """More time, which a deadline advises, would not help."""
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("a")
            replies = Replies(transport)
            _, future = replies.expect("x", 1, repeatable=True)
            await transport.disconnect()

            with pytest.raises(DisconnectedError):
                await future


async def test_a_broken_connection_fails_all_who_wait() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            replies = Replies(broker.connect("a"))
            futures = [replies.expect(subject, 60_000, repeatable=True)[1] for subject in ("x", "y")]

            replies.disconnected()

            for future in futures:
                with pytest.raises(DisconnectedError):
                    await future


async def test_a_replica_that_dies_takes_the_repeatable_calls_with_it() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            replies = Replies(broker.connect("a"))
            _, repeatable = replies.expect("x.one", 60_000, repeatable=True)
            others = [
                replies.expect("x.one", 60_000, repeatable=False)[1],
                replies.expect("y", 60_000, repeatable=True)[1],
            ]

            replies.deserted(["x.*"])

            with pytest.raises(DisconnectedError):
                await repeatable
            assert [future.done() for future in others] == [False, False]
            for future in others:
                future.cancel()


async def test_who_stops_waiting_is_forgotten() -> None:
    with anyio.fail_after(TEST_S):
        async with Broker() as broker:
            transport = broker.connect("a")
            replies = Replies(transport)
            await replies.open()
            inbox, future = replies.expect("x", 60_000, repeatable=True)

            future.cancel()
            await transport.publish(inbox, b"late")
            replies.disconnected()

            assert future.cancelled()


async def test_inboxes_are_never_the_same() -> None:
    async with Broker() as broker:
        one, two = (Replies(broker.connect("a")) for _ in range(2))
        inboxes = [replies.expect("x", 60_000, repeatable=True) for replies in (one, one, two, two)]
        for _, future in inboxes:
            future.cancel()

        assert len({inbox for inbox, _ in inboxes}) == 4
