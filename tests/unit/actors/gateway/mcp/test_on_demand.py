"""The endpoint of MCP is loaded by its first client, once, and a failure to load it is told."""

from __future__ import annotations

import subprocess
import sys

import anyio
import httpx2
import msgspec
import pytest
from starlette.types import Receive, Scope, Send

from actors.gateway.app_context import AppContext
from actors.gateway.mcp import PATH, on_demand
from actors.gateway.mcp.on_demand import McpOnDemand
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS
from actors.gateway.request import RequestContext, with_request
from bus import Bus
from bus.memory import Broker
from protocol.browse import StructuredError
from protocol.faults import Code
from tests.unit.actors.gateway.mcp.replicas import LEGACY

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": LEGACY}


async def test_the_first_clients_load_it_once_and_a_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    loads, load = list[str](), on_demand._load  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - to see it called

    def loaded() -> on_demand.Make:
        loads.append("")
        if len(loads) == 1:
            raise ImportError("mcp")
        return load()

    monkeypatch.setattr(on_demand, "_load", loaded)
    async with Broker() as broker:
        bus = Bus(broker.connect("gateway"), "gateway", "r1")
        endpoint = McpOnDemand(AppContext(bus=bus, grace_ms=0, version="1"), ReplicaState("r1"), DEFAULT_TOOLSETS)

        async def gate(scope: Scope, receive: Receive, send: Send) -> None:
            await endpoint(with_request(scope, RequestContext()), receive, send)

        async with (
            bus.running(),
            endpoint.running(),
            httpx2.AsyncClient(transport=httpx2.ASGITransport(app=gate), base_url="http://127.0.0.1") as client,
        ):
            failed = await client.post(PATH, json=PING, headers=HEADERS)
            answers = list[int]()

            async def ping() -> None:
                answers.append((await client.post(PATH, json=PING, headers=HEADERS)).status_code)

            async with anyio.create_task_group() as clients:
                clients.start_soon(ping)
                clients.start_soon(ping)

    assert failed.status_code == 500
    assert msgspec.json.decode(failed.content, type=StructuredError).code is Code.INTERNAL_ERROR
    assert (answers, len(loads)) == ([200, 200], 2)


def test_a_gateway_starts_without_the_sdk() -> None:
    code = "import sys, actors.gateway.actor; print({'mcp', 'mcp_types', 'pydantic'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
