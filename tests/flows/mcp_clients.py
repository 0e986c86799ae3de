"""The official MCP client, connected to the system that runs, over each transport and in each era of the protocol."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from tests.flows.system import CALL_S, System
from tests.support.system import environment
from tests.support.system import weft as command

Transport = Literal["http", "stdio"]
Era = Literal["legacy", "auto"]


@asynccontextmanager
async def connected(  # noqa: PLR0913 - what clients differ in
    weft: System,
    transport: Transport = "http",
    era: Era = "auto",
    limit_s: float = CALL_S,
    query: str = "",
    *,
    key: str = "",
) -> AsyncGenerator[Client]:
    """Connect the official client; the whole block has a deadline. Over HTTP it shows `key`, or that of the owner."""
    with anyio.fail_after(limit_s):
        if transport == "http":
            headers = {"Authorization": f"Bearer {key or weft.key}"}
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False, timeout=limit_s) as http,
                Client(streamable_http_client(weft.ready.mcp + query, http_client=http), mode=era) as client,
            ):
                yield client
        else:
            server = StdioServerParameters(
                command=sys.executable, args=command("mcp")[1:], env=environment(weft.data_dir), cwd=Path.cwd()
            )
            with (weft.data_dir / "mcp-stderr.log").open("a", encoding="utf-8") as errors:
                async with Client(stdio_client(server, errlog=errors), mode=era) as client:
                    yield client


def text_of(result: CallToolResult) -> str:
    """Return the one text of an answer."""
    (text,) = (content.text for content in result.content if isinstance(content, TextContent))
    return text
