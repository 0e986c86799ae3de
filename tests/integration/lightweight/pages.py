"""Opens pages in the light engine with answers of the test's own, and a listener that counts who connects."""

from __future__ import annotations

import base64
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.memory import MemoryObjectReceiveStream

from actors.fetchers.lightweight import engine_process
from actors.fetchers.lightweight.cdp import CdpConnection, ClosedError
from actors.fetchers.lightweight.process_pool import ProcessPool
from actors.settings import Settings

absence = engine_process.unavailability(Settings())
needs_engine = pytest.mark.skipif(absence is not None, reason=absence.reason if absence else "")


@dataclass(frozen=True)
class Answer:
    """What a request of the page gets."""

    body: str | bytes = ""
    type: str = "text/html"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Answers = Callable[[str, str], Answer | None]
"""Gives an answer for a URL and a kind of resource, or none: 404."""


@dataclass
class Page:
    """A page that is open, and the requests that it made."""

    connection: CdpConnection
    session: str
    asked: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = await self.connection.call(
            "Runtime.evaluate", {"expression": expression, "returnByValue": True}, session=self.session
        )
        return found["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until an expression is true in the page."""
        while not await self.evaluate(f"!!({expression})"):
            await anyio.sleep(0.02)

    async def goto(self, url: str) -> None:
        """Begin to load a URL."""
        await self.connection.post("Page.navigate", {"url": url}, session=self.session)

    def urls(self) -> set[str]:
        """Return the URLs that were asked for."""
        return {url for url, _ in self.asked}


@asynccontextmanager
async def opened(connection: CdpConnection, answers: Answers) -> AsyncGenerator[Page]:
    """Have an empty page whose every request is answered by `answers`."""
    context = (await connection.call("Target.createBrowserContext"))["browserContextId"]
    target = await connection.call("Target.createTarget", {"url": "about:blank", "browserContextId": context})
    attached = await connection.call("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
    page = Page(connection, attached["sessionId"])
    send, receive = anyio.create_memory_object_stream[tuple[dict[str, Any], str]](100_000)
    connection.listen("Fetch.requestPaused", lambda params, session: send.send_nowait((params, session)))
    try:
        async with send, receive, anyio.create_task_group() as tasks:
            tasks.start_soon(_serve, page, receive, answers)
            for method in ("Page.enable", "Network.enable"):
                await connection.call(method, session=page.session)
            await connection.call("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}, session=page.session)
            try:
                yield page
            finally:
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        first, *more = group.exceptions
        if more:
            raise
        raise first from None


def always(answer: Answer) -> Answers:
    """Return the same answer to every request."""
    return lambda _url, _kind: answer


@asynccontextmanager
async def engine(processes: int = 2) -> AsyncGenerator[ProcessPool]:
    """Run an engine within a deadline."""
    with anyio.fail_after(90):
        async with ProcessPool(Settings(light_processes=processes)) as running:
            yield running


@asynccontextmanager
async def listening() -> AsyncGenerator[Listener]:
    """Listen on loopback and count who connects."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as server:
        listener = Listener(server.extra(SocketAttribute.local_port))  # noqa: S610 - anyio's, not Django's
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, listener.take)
            try:
                yield listener
            finally:
                tasks.cancel_scope.cancel()


@dataclass
class Listener:
    """A listener on loopback."""

    port: int
    connects: int = 0
    came: anyio.Event = field(default_factory=anyio.Event)

    async def take(self, stream: SocketStream) -> None:
        """Count a connection and close it."""
        self.connects += 1
        self.came.set()
        await stream.aclose()


async def _serve(page: Page, paused: MemoryObjectReceiveStream[tuple[dict[str, Any], str]], answers: Answers) -> None:
    async for params, session in paused:
        url, kind = params["request"]["url"], params["resourceType"]
        page.asked.append((url, kind))
        answer = answers(url, kind) or Answer("", "text/plain", 404)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        headers = {"Content-Type": answer.type, "Access-Control-Allow-Origin": "*", **answer.headers}
        try:
            await page.connection.post(
                "Fetch.fulfillRequest",
                {
                    "requestId": params["requestId"],
                    "responseCode": answer.status,
                    "responseHeaders": [{"name": name, "value": value} for name, value in headers.items()],
                    "body": base64.b64encode(body).decode(),
                },
                session=session,
            )
        except ClosedError:
            return
