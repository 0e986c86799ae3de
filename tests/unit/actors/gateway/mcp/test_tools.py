"""MCP as its official client meets it: both eras of the protocol, HTTP and stdio."""

from __future__ import annotations

import secrets
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import jsonschema
import msgspec
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Implementation, RequestParamsMeta, TextContent

from actors.gateway.edge import edge
from actors.gateway.errors import error_text
from actors.gateway.mcp import PATH
from actors.gateway.mcp.prompts import INSTRUCTIONS
from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS
from actors.gateway.server import serving
from actors.gateway.translate import result_text, to_result
from bus.tracing import Value
from protocol.access import OWNER_NAME
from protocol.browse import BrowseOptions, BrowseResult, StructuredError
from protocol.faults import Code, FaultError, fault
from protocol.pages import BrowsePage
from protocol.schemas import schema
from protocol.subjects import BROWSE
from protocol.tiers import RenderTier
from tests.requirements import requirement
from tests.support.scale import one_in
from tests.unit.actors.gateway_data import (
    BASE,
    BEARER,
    TABLE,
    TRACEPARENT,
    FakeBus,
    RecordedSpan,
    browsed,
    settings,
    traced,
)
from tests.unit.actors.page_data import URL

MODERN = "2026-07-28"
LEGACY = "2025-11-25"
ERAS = ["legacy", "auto", MODERN]
ROOT = Path(__file__).parents[5]

eras = pytest.mark.parametrize("mode", ERAS)


@asynccontextmanager
async def connected(bus: FakeBus, mode: str, program: str = "mcp") -> AsyncGenerator[Client, None]:
    async with edge(bus, settings(), "1.2.3") as (app, _):
        transport = httpx2.ASGITransport(app)
        async with (
            httpx2.AsyncClient(transport=transport, headers=BEARER) as http,
            Client(
                streamable_http_client(BASE + PATH, http_client=http),
                mode=mode,
                client_info=Implementation(name=program, version="1"),
            ) as client,
        ):
            yield client


