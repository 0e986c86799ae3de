"""WebSockets as a real client meets them: the gate before the handshake, and the places that a key has."""

from __future__ import annotations

from collections.abc import Mapping

import anyio
import msgspec
import pytest
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from actors.gateway.access.caller import Scope
from actors.gateway.access.gate import SocketRoute
from actors.gateway.request import request_context
from protocol.browse import StructuredError
from protocol.faults import Code
from tests.unit.actors.gateway_data import BEARER, FakeBus
from tests.unit.actors.gateway_listening import Listening, listening

EXTENSION = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(request_context(socket.scope).caller.name)
    try:
        while True:
            await socket.send_text(await socket.receive_text())
    except WebSocketDisconnect:
        return


async def broken(socket: WebSocket) -> None:
    await socket.accept()
    msg = "secret inside"
    raise RuntimeError(msg)


@pytest.fixture(autouse=True)
def sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    made = (
        SocketRoute("/echo", echo),
        SocketRoute("/app/{key}", echo, scope=None),
        SocketRoute("/figures", echo, scope=Scope.OPERATE),
        SocketRoute("/broken", broken),
    )
    monkeypatch.setattr("actors.gateway.edge.SOCKETS", made)


def opened(weft: Listening, path: str, headers: Mapping[str, str] = BEARER, origin: str | None = None) -> connect:
    return connect(
        f"ws://127.0.0.1:{weft.port}{path}",
        additional_headers=dict(headers),
        origin=Origin(origin) if origin else None,
        proxy=None,
    )


async def refused(
    weft: Listening, path: str, headers: Mapping[str, str] = BEARER, origin: str | None = None
) -> tuple[int, Code]:
    with anyio.fail_after(90), pytest.raises(InvalidStatus) as caught:
        async with opened(weft, path, headers, origin):
            pass
    error = msgspec.json.decode(caught.value.response.body or b"", type=StructuredError)
    return caught.value.response.status_code, error.code


async def said(socket: ClientConnection, text: str) -> list[object]:
    with anyio.fail_after(90):
        await socket.send(text)
        return [await socket.recv(), await socket.recv()]


async def test_who_has_a_key_is_let_in() -> None:
    async with listening(FakeBus()) as weft, opened(weft, "/echo") as socket:
        assert await said(socket, "hello") == ["owner", "hello"]


async def test_a_protocol_that_lets_its_clients_in_itself_needs_no_key() -> None:
    async with listening(FakeBus()) as weft, opened(weft, "/app/its-own", {}) as socket:
        assert await said(socket, "hello") == ["nobody", "hello"]


@pytest.mark.parametrize("origin", [EXTENSION, "https://console.example"])
async def test_an_origin_of_the_settings_is_let_in(origin: str) -> None:
    async with (
        listening(FakeBus(), allowed_origins=(EXTENSION, "https://console.example")) as weft,
        opened(weft, "/app/1", {}, origin) as socket,
    ):
        assert await said(socket, "hello") == ["nobody", "hello"]


@pytest.mark.parametrize("path", ["/echo", "/app/1", "/nothing"])
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba", "null"]
)
async def test_another_origin_is_refused_before_the_handshake(origin: str, path: str) -> None:
    async with listening(FakeBus(), allowed_origins=(EXTENSION,)) as weft:
        assert await refused(weft, path, origin=origin) == (403, Code.SECURITY_ORIGIN_REFUSED)


@pytest.mark.parametrize("path", ["/echo", "/app/1", "/nothing"])
async def test_another_host_is_misdirected(path: str) -> None:
    async with listening(FakeBus()) as weft:
        assert await refused(weft, path, {**BEARER, "Host": "evil.example"}) == (421, Code.SECURITY_ORIGIN_REFUSED)


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
@pytest.mark.parametrize("path", ["/echo", "/nothing"])
async def test_without_a_key_nothing_is_opened(path: str, headers: dict[str, str]) -> None:
    async with listening(FakeBus()) as weft:
        assert await refused(weft, path, headers) == (401, Code.AUTH_INVALID_CREDENTIALS)


@pytest.mark.parametrize("path", ["/nothing", "/", "/mcp", "/api/browse", "/echo/", "/app"])
async def test_where_no_socket_is_nothing_is_found(path: str) -> None:
    async with listening(FakeBus()) as weft:
        assert await refused(weft, path) == (404, Code.VALIDATION_INVALID_REQUEST)


async def test_sockets_leave_half_of_the_places_of_their_address_to_requests() -> None:
    async with (
        listening(FakeBus(), connections_per_address=4) as weft,
        opened(weft, "/app/1", {}),
        opened(weft, "/app/1", {}),
    ):
        third = await refused(weft, "/app/1", {})
        async with weft.client() as http:
            answer = await http.get("/healthz")

    assert (third, answer.status_code) == ((429, Code.RATE_LIMIT_EXCEEDED), 200)


async def test_a_key_has_so_many_sockets_at_once() -> None:
    async with listening(FakeBus(), sockets_at_once=2) as weft:
        async with opened(weft, "/echo"), opened(weft, "/echo"):
            third = await refused(weft, "/echo")
        with anyio.fail_after(90):
            while True:  # the end of the others is seen a moment later
                try:
                    async with opened(weft, "/echo") as socket:
                        again = await said(socket, "again")
                        break
                except InvalidStatus:
                    continue

    assert (third, again) == ((429, Code.RATE_LIMIT_EXCEEDED), ["owner", "again"])


async def test_opening_sockets_counts_as_asking() -> None:
    async with listening(FakeBus(), rate_per_minute=1, rate_burst=1) as weft:
        async with opened(weft, "/echo"):
            pass
        assert await refused(weft, "/echo") == (429, Code.RATE_LIMIT_EXCEEDED)


async def test_a_socket_that_fails_says_nothing_of_the_inside() -> None:
    async with listening(FakeBus()) as weft, opened(weft, "/broken") as socket:
        with anyio.fail_after(90), pytest.raises(ConnectionClosed) as caught:
            await socket.recv()

    assert (caught.value.rcvd and caught.value.rcvd.code, caught.value.rcvd and caught.value.rcvd.reason) == (1011, "")


async def test_a_message_beyond_the_limit_closes_the_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.gateway.server.MAX_MESSAGE_BYTES", 100)
    async with listening(FakeBus()) as weft, opened(weft, "/echo") as socket:
        with anyio.fail_after(90), pytest.raises(ConnectionClosed) as caught:
            await said(socket, "x" * 101)

    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1009


async def test_a_gateway_that_stops_says_so_to_its_sockets() -> None:
    with anyio.fail_after(90):
        async with listening(FakeBus()) as weft:
            socket = await opened(weft, "/echo")
            await socket.recv()
        with pytest.raises(ConnectionClosed) as caught:
            await socket.recv()

    assert caught.value.rcvd is not None
    assert caught.value.rcvd.code == 1012
