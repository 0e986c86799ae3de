"""A connection to the engine: calls, answers, events, and what an engine gone bad may send."""

from __future__ import annotations

import http
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, unix_serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from actors.fetchers.lightweight import cdp
from actors.fetchers.lightweight.cdp import CdpError, ClosedError, connect
from tests.unit.actors.fetchers.lightweight.fake_engine import answering, echo


async def test_a_call_gets_the_result_of_its_own_answer() -> None:
    async def backwards(socket: ServerConnection) -> None:
        calls = [msgspec.json.decode(await socket.recv()) for _ in range(3)]
        for call in reversed(calls):
            await socket.send(msgspec.json.encode({"id": call["id"], "result": {"was": call["method"]}}), text=True)

    results: dict[str, Any] = {}
    async with answering(backwards) as path, connect(path) as connection:

        async def call(method: str) -> None:
            results[method] = await connection.call(method)

        async with anyio.create_task_group() as tasks:
            for method in ("A.a", "B.b", "C.c"):
                tasks.start_soon(call, method)

    assert not connection.stuck
    assert results == {method: {"was": method} for method in ("A.a", "B.b", "C.c")}


async def test_parameters_and_session_travel() -> None:
    async with answering() as path, connect(path) as connection:
        bare = await connection.call("A.a")
        full = await connection.call("A.b", {"x": [1, "ü"]}, session="S")

    assert bare == {"method": "A.a", "params": None, "session": None}
    assert full == {"method": "A.b", "params": {"x": [1, "ü"]}, "session": "S"}


async def test_a_refusal_is_an_error_and_the_connection_goes_on() -> None:
    async def refuse(socket: ServerConnection) -> None:
        call = msgspec.json.decode(await socket.recv())
        await socket.send(
            msgspec.json.encode({"id": call["id"], "error": {"code": -32000, "message": "no"}}), text=True
        )
        await echo(socket)

    async with answering(refuse) as path, connect(path) as connection:
        with pytest.raises(CdpError) as caught:
            await connection.call("A.a")
        after = await connection.call("A.b")

    assert (caught.value.code, caught.value.message, after["method"]) == (-32000, "no", "A.b")


async def test_events_come_in_order_with_parameters_and_session() -> None:
    async def tell(socket: ServerConnection) -> None:
        for number in range(3):
            event = {"method": "A.told", "params": {"n": number}, "sessionId": "S"}
            await socket.send(msgspec.json.encode(event), text=True)
        await socket.send(msgspec.json.encode({"method": "A.unheard"}), text=True)
        await socket.send(msgspec.json.encode({"method": "B.bare"}), text=True)
        await echo(socket)

    heard: list[Any] = []
    async with answering(tell) as path, connect(path) as connection:
        bare = anyio.Event()
        connection.listen("A.told", lambda params, session: heard.append((params["n"], session)))
        connection.listen("A.told", lambda params, _session: heard.append(params["n"]))
        connection.listen("B.bare", lambda params, session: heard.append((params, session)))
        connection.listen("B.bare", lambda _params, _session: bare.set())
        await bare.wait()

    assert heard == [(0, "S"), 0, (1, "S"), 1, (2, "S"), 2, ({}, "")]


async def test_a_post_does_not_wait_for_its_answer() -> None:
    seen: list[Any] = []
    came = anyio.Event()

    async def silent(socket: ServerConnection) -> None:
        seen.append(msgspec.json.decode(await socket.recv()))
        came.set()
        await socket.wait_closed()

    async with answering(silent) as path, connect(path) as connection:
        await connection.post("A.a", {"x": 1}, session="S")
        await came.wait()

    assert seen == [{"id": 1, "method": "A.a", "params": {"x": 1}, "sessionId": "S"}]


async def test_a_call_ends_when_the_connection_closes() -> None:
    async def leave(socket: ServerConnection) -> None:
        await socket.recv()

    async with answering(leave) as path, connect(path) as connection:
        with pytest.raises(ClosedError):
            await connection.call("A.a")
        await connection.closed.wait()
        with pytest.raises(ClosedError):
            await connection.call("A.b")
        with pytest.raises(ClosedError):
            await connection.post("A.b")