def text_of(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@requirement("000.1.schema-version")
@eras
async def test_the_tool_is_announced_with_its_schemas(mode: str) -> None:
    async with connected(FakeBus(), mode) as client:
        listed = await client.list_tools()

    tool, *others = listed.tools
    assert (listed.meta or {})["schemaVersion"] == "1.0"
    _, *further = (name for name, one in TOOLS.items() if one.toolset in DEFAULT_TOOLSETS)
    assert [other.name for other in others] == further
    assert (tool.name, tool.title) == ("browse", "Read a web page")
    asked, answered = schema(TOOLS["browse"].arguments), schema(BrowseResult)
    assert list(tool.input_schema["properties"]) == list(asked["properties"])
    assert tool.input_schema["properties"]["query"] == {
        "description": "Words that passages or rows should match.",
        "type": "string",
    }
    assert tool.input_schema["properties"]["maxPages"] == {"type": "integer", "default": 5, "maximum": 50}
    assert tool.input_schema["properties"]["includeHtml"] == {"type": "boolean"}
    freshness = tool.input_schema["properties"]["freshnessRequirement"]
    assert (freshness["enum"], freshness["type"]) == (["any", "cached", "realtime"], "string")
    assert tool.output_schema is not None
    assert tool.output_schema == {
        "type": "object",
        "properties": {
            "url": {"type": "string"},
            "title": {"type": "string"},
            "content": {"type": "object"},
            "metadata": {"type": "object"},
            "fieldConfidence": {"type": "object"},
        },
        "required": answered["required"],
    }
    assert tool.annotations is not None
    assert tool.annotations.model_dump(exclude_none=True) == {"read_only_hint": True}
    assert tool.input_schema["required"] == ["url"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_who_shakes_hands_or_discovers_gets_the_instructions(mode: str) -> None:
    async with connected(FakeBus(), mode) as client:
        server, instructions = client.server_info, client.instructions

    assert server is not None
    assert (server.name, server.version, instructions) == ("weft", "1.2.3", INSTRUCTIONS)


def test_the_instructions_are_short() -> None:
    assert len(INSTRUCTIONS.encode()) < 1_500


@eras
async def test_the_words_of_a_page_come_once_in_a_framed_text(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def token_hex(_bytes: int) -> str:
        return "b0b0"

    monkeypatch.setattr(secrets, "token_hex", token_hex)
    bus = FakeBus(browsed(tables=(TABLE,)))
    arguments = {"url": URL, "maxLatencyMs": 900, "forceTier": "intelligence", "includeDecisionTrace": True}

    async with connected(bus, mode) as client:
        tool, *_ = (await client.list_tools()).tools
        result = await client.call_tool("browse", arguments)

    options = BrowseOptions(max_latency_ms=900, force_tier=RenderTier.INTELLIGENCE, include_decision_trace=True)
    expected = to_result(browsed(tables=(TABLE,)), options)
    assert not result.is_error
    assert result.structured_content is not None
    data = msgspec.json.decode(msgspec.json.encode(expected), type=dict[str, Any])
    assert result.structured_content == {
        name: value for name, value in data.items() if name not in ("content", "tables", "finalUrl")
    } | {"content": {}}
    assert text_of(result) == result_text(expected, "b0b0")
    assert bus.calls == [(BROWSE, BrowsePage(url=URL, options=options, reader=OWNER_NAME), 1_400, 1_500)]
    jsonschema.validate(result.structured_content, tool.output_schema or {})


@eras
async def test_the_words_and_tables_of_a_page_are_data_for_who_asks_for_them(mode: str) -> None:
    bus = FakeBus(browsed(tables=(TABLE,)))

    async with connected(bus, mode) as client:
        result = await client.call_tool("browse", {"url": URL, "include": ["markdown", "tables"]})

    assert result.structured_content is not None
    assert result.structured_content["content"] == {"markdown": "Words about looms."}
    assert result.structured_content["tables"] == [{"headers": ["Loom", "Shafts"], "rows": [["Jack", "8"]]}]


@eras
@pytest.mark.parametrize(("program", "alone"), [("claude-code", True), ("Visual Studio Code", True), ("other", False)])
async def test_a_client_that_shows_data_in_place_of_text_gets_the_text_alone(
    mode: str, program: str, *, alone: bool
) -> None:
    async with connected(FakeBus(browsed()), mode, program) as client:
        tool, *_ = (await client.list_tools()).tools
        result = await client.call_tool("browse", {"url": URL})

    assert (result.structured_content is None, tool.output_schema is None) == (alone, alone)
    assert "Words about looms." in text_of(result)


@eras
@pytest.mark.parametrize("program", ["claude-code", "other"])
async def test_data_that_are_asked_for_are_text_where_the_text_is_all(mode: str, program: str) -> None:
    bus = FakeBus(browsed(tables=(TABLE,)))

    async with connected(bus, mode, program) as client:
        asked = text_of(await client.call_tool("browse", {"url": URL, "include": ["tables"]}))
        plain = text_of(await client.call_tool("browse", {"url": URL}))

    framed = '\n{"tables":[{"headers":["Loom","Shafts"],"rows":[["Jack","8"]]}]}\n'
    assert (framed in asked, "Jack" in plain) == (program == "claude-code", False)


@eras
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "url"),
        ({"url": 7}, "url"),
        ({"url": URL, "nope": 1}, "nope"),
        ({"url": URL, "maxLatencyMs": "5"}, "maxLatencyMs"),
        ({"url": URL, "options": {}}, "options"),
    ],
)
async def test_a_mistake_in_the_arguments_can_be_mended(mode: str, arguments: dict[str, Any], field: str) -> None:
    bus = FakeBus(browsed())

    async with connected(bus, mode) as client:
        result = await client.call_tool("browse", arguments)

    error = msgspec.convert(result.structured_content, StructuredError)
    assert result.is_error
    assert (error.code, error.field) == (Code.VALIDATION_INVALID_REQUEST, field)
    assert text_of(result) == error_text(error)
    assert bus.calls == []


async def test_an_option_at_fault_is_named_as_the_argument_that_it_is() -> None:
    failure = fault(Code.AUTH_MISSING_SESSION, "options.sessionProfile: none", field="options.sessionProfile")

    async with connected(FakeBus(FaultError(failure)), "auto") as client:
        result = await client.call_tool("browse", {"url": URL})

    error = msgspec.convert(result.structured_content, StructuredError)
    assert (error.field, error.error) == ("sessionProfile", "sessionProfile: none")


