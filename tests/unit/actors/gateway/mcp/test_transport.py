"""Any replica answers any request of either era, and what clients are asked in between finds its way back."""

from __future__ import annotations

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp.client.session import ClientRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    ListRootsResult,
    Root,
    TextContent,
)
from pydantic import FileUrl

from tests.unit.actors.gateway.mcp.replicas import ERAS, TEST_S, connected, replicas

eras = pytest.mark.parametrize("mode", ERAS)


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@eras
async def test_a_client_is_answered_by_any_replica(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, mode) as client:
            for _ in range(6):
                assert "elicit" in [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]
                assert text_of(await client.call_tool("who", {})).startswith("somebody ")


async def test_a_user_is_asked_over_any_replica() -> None:
    asked = list[str]()

    async def answer(_ctx: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        await checkpoint()
        asked.append(params.message)
        return ElicitResult(action="accept", content={"name": f"Weaver {len(asked)}"})

    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, "legacy", elicitation_callback=answer) as client:
            told = [text_of(await client.call_tool("elicit", {})) for _ in range(4)]

    assert told == [f"accept {{'name': 'Weaver {number}'}}" for number in (1, 2, 3, 4)]
    assert asked == ["Who are you?"] * 4


async def test_a_model_and_roots_are_asked_for_over_any_replica() -> None:
    async def sample(_ctx: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
        await checkpoint()
        content = TextContent(type="text", text=f"At most {params.max_tokens}")
        return CreateMessageResult(role="assistant", content=content, model="loom")

    async def roots(_ctx: ClientRequestContext) -> ListRootsResult:
        await checkpoint()
        return ListRootsResult(roots=[Root(uri=FileUrl("file:///loom"))])

    with anyio.fail_after(TEST_S):
        async with (
            replicas() as loom,
            connected(loom, "legacy", sampling_callback=sample, list_roots_callback=roots) as client,
        ):
            told = [text_of(await client.call_tool(name, {})) for name in ("sample", "roots", "sample", "roots")]

    assert told == ["At most 9", "file:///loom"] * 2


@pytest.mark.slow
async def test_many_calls_at_once_get_each_their_own_reply() -> None:
    told = dict[int, str]()
    count = iter(range(100))

    async def answer(_ctx: ClientRequestContext, _params: ElicitRequestParams) -> ElicitResult:
        number = next(count)
        await anyio.sleep(0.01 * (number % 3))
        return ElicitResult(action="accept", content={"name": str(number)})

    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, "legacy", elicitation_callback=answer) as client:

            async def call(number: int) -> None:
                told[number] = text_of(await client.call_tool("elicit", {}))

            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(call, number)

    assert sorted(told.values()) == sorted(f"accept {{'name': '{number}'}}" for number in range(20))


async def test_a_client_that_refuses_a_question_says_why() -> None:
    async def refuse(_ctx: ClientRequestContext, _params: ElicitRequestParams) -> ErrorData:
        await checkpoint()
        return ErrorData(code=-32600, message="Nobody is here")

    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, "legacy", elicitation_callback=refuse) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("elicit", {})

    assert (caught.value.error.code, caught.value.error.message) == (-32600, "Nobody is here")


@eras
async def test_progress_is_told_in_order_and_grows(mode: str) -> None:
    told = list[tuple[float, float | None, str | None]]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        await checkpoint()
        told.append((progress, total, message))

    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, mode) as client:
            result = await client.call_tool("progress", {}, progress_callback=hear)

    assert text_of(result) == "done"
    assert told == [(number, 3, f"Step {number}.") for number in (0, 1, 2)]


@eras
@pytest.mark.slow
async def test_what_nobody_foresaw_says_nothing_of_the_inside(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, mode) as client:
            with pytest.raises(MCPError) as caught:
                await client.call_tool("boom", {})

    assert (caught.value.error.code, "secret" in caught.value.error.message) == (-32603, False)


@eras
async def test_the_address_chooses_the_tools(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, mode, "/mcp?toolsets=core,%20runs") as client:
            told = text_of(await client.call_tool("who", {}))

    assert told.split(" ")[-1] == "core,runs"


@pytest.mark.parametrize(("mode", "labels"), [("legacy", 2), ("auto", 1)])
async def test_clients_of_one_caller_are_told_apart_where_they_show_their_labels(mode: str, labels: int) -> None:
    told = list[list[str]]()
    with anyio.fail_after(TEST_S):
        async with replicas() as loom:
            for _ in range(2):
                async with connected(loom, mode) as client:
                    told += [text_of(await client.call_tool("who", {})).split(" ") for _ in range(3)]

    assert {who for who, _, _ in told} == {"somebody"}
    assert len({label for _, label, _ in told}) == labels
    assert all(bool(label) == (mode == "legacy") for _, label, _ in told)


# -- whoever wants no answer any more stops the work ---------------------------------------------------------------


@eras
async def test_a_call_that_is_cancelled_ends_the_work_of_the_actor(mode: str) -> None:
    with anyio.fail_after(TEST_S):
        async with replicas() as loom, connected(loom, mode) as client:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.call_tool, "hang")
                await loom.asked.wait()
                tasks.cancel_scope.cancel()

            with anyio.fail_after(90):
                await loom.cancelled.wait()
            assert text_of(await client.call_tool("who", {})).startswith("somebody ")
