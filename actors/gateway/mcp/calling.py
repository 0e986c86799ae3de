"""One call of a tool, from the arguments of a client to the result that it gets."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import structlog
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams
from msgspec import Struct

from actors.gateway.app_context import AppContext
from actors.gateway.mcp.offers import written
from actors.gateway.mcp.offers.clients import Context, knows_tasks
from actors.gateway.mcp.offers.written import Wire
from actors.gateway.mcp.table import TOOLS
from actors.gateway.mcp.tool import Answer, Link, ToolEntry
from actors.gateway.request import RequestContext
from bus import conversation, span
from bus.context import current_conversation
from protocol.codec import malformed
from protocol.faults import Code, FaultError, fault

log = structlog.stdlib.get_logger()

TOOL_FAILED = "tool_failed"

MAX_QUOTED_CHARS = 64

A = TypeVar("A", bound=Struct)


async def call_tool(app: AppContext, params: CallToolRequestParams, context: Context) -> Wire:
    """Run a tool; what goes wrong is a result that the model can read."""
    request, entry = context.lifespan_context, TOOLS.get(params.name)
    if entry is None or entry.toolset not in request.toolsets:
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:MAX_QUOTED_CHARS]}")
    given: Mapping[str, Any] = params.arguments or {}
    facts = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": params.name}
    trace = _trace(context)
    with span(f"tools/call {params.name}", "server", facts, trace) as recording, conversation(current_conversation()):
        try:
            request.caller.require(entry.scope)
            return await _called(app, request, entry, _arguments(entry, given), tasks=knows_tasks(context))
        except FaultError as error:
            told = error.fault
        except Exception:
            log.exception(TOOL_FAILED, tool=params.name)
            told = fault(Code.INTERNAL_ERROR)
        recording.fail(told.code)
        request.usage.failed = True
        text, data = entry.fail(told, params.name, given)
        return result_of(Answer(text, data, is_error=True))


async def _called(app: AppContext, request: RequestContext, entry: ToolEntry[A], arguments: A, *, tasks: bool) -> Wire:
    """Run a tool, or begin it as a task for a client that takes one."""
    task = await entry.begin(app, request, arguments) if tasks and entry.begin is not None else None
    if task is not None:
        return {"resultType": "task", **written.task(task, task.id)}
    return result_of(await entry.run(app, request, arguments))


def _arguments(entry: ToolEntry[A], given: Mapping[str, Any]) -> A:
    try:
        return msgspec.convert(given, entry.arguments)
    except msgspec.ValidationError as error:
        raise malformed(Code.VALIDATION_INVALID_REQUEST, str(error)) from None


def result_of(answer: Answer) -> Wire:
    """Write an answer as the SDK would write its own model of one, which costs more than all the rest here."""
    images = (
        {"type": "image", "data": base64.b64encode(one.data).decode(), "mimeType": one.media_type}
        for one in answer.images
    )
    return {
        "resultType": "complete",
        "content": [{"type": "text", "text": answer.text}, *images, *map(_link, answer.links)],
        "structuredContent": _data(answer),
        "isError": answer.is_error,
    }


def _link(link: Link) -> Wire:
    told = {"type": "resource_link", "uri": link.uri, "name": link.name, "mimeType": link.media_type}
    return told if link.size is None else {**told, "size": link.size}


def _data(answer: Answer) -> dict[str, Any]:
    """Return an answer as data; what tells the types of a union apart is none of a client's business."""
    data: dict[str, Any] = msgspec.to_builtins(answer.data)
    data.pop(answer.data.__struct_config__.tag_field or "", None)
    return data | ({"nextActions": msgspec.to_builtins(answer.next_actions)} if answer.next_actions else {})


def _trace(context: Context) -> Mapping[str, str]:
    """Read the W3C trace context that a client may send with a call, in any transport."""
    return {name: value for name, value in (context.meta or {}).items() if isinstance(value, str)}