@eras
async def test_a_fault_is_an_error_that_says_what_to_do(mode: str) -> None:
    told = fault(Code.CONTENT_REQUIRES_JS).at(url=URL, tier="intelligence", attempt=1)

    async with connected(FakeBus(FaultError(told)), mode) as client:
        result = await client.call_tool("browse", {"url": URL})

    assert result.is_error
    error = msgspec.convert(result.structured_content, StructuredError)
    first = {"url": URL, "forceTier": "playwright", "attempt": ["use_browser_tier"]}
    assert (error.error, error.context, error.retryable) == (told.message, told.context, True)
    assert error.recommended_actions[0].parameters == first
    assert text_of(result) == error_text(error)


@pytest.mark.slow
@eras
async def test_what_nobody_foresaw_says_nothing_of_the_inside(mode: str) -> None:
    async with connected(FakeBus(RuntimeError("secret inside")), mode) as client:
        result = await client.call_tool("browse", {"url": URL})

    error = msgspec.convert(result.structured_content, StructuredError)
    assert (result.is_error, error.code) == (True, Code.INTERNAL_ERROR)
    assert "secret" not in text_of(result)


@eras
async def test_an_unknown_tool_is_a_protocol_error(mode: str) -> None:
    async with connected(FakeBus(), mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("fly", {})

    assert (caught.value.error.code, caught.value.error.message) == (-32602, "Unknown tool: fly")


@eras
async def test_a_call_continues_the_trace_of_its_caller(mode: str) -> None:
    meta = cast("RequestParamsMeta", {"traceparent": TRACEPARENT})  # an open map, which mypy cannot tell
    with traced() as recording:
        async with connected(FakeBus(FaultError(fault(Code.CONTENT_EMPTY))), mode) as client:
            await client.call_tool("browse", {"url": URL}, meta=meta)

    calls = [span for span in recording.spans if span.name == "tools/call browse"]
    facts: dict[str, Value] = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "browse",
    }
    assert calls == [RecordedSpan("tools/call browse", "server", TRACEPARENT, facts, failure="CONTENT_EMPTY")]


# -- a real server: whoever closes the response cancels ------------------------------------------------------------


def _call(version: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Write a call of the tool as each era does."""
    params: dict[str, Any] = {"name": "browse", "arguments": {"url": URL}}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version, **BEARER}
    if version == MODERN:
        headers |= {"mcp-method": "tools/call", "mcp-name": "browse"}
        prefix = "io.modelcontextprotocol/"
        params["_meta"] = {f"{prefix}protocolVersion": MODERN, f"{prefix}clientCapabilities": {}}
    return headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


@pytest.mark.parametrize("version", [LEGACY, MODERN])
async def test_a_client_that_closes_the_response_ends_the_call(version: str) -> None:
    bus, (headers, body) = FakeBus(), _call(version)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]

    async with (
        edge(bus, settings(port=port), "1.2.3") as (app, abandon),
        serving(app, listener, 1_000, abandon),
        httpx2.AsyncClient(headers=headers, trust_env=False, verify=False, timeout=90) as http,
    ):
        with anyio.fail_after(90):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: http.post(f"http://127.0.0.1:{port}{PATH}", json=body))
                await bus.asked.wait()
                tasks.cancel_scope.cancel()

            await bus.cancelled.wait()


# -- stdio ---------------------------------------------------------------------------------------------------------

PROGRAM = """
import sys, anyio
from actors.gateway.mcp.server import serve_stdio
from actors.gateway.mcp.replica_state import ReplicaState
from tests.unit.actors.gateway_data import FakeBus, browsed, settings

class Noisy(FakeBus):
    async def call(self, *arguments, **options):
        print("this is no protocol", flush=True)
        return await super().call(*arguments, **options)

anyio.run(serve_stdio, Noisy(browsed()), settings(), ReplicaState("here"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", one_in(2, ERAS))
async def test_stdio_speaks_nothing_but_the_protocol(mode: str) -> None:
    program = StdioServerParameters(command=sys.executable, args=["-c", PROGRAM], cwd=ROOT)

    with anyio.fail_after(90):
        async with Client(program, mode=mode) as client:
            result = await client.call_tool("browse", {"url": URL})

    assert (result.structured_content or {})["url"] == URL
