"""Sockets of push at a gateway that listens: bounds in both directions, liveness, and the end of a key."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from actors.gateway.push.channels import MAX_CHANNELS, MAX_GRANTS
from actors.gateway.push.frames import MAX_FRAME_BYTES, OVER_CAPACITY
from actors.gateway.push.sockets import MAX_BEHIND_CHARS, MAX_FRAMES
from tests.push.server import APP, CHANNEL, push_server

Json = dict[str, Any]


async def heard(socket: ClientConnection) -> Json:
    with anyio.fail_after(90):
        frame: Json = json.loads(await socket.recv())
    if isinstance(frame.get("data"), str):
        frame["data"] = json.loads(frame["data"])
    return frame


async def began(socket: ClientConnection) -> str:
    hello = await heard(socket)
    assert hello["event"] == "pusher:connection_established"
    return str(hello["data"]["socket_id"])


async def say(socket: ClientConnection, event: str, **data: str) -> None:
    await socket.send(json.dumps({"event": event, "data": data}))


async def subscribe(socket: ClientConnection, channel: str = CHANNEL) -> str:
    socket_id = await began(socket)
    await say(socket, "pusher:subscribe", channel=channel, auth=APP.channel_auth(socket_id, channel))
    assert (await heard(socket))["event"] == "pusher_internal:subscription_succeeded"
    return socket_id


async def closed(socket: ClientConnection) -> tuple[int, list[Json]]:
    """Return the code that a socket is closed with, and what came before."""
    frames = list[Json]()
    with anyio.fail_after(90):
        try:
            while True:
                frames.append(await heard(socket))
        except ConnectionClosed as error:
            return error.rcvd.code if error.rcvd else 1006, frames


@pytest.mark.parametrize(
    ("query", "key", "code"),
    [("?protocol=7", "other", 4001), ("", APP.key, 4008), ("?protocol=8", APP.key, 4007), ("?protocol=x", "", 4001)],
)
async def test_who_is_refused_is_told_why_on_an_open_socket(query: str, key: str, code: int) -> None:
    async with push_server() as push, push.opened(query, key) as socket:
        told, frames = await closed(socket)

    assert told == code
    assert [(one["event"], one["data"]["code"]) for one in frames] == [("pusher:error", code)]


async def test_a_socket_beyond_the_capacity_comes_back_later() -> None:
    async with push_server(most=1) as push, push.opened() as first:
        await began(first)
        async with push.opened() as second:
            assert (await closed(second))[0] == OVER_CAPACITY.code


async def test_a_client_that_takes_nothing_is_cut_off_and_nothing_waits_for_it() -> None:
    """The kernel takes some; what is more than the bound is not kept, and the others hear everything."""
    async with push_server() as push, push.opened() as quick:
        await subscribe(quick)
        slow = push.opened(max_queue=1)
        slow_socket = await slow.__aenter__()
        await subscribe(slow_socket)
        slow_socket.transport.pause_reading()
        got = 0
        while push.channels.sockets == 2:
            push.deliver(8, 9_000)
            for _ in range(8):
                assert (await heard(quick))["data"]["number"] == got % 8
                got += 1
        slow_socket.transport.resume_reading()
        code, frames = await closed(slow_socket)
        push.deliver(1)

        assert (await heard(quick))["data"]["number"] == 0
        assert len(frames) <= got
        assert code in {4100, 1006}


async def test_a_client_that_is_far_behind_in_number_is_cut_off_with_4100() -> None:
    async with push_server() as push, push.opened() as socket:
        await subscribe(socket)
        push.deliver(MAX_FRAMES + 1)
        code, frames = await closed(socket)

    assert code == 4100
    assert frames[-1]["data"]["code"] == 4100
    assert MAX_FRAMES * 10 < MAX_BEHIND_CHARS


@pytest.mark.slow
async def test_a_client_is_asked_whether_it_is_there_and_left_with_4201_when_it_is_not() -> None:
    async with push_server(activity_timeout_s=1) as push, push.opened() as socket:
        await began(socket)
        assert (await heard(socket))["event"] == "pusher:ping"
        await say(socket, "pusher:pong")
        assert (await heard(socket))["event"] == "pusher:ping"
        code, frames = await closed(socket)

    assert (code, frames[-1]["data"]["code"]) == (4201, 4201)


async def test_a_ping_is_answered_and_what_is_no_message_is_refused_without_an_end() -> None:
    async with push_server() as push, push.opened() as socket:
        await began(socket)
        for text in ("{", "[]", '{"event":7}', '{"event":"pusher:subscribe","data":{}}', '{"event":"what"}'):
            await socket.send(text)
            frame = await heard(socket)
            assert (frame["event"], frame["data"]["code"]) == ("pusher:error", None)
        await socket.send(b"\x00\xff")
        assert (await heard(socket))["data"]["code"] is None
        await say(socket, "client-typing")
        assert (await heard(socket))["data"]["code"] == 4301
        await say(socket, "pusher:ping")
        assert (await heard(socket))["event"] == "pusher:pong"


async def test_text_that_is_no_utf_8_closes_its_socket_and_is_logged_by_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with push_server() as push, push.opened() as socket:
        await began(socket)
        await socket.send(b'{"event":"\xff"}', text=True)
        code, _ = await closed(socket)

    assert (code, caplog.records) == (1007, [])


@pytest.mark.parametrize(("texts", "count"), [("x" * (MAX_FRAME_BYTES + 1), 1), ('{"event":"pusher:pong"}', 400)])
async def test_who_says_too_much_is_closed(texts: str, count: int) -> None:
    async with push_server() as push, push.opened() as socket:
        await began(socket)
        with anyio.move_on_after(20):
            try:
                for _ in range(count):
                    await socket.send(texts)
            except ConnectionClosed:
                pass
        assert (await closed(socket))[0] == 4301


async def test_channels_are_signed_private_and_bounded() -> None:
    async with push_server() as push, push.opened() as socket:
        socket_id = await began(socket)
        for channel, auth, status in (
            ("public", "", 403),
            ("private-with blank", APP.channel_auth(socket_id, "private-with blank"), 403),
            (CHANNEL, "", 401),
            (CHANNEL, APP.channel_auth("1.1", CHANNEL), 401),
            (CHANNEL, APP.channel_auth(socket_id, "private-other"), 401),
        ):
            await say(socket, "pusher:subscribe", channel=channel, auth=auth)
            refused = await heard(socket)
            assert (refused["event"], refused["data"]["status"]) == ("pusher:subscription_error", status)
        last: Json = {}
        for number in range(MAX_CHANNELS + 1):
            name = f"private-{number}"
            await say(socket, "pusher:subscribe", channel=name, auth=APP.channel_auth(socket_id, name))
            last = await heard(socket)
        assert (last["event"], last["data"]["status"]) == ("pusher:subscription_error", 403)
        push.deliver(1)
        await say(socket, "pusher:ping")
        assert (await heard(socket))["event"] == "pusher:pong"
        assert len(push.channels.open_channels()) == MAX_CHANNELS

    assert not push.channels.open_channels()


@pytest.mark.parametrize("notices", ["sweep", "event"])
async def test_a_channel_ends_with_the_key_it_was_asked_for_with(notices: str) -> None:
    async with push_server() as push, push.opened() as socket, push.opened() as other:
        socket_id = await subscribe(socket)
        push.channels.grant(socket_id, CHANNEL, "key-1")
        await subscribe(other, "private-session-2")
        push.deliver(1, caller="key-1")
        assert (await heard(socket))["event"] == "new_message"
        push.ended.add("key-1")
        if notices == "sweep":
            push.channels.drop_ended()
        push.deliver(1, caller="key-1")
        ended = await heard(socket)
        await say(socket, "pusher:ping")
        after = await heard(socket)

        assert (ended["event"], ended["data"]["status"]) == ("pusher:subscription_error", 401)
        assert after["event"] == "pusher:pong"
        assert list(push.channels.open_channels()) == ["private-session-2"]


@pytest.mark.parametrize("left", ["by its client", "with its key", "never"])
async def test_a_signature_of_a_key_that_has_ended_opens_nothing(left: str) -> None:
    """Whether it has opened a channel before or not."""
    async with push_server() as push, push.opened() as socket:
        socket_id = await (began if left == "never" else subscribe)(socket)
        push.channels.grant(socket_id, CHANNEL, "key-1")
        if left == "by its client":
            await say(socket, "pusher:unsubscribe", channel=CHANNEL)
            await say(socket, "pusher:ping")
            assert (await heard(socket))["event"] == "pusher:pong"
        push.ended.add("key-1")
        push.channels.drop_ended()
        if left == "with its key":
            assert (await heard(socket))["data"]["status"] == 401
        await say(socket, "pusher:subscribe", channel=CHANNEL, auth=APP.channel_auth(socket_id, CHANNEL))
        refused = await heard(socket)
        push.deliver(1)
        await say(socket, "pusher:ping")

        assert (refused["event"], refused["data"]["status"]) == ("pusher:subscription_error", 401)
        assert (await heard(socket))["event"] == "pusher:pong"


async def test_who_is_given_ever_more_channels_connects_again() -> None:
    async with push_server() as push, push.opened() as socket:
        socket_id = await began(socket)
        for number in range(MAX_GRANTS + 1):
            push.channels.grant(socket_id, f"private-{number}", "key-1")

        assert (await closed(socket))[0] == 4200


async def test_at_its_end_a_gateway_sends_its_clients_elsewhere() -> None:
    async with push_server() as push, push.opened() as socket:
        await subscribe(socket)
        push.channels.end()

        assert (await closed(socket))[0] == 4200
