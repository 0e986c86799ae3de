"""The tools of learned APIs, in a toolset of their own: call one, and say whether it was right."""

from __future__ import annotations

import secrets
from typing import Any, Final

import msgspec
from mcp.types import ToolAnnotations

from actors.gateway import patterns
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from actors.gateway.translate import cut_text, framed_parts
from protocol.patterns.listing import ApiCalled, PatternJudged
from protocol.tools.patterns import PATTERN_TOOLS as REGISTERED
from protocol.tools.patterns import AiFeedback, ExecuteApiCall
from protocol.tools.tool import Surface

BOUNDARY_BYTES: Final = 8
MAX_TEXT_BYTES: Final = 18_000
"""The words of the web in one answer at most: with ours it stays below 20 KB."""


async def _call(app: AppContext, request: RequestContext, arguments: ExecuteApiCall) -> ToolAnswer:
    called = await patterns.call_api(app, request, arguments, Surface.MCP)
    share = MAX_TEXT_BYTES // max(len(called.answers), 1)
    written = (msgspec.json.encode(one).decode() for one in called.answers)
    parts = {f"answer {number}": cut_text(text, share) for number, text in enumerate(written, 1)}
    return ToolAnswer(framed_parts(parts, secrets.token_hex(BOUNDARY_BYTES)), called)


async def _feedback(app: AppContext, request: RequestContext, arguments: AiFeedback) -> ToolAnswer:
    judged = await patterns.feedback(app, request, arguments, Surface.MCP)
    pattern = judged.pattern
    text = f"{pattern.pattern_id} has a score of {pattern.confidence_score:.2f} now ({pattern.trust})."
    return ToolAnswer(text, judged)


PATTERN_TOOLS = by_name(
    BuiltinTool[Any](
        REGISTERED[patterns.CALL_TOOL],
        _call,
        title="Call a learned API",
        answer=ApiCalled,
        words_in_text=True,
        toolset=Toolset.PATTERNS,
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=True),
    ),
    BuiltinTool[Any](
        REGISTERED[patterns.FEEDBACK_TOOL],
        _feedback,
        title="Judge a learned pattern",
        answer=PatternJudged,
        toolset=Toolset.PATTERNS,
        annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=False),
    ),
)
"""The tools, by their names."""
