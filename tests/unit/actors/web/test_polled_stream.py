"""Connections that tell whether their site has hung up, over real sockets."""

from __future__ import annotations

import anyio
import anyio.abc
import httpcore2
from anyio.abc import SocketAttribute

from actors.web.polled_stream import polled


async def test_a_connection_knows_of_what_came_and_of_its_end() -> None:
    accepted: list[anyio.abc.SocketStream] = []
    arrived = anyio.Event()

    async def accept(stream: anyio.abc.SocketStream) -> None:
        accepted.append(stream)
        arrived.set()
        await anyio.sleep_forever()

    with anyio.fail_after(90):
        async with (
            await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(listener.serve, accept)
            port = int(listener.extra(SocketAttribute.local_port))  # noqa: S610 - no Django here
            stream = polled(await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", port))
            await arrived.wait()
            idle = stream.get_extra_info("is_readable")
            await accepted[0].aclose()
            while not stream.get_extra_info("is_readable"):
                await anyio.sleep(0.01)
            end = await stream.read(10)
            await stream.aclose()
            tasks.cancel_scope.cancel()

    assert idle is False
    assert end == b""
    assert stream.get_extra_info("is_readable")
    assert stream.get_extra_info("ssl_object") is None


def test_what_has_no_socket_stays_as_it_is() -> None:
    stream = httpcore2.AsyncMockStream([])

    assert polled(stream) is stream
