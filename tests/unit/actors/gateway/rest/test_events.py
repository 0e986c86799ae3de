"""Server-sent events: what a client that accepts them hears, and what becomes of the work when it leaves."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import anyio
import msgspec
import pytest
from msgspec import Struct

from actors.gateway.app_context import AppContext
from actors.gateway.http import EVENTS
from actors.gateway.request import RequestContext
from actors.gateway.rest.streaming import EventStream
from protocol.faults import Code, FaultError, fault
from tests.unit.actors.gateway.rest.calling import client
from tests.unit.actors.gateway_data import BEARER, FakeBus, browsed
from tests.unit.actors.gateway_listening import Listening, listening
from tests.unit.actors.page_data import URL

ACCEPTS = {"Accept": EVENTS}
ASKED = {"url": URL}


class Heard(Struct, frozen=True):
    """One event."""

    id: str
    name: str
    data: dict[str, Any]


async def events(lines: AsyncIterator[str]) -> AsyncGenerator[Heard]:
    """Read events as a browser does."""
    fields: dict[str, str] = {}
    async for line in lines:
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif not line and fields:
            yield Heard(fields["id"], fields["event"], msgspec.json.decode(fields["data"]))
            fields = {}


async def heard(bus: FakeBus, path: str, body: object) -> list[Heard]:
    async with client(bus) as http, http.stream("POST", path, json=body, headers=ACCEPTS) as answer:
        assert (answer.status_code, answer.headers["content-type"]) == (200, f"{EVENTS}; charset=utf-8")
        assert (answer.headers["cache-control"], "content-length" in answer.headers) == ("no-store", False)
        return [event async for event in events(answer.aiter_lines())]


@pytest.mark.parametrize("path", ["/api/browse", "/v1/browse", "/v1/fetch"])
async def test_a_page_comes_as_the_last_event(path: str) -> None:
    started, result = await heard(FakeBus(browsed()), path, ASKED)

    async with client(FakeBus(browsed())) as http:
        whole = (await http.post(path, json=ASKED)).json()
    assert (started.id, started.name, result.id, result.name) == ("1", "started", "2", "result")
    assert UUID(started.data["conversationId"]).version == 4
    assert result.data == whole


async def test_each_page_of_a_batch_is_told_of() -> None:
    urls = [f"{URL}?{number}" for number in range(3)]

    first, *told, last = await heard(FakeBus(browsed()), "/api/browse/batch", {"urls": urls})

    assert (first.name, last.name, last.data["summary"]["success"]) == ("started", "result", 3)
    assert [(one.name, one.data["done"], one.data["total"]) for one in told] == [("progress", n, 3) for n in (1, 2, 3)]
    assert [one.id for one in (first, *told, last)] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (FaultError(fault(Code.HTTP_NOT_FOUND)), Code.HTTP_NOT_FOUND),
        (RuntimeError("secret inside"), Code.INTERNAL_ERROR),
    ],
)
@pytest.mark.slow
async def test_a_failure_comes_as_an_error(failure: Exception, code: Code) -> None:
    *_, plain = await heard(FakeBus(failure), "/api/browse", ASKED)
    *_, enveloped = await heard(FakeBus(failure), "/v1/browse", ASKED)

    assert (plain.name, plain.data["code"], "secret" in str(plain.data)) == ("error", code, False)
    assert (enveloped.data["success"], enveloped.data["error"]["code"]) == (False, code)


async def test_what_breaks_the_contract_is_refused_before_the_stream() -> None:
    async with client(FakeBus(browsed())) as http:
        answer = await http.post("/api/browse", json={}, headers=ACCEPTS)

    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/json")


async def test_caches_tell_the_two_forms_apart() -> None:
    async with client(FakeBus(browsed())) as http:
        answer = await http.post("/api/browse", json=ASKED)

    assert answer.headers["vary"] == "Accept, Origin"


class Done(Struct, frozen=True):
    """What a piece of work has come to."""

    done: bool = True


KEEP_ALIVE = b": keep-alive\n\n"


@asynccontextmanager
async def sent(work: Any, keep_alive_s: float, written: list[bytes] | None = None) -> AsyncGenerator[list[bytes]]:
    """Let a stream run to its end, and give what it sent."""
    written = [] if written is None else written

    async def send(message: Any) -> None:
        written.append(message.get("body", b""))

    async def receive() -> Any:
        await anyio.sleep_forever()

    stream = EventStream(
        AppContext(bus=FakeBus(), grace_ms=0, version="1"), RequestContext(), work, keep_alive_s=keep_alive_s
    )
    with anyio.fail_after(90):
        await stream({"type": "http", "method": "POST"}, receive, send)
    yield written


async def test_a_silent_stream_is_kept_alive() -> None:
    written = list[bytes]()

    async def work(_request: RequestContext) -> Done:
        while written.count(KEEP_ALIVE) < 2:
            await anyio.sleep(0.005)
        return Done()

    async with sent(work, 0.005, written):
        assert written.count(KEEP_ALIVE) >= 2


async def test_progress_comes_in_order_before_the_result() -> None:
    async def work(request: RequestContext) -> Done:
        for done in range(3):
            request.report(done, f"step {done}", 3)
        return Done()

    async with sent(work, keep_alive_s=10) as written:
        names = [
            line.removeprefix(b"event: ") for piece in written for line in piece.splitlines() if b"event: " in line
        ]
        assert names == [b"started", b"progress", b"progress", b"progress", b"result"]


async def left(path: str) -> bool:
    """Open a stream, leave it, and return whether the work ends."""
    bus = FakeBus()
    async with listening(bus) as gateway, gateway.client(**BEARER, **ACCEPTS) as http:
        with anyio.fail_after(90):
            async with http.stream("POST", path, json=ASKED) as answer:
                await anext(events(answer.aiter_lines()))
                await bus.asked.wait()
            await bus.cancelled.wait()
    return bus.cancelled.is_set()


@pytest.mark.parametrize("path", ["/api/browse", "/v1/browse"])
async def test_who_closes_the_stream_stops_the_work(path: str) -> None:
    assert await left(path)


async def test_a_stream_that_outlasts_the_stop_ends_in_an_error() -> None:
    bus, told = FakeBus(), list[Heard]()

    async def hear(gateway: Listening) -> None:
        async with (
            gateway.client(**BEARER, **ACCEPTS) as http,
            http.stream("POST", "/api/browse", json=ASKED) as answer,
        ):
            told.extend([event async for event in events(answer.aiter_lines())])

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks, listening(bus, drain_ms=50) as gateway:
            tasks.start_soon(hear, gateway)
            await bus.asked.wait()

    assert (told[-1].name, told[-1].data["code"]) == ("error", Code.INTERNAL_CANCELLED)
    assert bus.cancelled.is_set()
