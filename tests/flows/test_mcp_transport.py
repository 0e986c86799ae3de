"""What travels beside the answers of MCP: progress, the choice of tools, and questions to clients of any replica."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import cycle
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio.lowlevel import checkpoint
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequestParams,
    ElicitResult,
    TextContent,
)

from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import Toolset
from bus.seal import new_key
from tests.conformance.fixture import fixture
from tests.flows.mcp_clients import Era, Transport, connected, text_of
from tests.flows.system import CALL_S, System
from tests.site import Site
from tests.support.nats import serve_open_nats
from tests.support.scale import first, sized
from tests.support.system import environment, running_weft, stop_process
from tests.support.system import weft as command

pytestmark = pytest.mark.nats

KEY = "key-of-both-replicas"
ROUNDS = sized(8, 25)
LOOK_S = 0.02

everywhere = pytest.mark.parametrize(
    ("transport", "era"), first(2, [("http", "legacy"), ("stdio", "auto"), ("http", "auto"), ("stdio", "legacy")])
)


@everywhere
@pytest.mark.slow
async def test_a_client_that_wants_to_know_hears_how_far_a_page_is(
    weft: System, site: Site, transport: Transport, era: Era
) -> None:
    told = list[tuple[float, str | None]]()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        await checkpoint()
        assert total is None
        told.append((progress, message))

    async with connected(weft, transport, era) as client:
        await client.call_tool("browse", {"url": site.url("/spa")}, progress_callback=hear)

    assert told == [
        (0, "Reading the page as the site sends it."),
        (1, "Running the scripts of the page without a browser."),
        (2, "Opening the page in a real browser."),
    ]


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_the_address_chooses_what_is_listed_and_what_may_be_called(weft: System, era: Era) -> None:
    async with connected(weft, era=era, query="?toolsets=core") as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        with pytest.raises(MCPError) as caught:
            await client.call_tool("list_sessions", {})

    assert listed == [name for name, entry in TOOLS.items() if entry.toolset is Toolset.CORE]
    assert caught.value.code == INVALID_PARAMS


@pytest.mark.slow
async def test_the_setting_chooses_the_tools_of_stdio(weft: System) -> None:
    settings = environment(weft.data_dir, WEFT_TOOLSETS="core")
    server = StdioServerParameters(command=sys.executable, args=command("mcp")[1:], env=settings, cwd=Path.cwd())
    with anyio.fail_after(CALL_S):
        async with Client(stdio_client(server)) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]

    assert listed == [name for name, entry in TOOLS.items() if entry.toolset is Toolset.CORE]


@pytest.mark.slow
async def test_who_listens_holds_up_no_stop(tmp_path: Path) -> None:
    prefix = "io.modelcontextprotocol/"
    meta: dict[str, object] = {f"{prefix}protocolVersion": "2026-07-28", f"{prefix}clientCapabilities": {}}
    body: dict[str, object] = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "subscriptions/listen",
        "params": {"notifications": {"toolsListChanged": True}, "_meta": meta},
    }
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28"}
    headers["mcp-method"] = "subscriptions/listen"
    statuses, rest = list[int](), list[str]()
    async with (
        running_weft(tmp_path, ("--actors", "gateway"), stop=False, WEFT_DRAIN_MS="60000") as weft,
        weft.client() as client,
        client.stream("POST", "/mcp", json=body, headers=headers) as answer,
    ):

        async def stop() -> None:
            statuses.append(await stop_process(weft.process))

        lines = answer.aiter_lines()
        await anext(lines)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stop)
            async for line in lines:
                rest.append(line)

    assert (statuses, any("-32000" in line for line in rest)) == ([0], True)


# -- two replicas that share nothing but the bus -------------------------------------------------------------------


class RoundRobin(httpx2.AsyncBaseTransport):
    """Sends each request to the next replica, as a balancer that knows of no sessions does."""

    def __init__(self, *urls: str) -> None:
        self._urls = cycle(httpx2.URL(url) for url in urls)
        self._transport = httpx2.AsyncHTTPTransport()
        self.statuses = Counter[int]()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = next(self._urls)
        request.headers["host"] = f"{request.url.host}:{request.url.port}"
        response = await self._transport.handle_async_request(request)
        self.statuses[response.status_code] += 1
        return response

    async def aclose(self) -> None:
        await self._transport.aclose()


async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    del context
    await checkpoint()
    return ElicitResult(action="accept", content={"username": "weaver", "email": f"{len(params.message)}@example.com"})


async def sample(context: ClientRequestContext, params: CreateMessageRequestParams) -> CreateMessageResult:
    del context, params
    await checkpoint()
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Shuttle"), model="loom")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("era", first(1, ["legacy", "auto"]))
async def test_users_and_models_are_asked_whichever_replica_gets_the_reply(tmp_path: Path, era: Era) -> None:
    async with serve_open_nats(tmp_path / "nats") as url, fixture(url):
        arguments, vault = ("--nats", url, "--actors", "gateway"), new_key()
        first = running_weft(tmp_path / "first", arguments, WEFT_API_KEY=KEY, WEFT_VAULT_KEY=vault)
        second = running_weft(tmp_path / "second", arguments, WEFT_API_KEY=KEY, WEFT_VAULT_KEY=vault)
        async with first as one, second as other:
            turns = RoundRobin(one.ready.mcp, other.ready.mcp)
            headers = {"Authorization": f"Bearer {KEY}"}
            told = list[tuple[str, str]]()
            with anyio.fail_after(CALL_S):
                async with (
                    httpx2.AsyncClient(transport=turns, headers=headers, timeout=CALL_S) as http,
                    Client(
                        streamable_http_client(one.ready.mcp, http_client=http),
                        mode=era,
                        elicitation_callback=answer,
                        sampling_callback=sample,
                    ) as client,
                ):
                    await _until_offered(client)
                    for _ in range(ROUNDS):
                        user = await client.call_tool("test_elicitation", {"message": "Who are you?"})
                        model = await client.call_tool("test_sampling", {"prompt": "Say a word"})
                        told.append((text_of(user), text_of(model)))

    assert len(told) == ROUNDS
    assert all("weaver" in user and "Shuttle" in model for user, model in told), told
    assert set(turns.statuses) <= {200, 202, 405}


async def _until_offered(client: Client) -> None:
    """Wait until both replicas have heard what is offered; each list is the next one's."""
    found = 0
    while found < 2:
        listed = await client.list_tools(cache_mode="bypass")
        found = found + 1 if "test_sampling" in [tool.name for tool in listed.tools] else 0
        await anyio.sleep(LOOK_S)
