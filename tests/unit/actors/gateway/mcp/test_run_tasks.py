"""Runs as tasks: the id of a run is that of its task, and a call is answered before the run is over."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from anyio.lowlevel import checkpoint
from mcp.types import HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY
from msgspec.structs import replace

from actors.gateway.edge import edge
from actors.gateway.mcp import PATH
from protocol.faults import Code, FaultError, fault
from protocol.offers.offer import Offer
from protocol.runs.requests import AskRun, FollowRun, RunNews
from protocol.runs.responses import CancelAnswer, Run
from protocol.runs.states import RunStatus
from protocol.subjects import RUN_CANCEL, RUN_CREATE, RUN_FOLLOW, RUN_GET
from tests.unit.actors.gateway.mcp.market import MODERN, TASKS, TEST_S, http, market, never, post, tool
from tests.unit.actors.gateway.run_data import (
    ACCEPTED,
    ASKED,
    DONE,
    FAILED,
    RUN_ID,
    RUNNING,
    WAITED,
    RunBus,
    news,
)
from tests.unit.actors.gateway_data import BASE, BEARER, settings

KNOWS: dict[str, Any] = {"extensions": {TASKS: {}}}
TASK = {"taskId": RUN_ID}
CALL: dict[str, Any] = {"name": "run_task_template", "arguments": ASKED}
STANDS = {
    "taskId": RUN_ID,
    "createdAt": "2025-02-10T00:00:00.000+00:00",
    "ttlMs": 86_400_000,
    "pollIntervalMs": 2_000,
}
OFFER = Offer(tools=(tool("weave"),))
GONE = FaultError(fault(Code.RUN_NOT_FOUND))


@asynccontextmanager
async def client(bus: RunBus) -> AsyncGenerator[httpx2.AsyncClient]:
    with anyio.fail_after(TEST_S):
        async with edge(bus, settings(), "1.2.3") as (app, _):
            transport = httpx2.ASGITransport(app)
            async with httpx2.AsyncClient(transport=transport, base_url=BASE, headers=BEARER) as http:
                yield http


async def answered(
    bus: RunBus, method: str, params: dict[str, Any], knows: dict[str, Any] | None = None, /, **more: str
) -> dict[str, Any]:
    async with client(bus) as http:
        return await post(http, method, params, KNOWS if knows is None else knows, **more)


def core(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer["result"].items() if name != "_meta"}


async def test_a_call_becomes_a_task_whatever_its_template_would_do() -> None:
    for accepted in (ACCEPTED, WAITED):
        told = core(await answered(RunBus({RUN_CREATE: accepted}), "tools/call", CALL))

        assert told == {
            **STANDS,
            "resultType": "task",
            "status": "working",
            "statusMessage": "queued",
            "lastUpdatedAt": STANDS["createdAt"],
        }


async def test_who_wants_to_wait_waits() -> None:
    bus = RunBus({RUN_CREATE: WAITED, RUN_FOLLOW: [news(1, run=DONE)], RUN_GET: DONE})
    waiting = {**CALL, "arguments": {**ASKED, "options": {"mode": "sync"}}}

    told = core(await answered(bus, "tools/call", waiting))

    assert (told["resultType"], told["structuredContent"]["status"]) == ("complete", "succeeded")


async def test_a_client_that_knows_no_tasks_gets_the_answer_of_the_contract() -> None:
    told = core(await answered(RunBus({RUN_CREATE: ACCEPTED}), "tools/call", CALL, {}))

    assert (told["resultType"], told["structuredContent"]["runId"]) == ("complete", RUN_ID)


async def test_a_run_that_cannot_begin_is_no_task() -> None:
    bus = RunBus({RUN_CREATE: FaultError(fault(Code.TEMPLATE_NOT_FOUND))})

    told = core(await answered(bus, "tools/call", CALL))

    assert (told["isError"], told["structuredContent"]["errorCode"]) == (True, "TEMPLATE_NOT_FOUND")


@pytest.mark.parametrize(
    ("run", "status", "is_error"),
    [
        (replace(RUNNING, status=RunStatus.QUEUED), "working", None),
        (RUNNING, "working", None),
        (DONE, "completed", False),
        (replace(DONE, status=RunStatus.PARTIAL_SUCCESS), "completed", False),
        (FAILED, "completed", True),
        (replace(DONE, status=RunStatus.CANCELED), "cancelled", None),
    ],
)
async def test_a_task_stands_as_its_run_does(run: Run, status: str, is_error: bool | None) -> None:  # noqa: FBT001
    told = core(await answered(RunBus({RUN_GET: run}), "tasks/get", TASK))

    result = told.pop("result", None)
    assert told == {
        **STANDS,
        "resultType": "complete",
        "status": status,
        "statusMessage": f"{run.status.value}: {run.progress.done_steps} of 20 steps",
        "lastUpdatedAt": "2025-02-10T00:00:05.230+00:00",
    }
    assert (None if result is None else result["isError"]) == is_error
    if result is not None:
        assert result["structuredContent"]["runId"] == RUN_ID
        assert result["content"][0]["type"] == "text"


async def test_a_task_is_cancelled_as_its_run_is() -> None:
    bus = RunBus({RUN_CANCEL: CancelAnswer(cancel_requested=True, current_status=RunStatus.RUNNING)})

    assert core(await answered(bus, "tasks/cancel", TASK)) == {"resultType": "complete"}
    (asked,) = bus.every(RUN_CANCEL)
    assert (asked.run_id, asked.caller) == (RUN_ID, "owner")


async def test_a_run_asks_for_nothing() -> None:
    given = {**TASK, "inputResponses": {"go": {"action": "accept"}}}

    assert core(await answered(RunBus({RUN_GET: RUNNING}), "tasks/update", given)) == {"resultType": "complete"}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/update"])
@pytest.mark.parametrize("task", [RUN_ID, RUN_ID + "A", "run_123", "of nobody"])
async def test_a_task_of_nobody_or_of_somebody_else_is_not_there(method: str, task: str) -> None:
    bus = RunBus({RUN_GET: GONE, RUN_CANCEL: GONE})

    told = await answered(bus, method, {"taskId": task, "inputResponses": {}})

    assert (told["error"]["code"], told["error"]["message"]) == (INVALID_PARAMS, "There is no such task")
    assert "data" not in told["error"]


async def test_what_fails_on_the_way_is_an_error_of_the_protocol() -> None:
    told = await answered(RunBus({RUN_GET: FaultError(fault(Code.INTERNAL_UNAVAILABLE))}), "tasks/get", TASK)

    assert told["error"]["code"] == INTERNAL_ERROR


async def test_tasks_keep_their_rules() -> None:
    bus = RunBus({RUN_GET: RUNNING})

    unknown = await answered(bus, "tasks/get", TASK, {})
    another = await answered(bus, "tasks/get", TASK, **{"Mcp-Name": "run_" + "C" * 22})
    left_out = await answered(bus, "tasks/get", TASK, path=f"{PATH}?toolsets=core")

    assert unknown["error"]["code"] == MISSING_REQUIRED_CLIENT_CAPABILITY
    assert another["error"]["code"] == HEADER_MISMATCH
    assert left_out["error"]["code"] == INVALID_PARAMS
    assert bus.calls == []


async def test_whoever_listens_hears_how_a_run_gets_on_and_what_came_of_it() -> None:
    stands = [news(1), news(2, run=RUNNING), news(3, run=DONE)]

    async def follow(asked: FollowRun) -> RunNews:
        await checkpoint()
        return stands[0] if asked.after == 0 else stands[asked.after]

    async def get(asked: AskRun) -> Run:
        await checkpoint()
        if asked.run_id != RUN_ID:
            raise GONE
        return DONE

    with anyio.fail_after(TEST_S):
        async with market(OFFER, never) as at, http(at) as asking:
            await at.loom.bus.serve(RUN_FOLLOW, follow, at_once=4)
            await at.loom.bus.serve(RUN_GET, get, at_once=4)
            frames = await _heard(asking, [RUN_ID, "run_" + "C" * 22, "of nobody"])

    acknowledged, working, done = (frame["params"] for frame in frames)
    assert acknowledged["notifications"] == {"taskIds": [RUN_ID]}
    assert (working["taskId"], working["status"]) == (RUN_ID, "working")
    assert (done["status"], done["result"]["structuredContent"]["status"]) == ("completed", "succeeded")


async def _heard(asking: httpx2.AsyncClient, tasks: list[str]) -> list[dict[str, Any]]:
    """Return what a client that listens for tasks is told, up to the end of one."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": KNOWS,
    }
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"}
    headers["Accept"] = "text/event-stream, application/json"
    params = {"notifications": {"taskIds": tasks}, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params}
    frames = list[dict[str, Any]]()
    async with asking.stream("POST", PATH, json=request, headers=headers) as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                frames.append(msgspec.json.decode(line.removeprefix("data:")))
            if frames and frames[-1]["params"].get("status") == "completed":
                break
    return frames
