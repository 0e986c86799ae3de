"""The endpoints of tools: what there is, and a call through the gate."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.through_gate import called
from actors.gateway.tool_calls import ToolList, list_tools
from protocol.faults import Code, fault
from protocol.policy import ToolOutcome
from protocol.tools.registry import find_anywhere


class ToolCallPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which tool is called, by what any surface calls it."""

    name: Annotated[str, Meta(min_length=1, max_length=64, description="Name of the tool, such as collection.create.")]


async def _list(_app: AppContext, _request: RequestContext, _arguments: None) -> Response:
    return answer(list_tools())


async def _call(app: AppContext, request: RequestContext, arguments: Addressed[ToolCallPath, Any]) -> Response:
    try:
        find_anywhere(arguments.params.name)
    except ValueError:
        message = "There is no such tool; GET /api/tools lists them."
        raise HttpStatusError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="name"), 404) from None
    return await called(app, request, arguments.params.name, arguments.body)


_INSIDE = frozenset({500, 503, 504})

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/tools",
        name="listTools",
        summary="List every tool, with its names, its risk and the schema of its arguments.",
        run=_list,
        answer=ToolList,
        tag=Tag.TOOLS,
        scope=Scope.BROWSE,
    ),
    Endpoint(
        method="POST",
        path="/api/tools/{name}",
        name="callTool",
        summary="Call a tool, if the policy allows it: 200 with what came of it, 202 where it waits for an approval.",
        about="The body holds the arguments. With the header `Idempotency-Key` the same call is done once, however "
        "often it is sent. A call that is denied is an error with `context.reasonCode`. Each tool asks for a scope of "
        "its own.",
        run=_call,
        params=ToolCallPath,
        body=dict[str, Any],
        optional=True,
        keyed=True,
        own_scopes=True,
        answer=ToolOutcome,
        accepted=ToolOutcome,
        errors=_INSIDE | {404, 409, 501, 502},
        tag=Tag.TOOLS,
        where={"name": "app.calculate"},
        example={"expression": "12 * (3 + 4)"},
    ),
)
