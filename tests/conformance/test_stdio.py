"""What an actor brings is there over stdio, too, with all that it wants of the user and says on the way."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import ElicitResult, TextContent

from tests.conformance.serving import gateway
from tests.support.system import environment
from tests.support.system import weft as command

pytestmark = [pytest.mark.nats, pytest.mark.slow]

TEST_S = 240.0


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_what_is_offered_is_served_over_stdio(tmp_path: Path, mode: str) -> None:
    asked, steps = list[str](), list[float]()

    async def elicited(context: Any, params: Any) -> ElicitResult:
        del context
        await checkpoint()
        asked.append(params.message)
        return ElicitResult(action="accept", content={"username": "ada", "email": "ada@example.com"})

    async def stepped(progress: float, total: float | None, message: str | None) -> None:
        await checkpoint()
        steps.append(progress)
        assert (total, message) == (100, f"{progress:g} of 100")

    with anyio.fail_after(TEST_S):
        async with gateway(tmp_path) as (weft, _, url):
            server = StdioServerParameters(
                command=sys.executable, args=command("mcp")[1:], env=environment(weft.data_dir, WEFT_NATS_URL=url)
            )
            async with Client(server, mode=mode, elicitation_callback=elicited) as client:
                tools = {tool.name for tool in (await client.list_tools()).tools}
                greeted = await client.call_tool("greet", {"name": "Ada"})
                answered = await client.call_tool("test_elicitation", {"message": "Who are you?"})
                await client.call_tool("test_tool_with_progress", progress_callback=stepped)
                read = await client.read_resource("test://template/7/data")

    assert {"browse", "greet"} <= tools
    assert _text(greeted) == "Hello, Ada!"
    assert asked == ["Who are you?"]
    assert "ada@example.com" in _text(answered)
    assert steps == [0, 50, 100]
    assert str(read.contents[0].uri) == "test://template/7/data"


def _text(result: Any) -> str:
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text
