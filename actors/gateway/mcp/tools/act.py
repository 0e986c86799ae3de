"""The tool that reaches a goal on a page of the browser, in the toolset of acting."""

from __future__ import annotations

import secrets
from typing import Any

from mcp.types import ToolAnnotations

from actors.gateway import act
from actors.gateway.act import ActRequest, ActResult, act_text
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.resources import capture_link
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from protocol.pages import Captured
from protocol.tools.web import WEB_TOOLS, ActArguments

BOUNDARY_BYTES = 8


async def _run(app: AppContext, request: RequestContext, arguments: ActArguments) -> ToolAnswer:
    wanted = ActRequest(
        goal=arguments.goal,
        url=arguments.url,
        session=arguments.session_id,
        values=arguments.values,
        max_steps=arguments.max_steps,
        task_id=arguments.task_id,
        words=arguments.words,
        local_only=arguments.local_only,
    )
    result = await act.act(app, request, wanted)
    links = (capture_link(result.screenshot),) if isinstance(result.screenshot, Captured) else ()
    return ToolAnswer(act_text(result, secrets.token_hex(BOUNDARY_BYTES)), result, links=links)


ACT_TOOLS = by_name(
    BuiltinTool[Any](
        WEB_TOOLS["act"],
        _run,
        title="Act on a page",
        answer=ActResult,
        plain=frozenset({"goal", "sessionId", "maxSteps", "localOnly"}),
        toolset=Toolset.ACTING,
        annotations=ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True),
    )
)
"""The tool, by its name."""
