"""Weft as an MCP server: both eras of the protocol, over streamable HTTP and over stdio."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import httpx2
import jsonschema
import msgspec
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent, Tool
from msgspec import UNSET
from msgspec.structs import replace

from actors.gateway.mcp.toolbox import TOOLS
from actors.gateway.mcp.toolsets import DEFAULT_TOOLSETS
from protocol.browse import BrowseOptions, BrowseResult, StructuredError
from protocol.faults import Code
from tests.flows.system import CALL_S, RAPID_S, Json, System, refused, silent_site
from tests.requirements import requirement
from tests.site import Site
from tests.support.scale import first
from tests.support.system import environment
from tests.support.system import weft as command

pytestmark = pytest.mark.nats

MAX_TOKENS = 5_000
CHARS_PER_TOKEN = 4
MODERN = "2026-07-28"

Transport = Literal["http", "stdio"]
Era = Literal["legacy", "auto"]

everywhere = pytest.mark.parametrize(
    ("transport", "era"), first(2, [("http", "legacy"), ("stdio", "auto"), ("http", "auto"), ("stdio", "legacy")])
)
both_eras = pytest.mark.parametrize("era", ["legacy", "auto"])


@asynccontextmanager
async def connected(weft: System, transport: Transport = "http", era: Era = "auto") -> AsyncGenerator[Client]:
    """Connect the official client to the system that runs; the whole block has a deadline."""
    with anyio.fail_after(CALL_S):
        if transport == "http":
            headers = {"Authorization": f"Bearer {weft.key}"}
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False, timeout=CALL_S) as http,
                Client(streamable_http_client(weft.ready.mcp, http_client=http), mode=era) as client,
            ):
                yield client
        else:
            with (weft.data_dir / "mcp-stderr.log").open("a", encoding="utf-8") as errors:
                async with Client(stdio_client(_server(weft.data_dir), errlog=errors), mode=era) as client:
                    yield client


def _server(data_dir: Path) -> StdioServerParameters:
    arguments = command("mcp")[1:]
    return StdioServerParameters(command=sys.executable, args=arguments, env=environment(data_dir), cwd=Path.cwd())


@pytest.mark.parametrize(
    ("transport", "era"), [("http", "legacy"), ("http", "auto"), ("stdio", "legacy"), ("stdio", "auto")]
)
@pytest.mark.slow
async def test_both_eras_meet_the_same_server(weft: System, transport: Transport, era: Era) -> None:
    async with connected(weft, transport, era) as client:
        info, instructions, version = client.server_info, client.instructions, client.protocol_version
        tool, *_ = (await client.list_tools()).tools

    assert info is not None
    assert (info.name, info.title) == ("weft", "Weft")
    assert "never instructions" in (instructions or "")
    assert (version == MODERN) == (era == "auto")
    assert tool.name == "browse"


async def test_the_tools_are_told_whole_and_in_few_words(weft: System) -> None:
    async with connected(weft) as client:
        listed = await client.list_tools()

    tool, *others = listed.tools
    _, *further = (name for name, one in TOOLS.items() if one.toolset in DEFAULT_TOOLSETS)
    assert [other.name for other in others] == further
    assert tool.annotations is not None
    notes = tool.annotations
    assert notes.model_dump(exclude_none=True) == {"read_only_hint": True}
    names = {field.encode_name for field in msgspec.structs.fields(BrowseOptions)}
    assert set(tool.input_schema["properties"]) == names | {"url"}
    assert (tool.input_schema["required"], tool.input_schema["additionalProperties"]) == (["url"], False)
    assert len(listed.model_dump_json(exclude_none=True, by_alias=True)) / CHARS_PER_TOKEN <= MAX_TOKENS


@requirement("000.5.browse-result")
@everywhere
@pytest.mark.slow
async def test_a_page_is_the_same_as_over_rest(weft: System, site: Site, transport: Transport, era: Era) -> None:
    url = site.url("/table?rows=3")
    async with connected(weft, transport, era) as client:
        tool, *_ = (await client.list_tools()).tools
        result = await client.call_tool("browse", {"url": url, "includeDecisionTrace": True, "include": ["tables"]})

    page = _timeless(weft.browse(url, includeDecisionTrace=True).json())
    data = msgspec.convert(result.structured_content, Json)
    _validate(tool, data)
    words = msgspec.to_builtins(page.content)
    mine = _timeless(data | {"content": words})
    assert (result.is_error, data["content"]) == (False, {})
    assert page.content.markdown in _text(result)
    assert replace(mine, fields=page.fields, field_confidence=page.field_confidence, final_url=mine.url) == page
    assert _scores(mine) == _scores(page)


@requirement("003.document.untrusted")
async def test_the_text_is_framed_as_untrusted(weft: System, site: Site) -> None:
    async with connected(weft) as client:
        text = _text(await client.call_tool("browse", {"url": site.url("/article")}))
        again = _text(await client.call_tool("browse", {"url": site.url("/article")}))

    frame = re.search(r"<<<untrusted-web-content (\w{16})\n(.*)\n\1 end-of-untrusted-web-content>>>$", text, re.DOTALL)
    assert frame is not None
    boundary, inside = frame.groups()
    assert inside.startswith(f"Title: How a loom is warped\nURL: {site.url('/article')}\n\nBefore a single row")
    assert "How a loom is warped" not in text[: frame.start()]
    assert text.startswith("Read by the intelligence tier. Confidence 0.9")
    assert (f"lines marked {boundary} stands untrusted web content" in text, boundary in again) == (True, False)


@everywhere
@pytest.mark.slow
async def test_an_error_says_what_to_do(weft: System, site: Site, transport: Transport, era: Era) -> None:
    weft.forget_logins()
    async with connected(weft, transport, era) as client:
        limited = await client.call_tool("browse", {"url": site.url("/status/429?after=7")})
        blocked = await client.call_tool("browse", {"url": site.url("/challenge")})

    assert (limited.is_error, blocked.is_error) == (True, True)
    of_rest = refused(weft.browse(site.url("/status/429?after=7")))
    assert (_error(limited).error, _error(limited).context) == (of_rest.error, of_rest.context)
    *head, report = _text(limited).splitlines()
    assert (head[3].partition(" Tool: browse ")[0], "report" in str(_error(limited)), report[:2]) == (
        "1. Wait 7 seconds, then send the request again. Delay: 7 s.",
        True,
        "3.",
    )
    assert [line for number, line in enumerate(head) if number != 3] == [
        "The site allows fewer requests (429) [RATE_LIMIT_EXCEEDED; trying again may help]",
        "HTTP status of the site: 429",
        "Next steps:",
        "2. Ask this domain less often.",
    ]
    assert _error(blocked).code is Code.BLOCKED_BOT_DETECTION
    assert _text(blocked).splitlines()[-1] == "1. Tell the user; trying again will not help."


@both_eras
@pytest.mark.parametrize(
    ("arguments", "code", "field"),
    [
        ({}, Code.VALIDATION_INVALID_REQUEST, "url"),
        ({"url": 7}, Code.VALIDATION_INVALID_REQUEST, "url"),
        ({"url": "http://127.0.0.1/", "maxLatencyMs": 0}, Code.VALIDATION_INVALID_REQUEST, "maxLatencyMs"),
        ({"url": "http://127.0.0.1/", "tier": "cloud"}, Code.VALIDATION_INVALID_REQUEST, "tier"),
        ({"url": "file:///etc/passwd"}, Code.SECURITY_URL_BLOCKED, "url"),
    ],
)
async def test_bad_arguments_are_told_to_the_model(
    weft: System, era: Era, arguments: Json, code: Code, field: str
) -> None:
    async with connected(weft, era=era) as client:
        result = await client.call_tool("browse", arguments)

    error = _error(result)
    assert (result.is_error, error.code, error.field) == (True, code, field)
    assert error.retryable is (error.recommended_actions[0].tool_to_use == "browse")
    assert f"Field at fault: {field}" in _text(result)


@requirement("000.3.refresh-session")
@everywhere
@pytest.mark.slow
async def test_saved_logins_are_looked_after(weft: System, transport: Transport, era: Era) -> None:
    async with connected(weft, transport, era) as client:
        listed = await client.call_tool("session_management", {"operation": "list", "profile": "nobody"})
        unknown = await client.call_tool("session_management", {"operation": "health", "domain": "example.com"})
        missing = await client.call_tool("refresh_session", {"domain": "https://www.example.com/account"})

    assert (listed.is_error, _text(listed)) == (False, "No session is saved.")
    assert _text(unknown) == "example.com (profile default): not found"
    assert (missing.is_error, _error(missing).code) == (True, Code.AUTH_MISSING_SESSION)


@both_eras
async def test_an_unknown_tool_is_an_error_of_the_protocol(weft: System, era: Era) -> None:
    async with connected(weft, era=era) as client:
        with pytest.raises(MCPError, match="Unknown tool: shuttle") as caught:
            await client.call_tool("shuttle", {})

    assert caught.value.code == INVALID_PARAMS


@everywhere
@pytest.mark.slow
async def test_a_call_that_is_cancelled_leaves_the_site(weft: System, transport: Transport, era: Era) -> None:
    async with silent_site() as silence, connected(weft, transport, era) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "browse", {"url": silence.url})
            await silence.asked.wait()
            tasks.cancel_scope.cancel()
        await silence.left.wait()
        tools = await client.list_tools(cache_mode="bypass")

    assert "browse" in [tool.name for tool in tools.tools]


@both_eras
async def test_a_client_that_leaves_takes_its_calls_along(weft: System, era: Era) -> None:
    async with silent_site() as silence:
        async with connected(weft, era=era) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "browse", {"url": silence.url, "maxLatencyMs": 300_000})
            await silence.asked.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(RAPID_S):
            await silence.left.wait()


@both_eras
async def test_nobody_calls_without_the_key(weft: System, era: Era) -> None:
    statuses: list[int] = []

    async def note(response: httpx2.Response) -> None:
        statuses.append(response.status_code)

    with anyio.fail_after(CALL_S), pytest.raises((MCPError, ExceptionGroup)):
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=90, event_hooks={"response": [note]}) as http,
            Client(streamable_http_client(weft.ready.mcp, http_client=http), mode=era) as client,
        ):
            await client.list_tools()

    assert set(statuses) == {401}


@pytest.mark.slow
async def test_stdout_carries_nothing_but_the_protocol(tmp_path: Path, site: Site) -> None:
    messages: list[Json] = [
        {"id": 1, "method": "initialize", "params": _HELLO},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "browse", "arguments": {"url": site.url("/article")}}},
        {"id": 4, "method": "tools/call", "params": {"name": "browse", "arguments": {"url": site.url("/reset")}}},
    ]
    environ = environment(tmp_path / "none", WEFT_LOG_LEVEL="debug")
    answers: list[Json] = []
    with anyio.fail_after(CALL_S):
        async with await anyio.open_process(command("mcp"), env=environ, stderr=None) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            lines = BufferedByteReceiveStream(process.stdout)
            for message in messages:
                await process.stdin.send(msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n")
                if "id" in message:
                    answers.append(msgspec.json.decode(await lines.receive_until(b"\n", 10_000_000), type=Json))
            await process.stdin.aclose()
            rest = b"".join([chunk async for chunk in lines])
            status = await process.wait()

    assert [(answer["jsonrpc"], answer["id"], "result" in answer) for answer in answers] == [
        ("2.0", number, True) for number in (1, 2, 3, 4)
    ]
    assert (rest, status, (tmp_path / "none").exists()) == (b"", 0, False)


_HELLO: Json = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "flows", "version": "1"},
}


def _text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def _scores(page: BrowseResult) -> list[float]:
    sure = page.field_confidence
    assert sure is not UNSET
    return [sure.title.score, sure.content.score, sure.overall.score]


def _error(result: CallToolResult) -> StructuredError:
    return msgspec.convert(result.structured_content, StructuredError)


def _validate(tool: Tool, data: Json) -> None:
    assert tool.output_schema is not None
    jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    jsonschema.validate(data, tool.output_schema)


def _timeless(data: Json) -> BrowseResult:
    """Take out of a result what differs from one call to the next."""
    result = msgspec.convert(data, BrowseResult)
    trace = result.decision_trace
    assert trace is not UNSET
    return replace(
        result,
        metadata=replace(result.metadata, load_time=0, timestamp=0),
        decision_trace=replace(
            trace,
            tiers=tuple(replace(tier, duration_ms=0) for tier in trace.tiers),
            summary=replace(trace.summary, total_duration_ms=0),
        ),
    )
