"""Calls that go on as tasks: told as the extension has it, to the caller alone whose they are."""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import msgspec
import pytest
from anyio.lowlevel import checkpoint
from mcp.server.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
)

from actors.gateway.mcp import PATH
from protocol.offers.offer import AskOffer, CallTool, CancelTask, GetTask, Offer, TaskUse, UpdateTask
from protocol.offers.results import (
    Acknowledged,
    InputRequest,
    OfferedResult,
    OfferedTask,
    Outcome,
    Refused,
    ResourceUpdated,
    TaskChanged,
    TaskStatus,
    Text,
)
from tests.unit.actors.gateway.mcp.market import ACTOR, LEGACY, MODERN, TASKS, TEST_S, Market, http, market, post, tool
from tests.unit.actors.gateway.mcp.replicas import CALLER

OFFER = Offer(tools=(tool("weave", tasks=TaskUse.REQUIRED), tool("dye", tasks=TaskUse.POSSIBLE)))
KNOWS: dict[str, Any] = {"extensions": {TASKS: {}}}
CALL: dict[str, Any] = {"name": "weave", "arguments": {}}

WORKING = OfferedTask(id="w1", status=TaskStatus.WORKING, created=1_700_000_000_000, updated=1_700_000_001_500)
DONE = OfferedResult(content=(Text(text="Woven"),))
FORM: dict[str, Any] = {"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}}
ASKS = {"go": InputRequest(method="elicitation/create", params=FORM)}


async def tasking(asked: AskOffer) -> Outcome:
    await checkpoint()
    match asked.do:
        case CallTool() | GetTask():
            return WORKING
        case _:
            return Acknowledged()


async def begun(client: httpx2.AsyncClient, **headers: str) -> dict[str, Any]:
    answer = await post(client, "tools/call", CALL, KNOWS, **headers)
    task: dict[str, Any] = answer["result"]
    return task


def core(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer["result"].items() if name not in {"_meta", "taskId"}}


async def test_a_call_becomes_a_task_that_any_replica_can_be_asked_for() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, tasking, gateways=2) as at, http(at) as client:
            task = await begun(client)
            known = {"taskId": task["taskId"]}
            got = [await post(client, "tasks/get", known, KNOWS) for _ in range(2)]
            answers = {"go": {"action": "accept"}}
            updated = await post(client, "tasks/update", {**known, "inputResponses": answers}, KNOWS)
            cancelled = await post(client, "tasks/cancel", known, KNOWS)

    told = {
        "status": "working",
        "createdAt": "2023-11-14T22:13:20.000+00:00",
        "lastUpdatedAt": "2023-11-14T22:13:21.500+00:00",
        "ttlMs": None,
    }
    assert core({"result": task}) == {"resultType": "task", **told}
    assert [core(one) for one in got] == [{"resultType": "complete", **told}] * 2
    assert [one["result"]["taskId"] for one in got] == [task["taskId"]] * 2
    assert [core(updated), core(cancelled)] == [{"resultType": "complete"}] * 2
    assert [asked.do for asked in at.loom.asked[-2:]] == [UpdateTask(id="w1", responses=answers), CancelTask(id="w1")]


@pytest.mark.parametrize(
    ("task", "told"),
    [
        (WORKING, {"status": "working"}),
        (
            msgspec.structs.replace(WORKING, status=TaskStatus.INPUT_REQUIRED, requests=ASKS, message="Waiting"),
            {"status": "input_required", "statusMessage": "Waiting", "inputRequests": msgspec.to_builtins(ASKS)},
        ),
        (
            msgspec.structs.replace(WORKING, status=TaskStatus.COMPLETED, result=DONE, ttl_ms=5_000, poll_ms=200),
            {
                "status": "completed",
                "ttlMs": 5_000,
                "pollIntervalMs": 200,
                "result": {
                    "resultType": "complete",
                    "isError": False,
                    "content": [{"type": "text", "text": "Woven"}],
                },
            },
        ),
        (
            msgspec.structs.replace(WORKING, status=TaskStatus.FAILED, error=Refused(code=-32603, message="Torn")),
            {"status": "failed", "error": {"code": -32603, "message": "Torn"}},
        ),
        (msgspec.structs.replace(WORKING, status=TaskStatus.CANCELLED), {"status": "cancelled"}),
    ],
)
async def test_a_task_is_told_with_what_came_of_it(task: OfferedTask, told: dict[str, Any]) -> None:
    async def answer(asked: AskOffer) -> Outcome:
        await checkpoint()
        return WORKING if isinstance(asked.do, CallTool) else task

    with anyio.fail_after(TEST_S):
        async with market(OFFER, answer) as at, http(at) as client:
            known = {"taskId": (await begun(client))["taskId"]}
            got = core(await post(client, "tasks/get", known, KNOWS))

    always = {"resultType", "createdAt", "lastUpdatedAt"}
    assert {name: value for name, value in got.items() if name not in always} == {"ttlMs": None, **told}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize(
    ("changed", "capabilities", "headers", "code"),
    [
        ({}, KNOWS, {CALLER: "somebody else"}, INVALID_PARAMS),
        ({"taskId": "nobody-was-given-this"}, KNOWS, {}, INVALID_PARAMS),
        ({"taskId": "x" * 5_000}, KNOWS, {}, INVALID_PARAMS),
        ({}, {}, {}, MISSING_REQUIRED_CLIENT_CAPABILITY),
        ({}, KNOWS, {"Mcp-Name": "another"}, HEADER_MISMATCH),
    ],
)
async def test_a_task_is_its_callers_alone(
    method: str, changed: dict[str, Any], capabilities: dict[str, Any], headers: dict[str, str], code: int
) -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, tasking) as at, http(at) as client:
            task = await begun(client)
            params: dict[str, Any] = {"taskId": task["taskId"], "inputResponses": {}, **changed}
            answer = await post(client, method, params, capabilities, **headers)

    assert answer["error"]["code"] == code
    assert len(at.loom.asked) == 1


