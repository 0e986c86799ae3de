"""The events of a run as a stream: each with its id, from where a reader left off, and the end of it all."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from msgspec import UNSET, Struct, structs

from actors.gateway.http import EVENTS
from actors.gateway.rest.streaming import last_event_id
from protocol.faults import Code, FaultError, fault
from protocol.runs.responses import ArtifactChunk, Run, RunEvent
from protocol.subjects import ARTIFACT_READ, RUN_CANCEL, RUN_CREATE, RUN_FOLLOW, RUN_GET
from tests.unit.actors.gateway.rest.calling import client
from tests.unit.actors.gateway.run_data import ASKED, DONE, RUN_ID, RUNNING, WAITED, RunBus, news
from tests.unit.actors.gateway_data import BEARER
from tests.unit.actors.gateway_listening import listening

PATH = f"/api/runs/{RUN_ID}/events"
ACCEPTS = {"Accept": EVENTS}


class Heard(Struct, frozen=True):
    """One event; `id` is empty where it has none."""

    name: str
    data: dict[str, Any]
    id: str = ""


async def events(lines: AsyncIterator[str]) -> AsyncGenerator[Heard]:
    """Read events as a browser does."""
    fields: dict[str, str] = {}
    async for line in lines:
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            fields[name] = value
        elif not line and fields:
            yield Heard(fields["event"], msgspec.json.decode(fields["data"]), fields.get("id", ""))
            fields = {}


async def heard(bus: RunBus, path: str = PATH, **headers: str) -> list[Heard]:
    with anyio.fail_after(90):
        async with client(bus) as http, http.stream("GET", path, headers=headers) as answer:
            assert (answer.status_code, answer.headers["content-type"]) == (200, f"{EVENTS}; charset=utf-8")
            return [event async for event in events(answer.aiter_lines())]


async def test_each_event_has_its_id_and_the_run_is_told_at_the_end() -> None:
    followed = [news(1, 2), news(), news(3, 4, run=DONE)]
    bus = RunBus({RUN_GET: RUNNING, RUN_FOLLOW: followed.copy()})

    *told, end = await heard(bus)

    wanted = [event for one in followed for event in one.events]
    assert [(one.id, one.name) for one in told] == [("1", "step"), ("2", "step"), ("3", "step"), ("4", "succeeded")]
    assert [msgspec.convert(one.data, RunEvent) for one in told] == wanted
    assert (end.name, end.id) == ("end", "")
    assert msgspec.convert(end.data, Run) == structs.replace(DONE, result=UNSET)
    assert [asked.after for asked in bus.every(RUN_FOLLOW)] == [0, 2, 2]


@pytest.mark.parametrize(
    ("path", "header", "after"),
    [
        (PATH, "", 0),
        (PATH, "7", 7),
        (f"{PATH}?after=5", "", 5),
        (f"{PATH}?after=5", "7", 7),
        (f"{PATH}?after=5", "none of ours", 5),
    ],
)
async def test_a_reader_that_comes_back_hears_what_it_has_missed(path: str, header: str, after: int) -> None:
    bus = RunBus({RUN_GET: DONE, RUN_FOLLOW: [news(run=DONE)]})

    (end,) = await heard(bus, path, **({"Last-Event-ID": header} if header else {}))

    assert (end.name, [asked.after for asked in bus.every(RUN_FOLLOW)]) == ("end", [after])


@pytest.mark.parametrize("told", ["", "-1", "1.5", "\u0663", "9" * 16, "1 2"])
def test_what_is_no_id_of_an_event_says_nothing(told: str) -> None:
    assert (last_event_id(told, 3), last_event_id("12", 3)) == (3, 12)


@pytest.mark.parametrize("suffix", ["?after=-1", "?after=x", "?from=1"])
async def test_the_place_to_begin_is_read_strictly(suffix: str) -> None:
    async with client(RunBus({})) as http:
        answer = await http.get(f"{PATH}{suffix}")

    assert (answer.status_code, answer.json()["errorCode"]) == (400, "INVALID_PARAMETER")


async def test_a_run_that_there_is_not_is_a_404_and_no_stream() -> None:
    async with client(RunBus({RUN_GET: FaultError(fault(Code.RUN_NOT_FOUND))})) as http:
        answer = await http.get(PATH, headers=ACCEPTS)

    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
    assert (answer.json()["errorCode"], answer.json()["details"]["runId"]) == ("RUN_NOT_FOUND", RUN_ID)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (FaultError(fault(Code.RUN_NOT_FOUND)), "RUN_NOT_FOUND"),
        (RuntimeError("secret inside"), "EXECUTION_ERROR"),
    ],
)
async def test_a_stream_that_can_go_on_no_more_says_why(failure: Exception, code: str) -> None:
    bus = RunBus({RUN_GET: RUNNING, RUN_FOLLOW: [news(1), failure]})

    step, error = await heard(bus)

    assert (step.name, error.name, error.data["errorCode"]) == ("step", "error", code)
    assert "secret" not in str(error.data)


async def test_the_head_of_a_stream_follows_nothing() -> None:
    bus = RunBus({RUN_GET: RUNNING})
    async with client(bus) as http:
        answer = await http.head(PATH)

    assert (answer.status_code, answer.content, bus.every(RUN_FOLLOW)) == (200, b"", [])


async def test_a_reader_that_leaves_ends_the_question_and_not_the_run() -> None:
    bus = RunBus({RUN_GET: RUNNING, RUN_FOLLOW: [news(1)]})
    with anyio.fail_after(90):
        async with listening(bus) as gateway, gateway.client(**BEARER, **ACCEPTS) as http:
            async with http.stream("GET", PATH) as answer:
                assert (await anext(events(answer.aiter_lines()))).id == "1"
            await bus.cancelled.wait()

    assert bus.every(RUN_CANCEL) == []


async def test_a_run_that_is_waited_for_tells_how_far_it_is() -> None:
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(8), news(20, run=DONE)], RUN_GET: DONE})
    with anyio.fail_after(90):
        async with client(bus) as http, http.stream("POST", "/api/runs", json=ASKED, headers=ACCEPTS) as answer:
            first, *told, last = [event async for event in events(answer.aiter_lines())]

    assert (first.name, {one.name for one in told}, last.name) == ("started", {"progress"}, "result")
    assert [(one.data["done"], one.data["total"]) for one in told] == [(8, 20), (20, 20)]
    assert msgspec.convert(last.data, Run) == DONE


async def test_a_run_that_cannot_begin_is_an_error_in_the_form_of_the_runs() -> None:
    bus = RunBus({RUN_CREATE: FaultError(fault(Code.TEMPLATE_NOT_FOUND))})
    with anyio.fail_after(90):
        async with client(bus) as http, http.stream("POST", "/api/runs", json=ASKED, headers=ACCEPTS) as answer:
            *_, error = [event async for event in events(answer.aiter_lines())]

    assert (error.name, error.data["errorCode"]) == ("error", "TEMPLATE_NOT_FOUND")
    assert error.data["details"] == {"templateId": ASKED["templateId"]}


@pytest.mark.slow
async def test_a_download_whose_pieces_end_early_breaks_off() -> None:
    piece = ArtifactChunk(artifact_id="art_" + "b" * 22, mime_type="text/csv", size=9, data=b"abc", complete=False)
    bus = RunBus({ARTIFACT_READ: [piece, FaultError(fault(Code.ARTIFACT_EXPIRED))]})
    with anyio.fail_after(90):
        async with listening(bus) as gateway, gateway.client(**BEARER) as http:
            with pytest.raises(httpx2.RemoteProtocolError):
                await http.get(f"/api/artifacts/{piece.artifact_id}/content")
