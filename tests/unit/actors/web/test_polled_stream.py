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
            network: httpcore2.AsyncNetworkBackend = httpcore2.AnyIOBackend()  # pyright: ignore[reportAssignmentType]
            stream = polled(await network.connect_tcp("127.0.0.1", port))
            await arrived.wait()

            assert stream.get_extra_info("is_readable") is False
            assert stream.get_extra_info("ssl_object") is None

            await accepted[0].aclose()
            while not stream.get_extra_info("is_readable"):
                await anyio.sleep(0.01)
            assert await stream.read(10) == b""
            await stream.aclose()
            assert stream.get_extra_info("is_readable")
            tasks.cancel_scope.cancel()


def test_what_has_no_socket_stays_as_it_is() -> None:
    stream = httpcore2.AsyncMockStream([])

    assert polled(stream) is stream