async def test_a_tool_that_needs_a_task_refuses_who_knows_none() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, tasking) as at, http(at) as client:
            before = await post(client, "tools/call", CALL)
            asked = len(at.loom.asked)
            after = await post(client, "tools/call", {"name": "dye", "arguments": {}})

    needed: dict[str, Any] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
    for answer in (before, after):
        assert (answer["error"]["code"], answer["error"]["data"]) == (MISSING_REQUIRED_CLIENT_CAPABILITY, needed)
    assert asked == 0


async def test_the_older_era_has_no_tasks() -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "w1"}}
    with anyio.fail_after(TEST_S):
        async with market(OFFER, tasking) as at, http(at) as client:
            headers = {"MCP-Protocol-Version": LEGACY, "Accept": "application/json"}
            answer = (await client.post(PATH, json=request, headers=headers)).json()

    assert answer["error"]["code"] == METHOD_NOT_FOUND


async def test_whoever_listens_hears_of_the_tasks_of_its_caller_and_of_its_resources() -> None:
    done = msgspec.structs.replace(WORKING, status=TaskStatus.COMPLETED, result=DONE)
    news = [
        TaskChanged(actor=ACTOR, caller="somebody else", task=done),
        TaskChanged(actor=ACTOR, caller="somebody", task=msgspec.structs.replace(done, id="w2")),
        TaskChanged(actor="carder", caller="somebody", task=done),
        ResourceUpdated(uri="loom://b"),
        TaskChanged(actor=ACTOR, caller="somebody", task=done),
        ResourceUpdated(uri="loom://a"),
    ]
    with anyio.fail_after(TEST_S):
        async with market(OFFER, tasking) as at, http(at) as client:
            mine = (await begun(client))["taskId"]
            foreign = (await begun(client, **{CALLER: "somebody else"}))["taskId"]
            wanted = {"taskIds": [mine, foreign, "nobody's"], "resourceSubscriptions": ["loom://a"]}
            acknowledged, task, resource = await _told(at, client, wanted, news)

    assert acknowledged["params"]["notifications"] == {"taskIds": [mine], "resourceSubscriptions": ["loom://a"]}
    assert (task["method"], task["params"]["taskId"], task["params"]["status"]) == (
        "notifications/tasks",
        mine,
        "completed",
    )
    assert task["params"]["result"]["content"] == [{"type": "text", "text": "Woven"}]
    assert (resource["method"], resource["params"]["uri"]) == ("notifications/resources/updated", "loom://a")
    assert {one["params"]["_meta"][SUBSCRIPTION_ID_META_KEY] for one in (acknowledged, task, resource)} == {7}


async def test_who_knows_no_tasks_does_not_hear_of_them() -> None:
    with anyio.fail_after(TEST_S):
        async with market(OFFER, tasking) as at, http(at) as client:
            mine = (await begun(client))["taskId"]
            news = [TaskChanged(actor=ACTOR, caller="somebody", task=WORKING), ResourceUpdated(uri="loom://a")]
            wanted = {"taskIds": [mine], "resourceSubscriptions": ["loom://a"]}
            frames = await _told(at, client, wanted, news, {})

    assert [frame["method"] for frame in frames[1:]] == ["notifications/resources/updated"]


async def _told(
    at: Market,
    client: httpx2.AsyncClient,
    wanted: dict[str, Any],
    news: list[Any],
    capabilities: dict[str, Any] = KNOWS,
) -> list[dict[str, Any]]:
    """Return what a client that listens is told, up to the news of loom://a."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen", "Accept": "text/event-stream"}
    headers["Accept"] += ", application/json"
    params = {"notifications": wanted, "_meta": meta}
    request = {"jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen", "params": params}
    frames = list[dict[str, Any]]()
    async with client.stream("POST", PATH, json=request, headers=headers) as answer:
        async for line in answer.aiter_lines():
            if not line.startswith("data:"):
                continue
            frames.append(msgspec.json.decode(line.removeprefix("data:")))
            if len(frames) == 1:
                for one in news:
                    await at.loom.tell(one)
            if frames[-1]["method"] == "notifications/resources/updated":
                break
    return frames
