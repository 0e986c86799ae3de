"""What a connection takes: heads of some size, requests that come in time; against a real server."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from typing import Any

import anyio
import anyio.abc
import httpx2
import msgspec
import pytest

from actors.gateway import server
from actors.gateway.server import MAX_HEAD_BYTES, MAX_HEADERS, MAX_TARGET_BYTES, Awaited
from protocol.browse import StructuredError
from protocol.faults import Code
from tests.unit.actors.gateway_data import KEY, FakeBus, browsed
from tests.unit.actors.gateway_listening import Listening, heard, listening

GET = "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n{headers}\r\n"
POST = (
    "POST /api/browse HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
    "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
)


def get(weft: Listening, *headers: str, target: str = "/healthz") -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return GET.format(target=target, port=weft.port, headers=lines).encode()


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def error_of(answer: bytes) -> StructuredError:
    return msgspec.json.decode(answer.partition(b"\r\n\r\n")[2], type=StructuredError)


async def test_heads_up_to_the_limits_are_taken() -> None:
    many = [f"X-{number}: 1" for number in range(MAX_HEADERS - 2)]
    large = "X-Large: " + "x" * (MAX_HEAD_BYTES - 200)
    async with listening(FakeBus()) as weft:
        answers = [await weft.say(get(weft, *many)), await weft.say(get(weft, large))]

    assert [status_of(answer) for answer in answers] == [200, 200]


@pytest.mark.parametrize(
    ("headers", "target", "status"),
    [
        (["X-Large: " + "x" * MAX_HEAD_BYTES], "/healthz", 431),
        ([f"X-{number}: {'x' * 1_000}" for number in range(90)], "/healthz", 431),
        ([f"X-{number}: 1" for number in range(MAX_HEADERS + 1)], "/healthz", 431),
        ([], "/healthz?" + "x" * MAX_TARGET_BYTES, 414),
    ],
    ids=["one large", "all large", "many", "target"],
)
async def test_a_head_beyond_them_is_refused(headers: list[str], target: str, status: int) -> None:
    async with listening(FakeBus()) as weft:
        answer = await weft.say(get(weft, *headers, target=target))

    assert status_of(answer) == status
    assert error_of(answer).code is Code.VALIDATION_INVALID_REQUEST


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        ("http://rebound.example/healthz", "127.0.0.1:{port}", 421),
        ("http://rebound.example:{port}/healthz", "127.0.0.1:{port}", 421),
        ("http://127.0.0.1:{port}/healthz", "rebound.example", 200),
        ("http://localhost:{port}/healthz", "127.0.0.1:{port}", 200),
        ("//rebound.example/healthz", "127.0.0.1:{port}", 404),
    ],
)
async def test_the_gate_goes_by_the_host_that_the_target_names(target: str, host: str, status: int) -> None:
    async with listening(FakeBus()) as weft:
        line = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n\r\n"
        answer = await weft.say(line.format(port=weft.port).encode())

    assert status_of(answer) == status


async def test_a_header_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    async with listening(FakeBus()) as weft:
        with anyio.fail_after(90):
            async with await anyio.connect_tcp("127.0.0.1", weft.port) as stream:
                sent = 0
                try:
                    await stream.send(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{weft.port}\r\nX: ".encode())
                    while sent < 64 * MAX_HEAD_BYTES:
                        await stream.send(b"x" * 65_536)
                        sent += 65_536
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass

    assert 2 * MAX_HEAD_BYTES <= sent < 64 * MAX_HEAD_BYTES


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00\x01\x00", b"HELLO\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 64]
)
async def test_what_is_no_http_is_refused_and_fills_no_log(garbage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    async with listening(FakeBus()) as weft:
        answer = await weft.say(garbage)

    assert status_of(answer) == 400
    assert error_of(answer).code is Code.VALIDATION_INVALID_REQUEST
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PATIENCE_S", {Awaited.HEAD: 0.2, Awaited.BODY: 0.2})


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "begun", ["GET /hea", "GET /healthz HTTP/1.1\r\nHost: 127", "GET /healthz HTTP/1.1\r\nX: 1\r\n"]
)
async def test_a_head_that_does_not_come_ends_the_connection(begun: str) -> None:
    async with listening(FakeBus()) as weft:
        answer = await weft.say(begun.encode())

    assert status_of(answer) == 408


@pytest.mark.usefixtures("impatient")
async def test_a_connection_without_a_word_is_closed() -> None:
    async with listening(FakeBus()) as weft:
        assert await weft.say() == b""


@pytest.mark.usefixtures("impatient")
async def test_a_head_that_drips_is_no_excuse() -> None:
    async def drip(stream: anyio.abc.SocketStream) -> None:
        await stream.send(b"GET /healthz HTTP/1.1\r\n")
        while True:
            await stream.send(b"X: 1\r\n")
            await anyio.sleep(0.01)

    answers: list[bytes] = []
    async with (
        listening(FakeBus()) as weft,
        await anyio.connect_tcp("127.0.0.1", weft.port) as stream,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(drip, stream)
        answers.append(await heard(stream))
        tasks.cancel_scope.cancel()

    assert [status_of(answer) for answer in answers] == [408]


@pytest.mark.usefixtures("impatient")
async def test_a_body_that_does_not_come_ends_the_connection() -> None:
    bus = FakeBus(browsed())
    async with listening(bus) as weft:
        answer = await weft.say(POST.format(port=weft.port, key=KEY, length=100).encode(), b'{"url":')

    assert status_of(answer) == 408
    assert bus.calls == []


@pytest.mark.usefixtures("impatient")
async def test_patience_is_for_what_comes_in_not_for_the_work() -> None:
    bus, statuses = FakeBus(), list[int]()

    async def ask(http: httpx2.AsyncClient) -> None:
        statuses.append((await http.post("/api/browse", json={"url": "https://example.com"})).status_code)

    async with listening(bus) as weft, weft.client() as http:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, http)
            await bus.asked.wait()
            await anyio.sleep(0.4)  # longer than anybody is patient here
            bus.outcome = browsed()
            bus.release.set()
        await anyio.sleep(0.2)
        again = await http.get("/healthz")

    assert (statuses, again.status_code) == ([200], 200)


async def test_two_requests_in_one_breath_are_answered_in_order() -> None:
    async with listening(FakeBus()) as weft:
        first = get(weft).replace(b"Connection: close\r\n", b"")
        answer = await weft.say(first + get(weft, target="/nothing"))

    assert [int(part.split(b" ", 1)[0]) for part in answer.split(b"HTTP/1.1 ")[1:]] == [200, 401]


# -- how many there are ------------------------------------------------------------------------------------------------

MOST = 3
UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


async def opened(weft: Listening, stack: AsyncExitStack, count: int = MOST) -> list[anyio.abc.SocketStream]:
    """Open connections, and make sure that they are served."""
    streams = [await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", weft.port)) for _ in range(count)]
    for stream in streams:
        await stream.send(get(weft).replace(b"Connection: close\r\n", b""))
        assert status_of(await stream.receive()) == 200
    return streams


@pytest.mark.parametrize(
    ("bounds", "status", "code"),
    [
        ({"connections_at_once": MOST}, 503, Code.INTERNAL_BUSY),
        ({"connections_per_address": MOST}, 429, Code.RATE_LIMIT_EXCEEDED),
        ({"connections_at_once": MOST, "connections_per_address": 0, "trusted_proxies": ("127.0.0.0/8",)}, 503, None),
    ],
    ids=["in all", "of an address", "in all, of a proxy"],
)
async def test_a_connection_too_many_is_refused_until_another_has_no_request(
    bounds: dict[str, Any], status: int, code: Code | None
) -> None:
    bus = FakeBus()
    with anyio.fail_after(90):
        async with listening(bus, **bounds) as weft, AsyncExitStack() as stack:
            streams = await opened(weft, stack)
            body = b'{"url": "https://example.com"}'
            for stream in streams:
                await stream.send(POST.format(port=weft.port, key=KEY, length=len(body)).encode() + body)
            while len(bus.calls) < MOST:
                await anyio.sleep(0.005)
            refused = await weft.say()
            bus.outcome = browsed()
            bus.release.set()
            answers = [await stream.receive() for stream in streams]
            again = await weft.say(get(weft))

    head, _, _ = refused.partition(b"\r\n\r\n")
    assert {status_of(one) for one in (*answers, again)} == {200}
    assert status_of(refused) == status
    assert error_of(refused).code is (code or Code.INTERNAL_BUSY)
    assert b"\r\nconnection: close" in head.lower()
    assert b"\r\nretry-after: " in head.lower()


@pytest.mark.parametrize("bounds", [{"connections_at_once": MOST}, {"connections_per_address": MOST}])
async def test_who_keeps_connections_open_keeps_nobody_out(bounds: dict[str, Any]) -> None:
    with anyio.fail_after(90):
        async with listening(FakeBus(), **bounds) as weft, AsyncExitStack() as stack:
            streams = await opened(weft, stack)
            first = await opened_still(weft, streams[0])
            other = await weft.say(get(weft))
            with pytest.raises(anyio.EndOfStream):
                await streams[1].receive()
            still = [await opened_still(weft, stream) for stream in (streams[0], streams[2])]

    assert {status_of(one) for one in (first, other, *still)} == {200}


async def opened_still(weft: Listening, stream: anyio.abc.SocketStream) -> bytes:
    """Ask once more over a connection that is open."""
    await stream.send(get(weft).replace(b"Connection: close\r\n", b""))
    return await stream.receive()


@pytest.mark.parametrize(
    "bounds",
    [
        {"connections_per_address": MOST, "trusted_proxies": ("127.0.0.0/8",)},
        {"connections_per_address": 0, "connections_at_once": 0},
    ],
    ids=["of a proxy", "no bounds"],
)
async def test_who_is_not_bound_opens_more(bounds: dict[str, Any]) -> None:
    with anyio.fail_after(90):
        async with listening(FakeBus(), **bounds) as weft, AsyncExitStack() as stack:
            assert len(await opened(weft, stack, MOST + 2)) == MOST + 2


async def test_connections_that_were_upgraded_count_until_they_are_closed() -> None:
    with anyio.fail_after(90):
        async with listening(FakeBus(), connections_at_once=MOST) as weft:
            answers = [
                await weft.say(get(weft, *UPGRADE).replace(b"Connection: close\r\n", b"")) for _ in range(2 * MOST)
            ]
            after = await weft.say(get(weft))

    assert {status_of(answer) for answer in answers} == {status_of(answers[0])}
    assert status_of(answers[0]) in {401, 403, 404}
    assert status_of(after) == 200