async def test_an_engine_that_reads_no_more_holds_nobody_up_at_the_end() -> None:
    over = anyio.Event()

    async def stuck(socket: ServerConnection) -> None:
        socket.transport.pause_reading()
        await over.wait()
        socket.transport.abort()

    async with answering(stuck) as path:
        with anyio.fail_after(90):
            async with connect(path) as connection:
                with anyio.move_on_after(0.05) as scope:
                    await connection.call("A.a", {"x": "x" * 5_000_000})
        over.set()

    assert (scope.cancelled_caught, connection.stuck) == (True, True)


async def test_what_a_page_cannot_spell_is_mended() -> None:
    async def halves(socket: ServerConnection) -> None:
        call = msgspec.json.decode(await socket.recv())
        result = r'{"x": "a\ud800b\ud83d\ude00\\ud800"}'
        await socket.send(f'{{"id": {call["id"]}, "result": {result}}}')

    async with answering(halves) as path, connect(path) as connection:
        found = await connection.call("A.a")

    assert found == {"x": "a\ufffdb\N{GRINNING FACE}\\ud800"}


@pytest.mark.parametrize(
    "garbage", ["{", "[1]", '{"id": "x"}', '{"id": 1, "result": 5}', "[" * 100_000, '{"params": []}']
)
async def test_garbage_closes_the_connection(garbage: str) -> None:
    async def babble(socket: ServerConnection) -> None:
        await socket.send(garbage)
        await socket.wait_closed()

    async with answering(babble) as path, connect(path) as connection:
        await connection.closed.wait()
        with pytest.raises(ClosedError):
            await connection.call("A.a")


async def test_large_messages_travel_both_ways() -> None:
    text = "x" * 9_000_000
    async with answering() as path, connect(path) as connection:
        found = await connection.call("A.a", {"text": text})

    assert found["params"] == {"text": text}


async def test_more_than_the_limit_closes_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cdp, "MAX_MESSAGE_BYTES", 1_000)
    async with answering() as path, connect(path) as connection:
        with pytest.raises(ClosedError):
            await connection.call("A.a", {"text": "x" * 2_000})


async def test_nobody_there_is_a_closed_connection(tmp_path: Path) -> None:
    with pytest.raises(ClosedError):
        async with connect(tmp_path / "s"):
            pass


async def test_an_engine_that_never_shakes_hands_is_a_closed_connection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cdp, "CONNECT_SECONDS", 0.05)
    async with await anyio.create_unix_listener(tmp_path / "s"):
        with pytest.raises(ClosedError):
            async with connect(tmp_path / "s"):
                pass


async def test_an_engine_cannot_send_python_elsewhere(tmp_path: Path) -> None:
    def redirect(connection: ServerConnection, request: Request) -> Response:
        headers = Headers({"Location": "ws://127.0.0.1:1/", "Content-Length": "0"})
        return Response(http.HTTPStatus.FOUND, "Found", headers)

    async with unix_serve(echo, str(tmp_path / "s"), process_request=redirect):
        with pytest.raises(ClosedError):
            async with connect(tmp_path / "s"):
                pass


async def test_errors_of_the_block_and_of_handlers_come_out_as_they_are() -> None:
    async with answering() as path:
        with pytest.raises(LookupError, match="block"):
            async with connect(path):
                raise LookupError("block")

    def fail(_params: dict[str, Any], _session: str) -> None:
        raise LookupError("handler")

    async def tell(socket: ServerConnection) -> None:
        await socket.send('{"method": "A.told"}')
        await socket.wait_closed()

    async def hear(path: Path) -> None:
        async with connect(path) as connection:
            connection.listen("A.told", fail)
            await anyio.sleep_forever()

    async with answering(tell) as path:
        with pytest.raises(LookupError, match="handler"):
            await hear(path)
