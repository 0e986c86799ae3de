"""One call of a tool, from the arguments of a client to the result that it gets."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import structlog
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, ImageContent, TextContent
from msgspec import Struct

from actors.gateway.asking import Desk
from actors.gateway.mcp.table import TOOLS
from actors.gateway.mcp.tool import Image, ToolEntry
from actors.gateway.translate import error_text, to_error
from bus import conversation, span
from bus.context import current_conversation
from protocol.codec import malformed
from protocol.faults import Code, Fault, FaultError, fault

log = structlog.stdlib.get_logger()

TOOL_FAILED = "tool_failed"

MAX_QUOTED_CHARS = 64

A = TypeVar("A", bound=Struct)


async def call_tool(desk: Desk, params: CallToolRequestParams, context: ServerRequestContext[Any]) -> CallToolResult:
    """Run a tool; what goes wrong is a result that the model can read."""
    entry = TOOLS.get(params.name)
    if entry is None:
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:MAX_QUOTED_CHARS]}")
    facts = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": params.name}
    trace = _trace(context)
    with span(f"tools/call {params.name}", "server", facts, trace) as recording, conversation(current_conversation()):
        try:
            answer = await entry.run(desk, _arguments(entry, params.arguments))
        except FaultError as error:
            recording.fail(error.fault.code)
            return _failed(error.fault)
        except Exception:
            log.exception(TOOL_FAILED, tool=params.name)
            recording.fail(Code.INTERNAL_ERROR)
            return _failed(fault(Code.INTERNAL_ERROR))
        return _result(answer.text, answer.data, answer.images)


def _arguments(entry: ToolEntry[A], given: dict[str, Any] | None) -> A:
    try:
        return msgspec.convert(given or {}, entry.arguments)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error)) from None


def _failed(told: Fault) -> CallToolResult:
    error = to_error(told)
    return _result(error_text(error), error, is_error=True)


def _result(text: str, data: Struct, images: tuple[Image, ...] = (), *, is_error: bool = False) -> CallToolResult:
    shown = [ImageContent(data=base64.b64encode(one.data).decode(), mime_type=one.media_type) for one in images]
    return CallToolResult(
        content=[TextContent(type="text", text=text), *shown],
        structured_content=msgspec.to_builtins(data),
        is_error=is_error,
    )


def _trace(context: ServerRequestContext[Any]) -> Mapping[str, str]:
    """Read the W3C trace context that a client may send with a call, in any transport."""
    return {name: value for name, value in (context.meta or {}).items() if isinstance(value, str)}
