"""The tool that reaches a goal by other tools, in the toolset of collections."""

from __future__ import annotations

import secrets
from typing import Any

from mcp.types import ToolAnnotations
from msgspec import UNSET, structs

from actors.gateway import agent
from actors.gateway.agent import AgentRequest, AgentResult, agent_text
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from protocol.tools.web import WEB_TOOLS, AgentArguments

BOUNDARY_BYTES = 8


async def _run(app: AppContext, request: RequestContext, arguments: AgentArguments) -> ToolAnswer:
    result = await agent.run_or_ask(app, request, AgentRequest(**structs.asdict(arguments)))
    without_words = structs.replace(result, answer=structs.replace(result.answer, markdown=UNSET))
    return ToolAnswer(agent_text(result, secrets.token_hex(BOUNDARY_BYTES)), without_words)


AGENT_TOOLS = by_name(
    BuiltinTool[Any](
        WEB_TOOLS["agent"],
        _run,
        title="Reach a goal",
        answer=AgentResult,
        plain=frozenset({"conversation", "goal", "tools"}),
        words_in_text=True,
        asks=True,
        toolset=Toolset.COLLECTIONS,
        annotations=ToolAnnotations(read_only_hint=False, open_world_hint=True),
    )
)
"""The tool, by its name."""
