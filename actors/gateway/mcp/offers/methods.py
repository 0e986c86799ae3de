"""What offering actors bring, as the methods of MCP: their tools, resources, prompts and completions."""

from __future__ import annotations

from collections.abc import Mapping

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    PromptReference,
    ReadResourceRequestParams,
)
from msgspec import UNSET
from msgspec.structs import replace

from actors.gateway.access.caller import Scope
from actors.gateway.mcp.offers import written
from actors.gateway.mcp.offers.catalogue import EMPTY, Catalogue
from actors.gateway.mcp.offers.clients import Context, is_modern, need_tasks
from actors.gateway.mcp.offers.handles import TaskName
from actors.gateway.mcp.offers.shop import Shop, unexpected, wanted
from actors.gateway.mcp.offers.written import Wire
from actors.gateway.mcp.toolsets import Toolset
from bus import conversation, span
from bus.context import current_conversation
from protocol.faults import FaultError
from protocol.offers import results as outcomes
from protocol.offers.offer import CallTool, Complete, GetPrompt, ReadResource, TaskUse
from protocol.offers.results import Contents, InputRequired, Messages, OfferedTask, Outcome, ToolResult


def visible(shop: Shop, context: Context) -> Catalogue:
    """Return what the caller may see of what is offered."""
    request = context.lifespan_context
    can = Scope.OFFERS in request.caller.scopes and Toolset.OFFERS in request.toolsets
    return shop.offers.now if can else EMPTY


async def call_tool(shop: Shop, context: Context, params: CallToolRequestParams) -> Wire:
    """Run a tool that is offered; a fault is a result that the model can read."""
    found = visible(shop, context).tools[params.name]
    if found.entry.tasks is TaskUse.REQUIRED:
        need_tasks(context)
    facts = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": params.name}
    do = CallTool(name=params.name, arguments=params.arguments or {})
    trace = _trace(context)
    with span(f"tools/call {params.name}", "server", facts, trace) as recording, conversation(current_conversation()):
        try:
            came = await shop.ask(context, found.actor, do, params, found.entry.timeout_ms)
            return _called(shop, context, found.actor, came)
        except FaultError as error:
            recording.fail(error.fault.code)
            return written.failed(error.fault)


def _called(shop: Shop, context: Context, actor: str, came: Outcome) -> Wire:
    match came:
        case ToolResult():
            return written.tool_result(came if is_modern(context) else _with_an_object(came))
        case InputRequired():
            return wanted(came)
        case OfferedTask():
            need_tasks(context)
            return {
                "resultType": "task",
                **written.task(came, shop.handles.task(context.lifespan_context.caller, TaskName(actor, came.id))),
            }
        case _:
            raise unexpected(came)


def _with_an_object(result: ToolResult) -> ToolResult:
    """Leave out data that is no object: clients of the older era could not read the result."""
    return result if isinstance(result.structured_content, dict) else replace(result, structured_content=UNSET)


async def read_resource(shop: Shop, context: Context, actor: str, params: ReadResourceRequestParams) -> Wire:
    """Read a resource that is offered."""
    came = await _asked(shop, context, actor, ReadResource(uri=params.uri), params)
    if isinstance(came, Contents) and not came.contents:
        raise MCPError(INVALID_PARAMS, "There is no such resource", {"uri": params.uri})
    return _whole(came, Contents)


async def get_prompt(shop: Shop, context: Context, params: GetPromptRequestParams) -> Wire:
    """Fill a prompt that is offered."""
    found = visible(shop, context).prompts[params.name]
    do = GetPrompt(name=params.name, arguments=params.arguments or {})
    return _whole(await _asked(shop, context, found.actor, do, params), Messages)


async def complete(shop: Shop, context: Context, params: CompleteRequestParams) -> CompleteResult:
    """Suggest how an argument of an offered prompt or template may go on; for others there is nothing to suggest."""
    is_prompt = isinstance(params.ref, PromptReference)
    of = params.ref.name if isinstance(params.ref, PromptReference) else params.ref.uri
    known = visible(shop, context)
    found = known.prompts.get(of) if is_prompt else known.templates.get(of)
    if found is None:
        return CompleteResult(completion=Completion(values=[]))
    others = (params.context.arguments if params.context else None) or {}
    do = Complete(
        kind="prompt" if is_prompt else "template",
        of=of,
        argument=params.argument.name,
        value=params.argument.value,
        others=others,
    )
    came = await _asked(shop, context, found.actor, do)
    if not isinstance(came, outcomes.Completion):
        raise unexpected(came)
    return CompleteResult(completion=Completion.model_validate(written.wire(came)))


async def _asked(
    shop: Shop,
    context: Context,
    actor: str,
    do: ReadResource | GetPrompt | Complete,
    params: ReadResourceRequestParams | GetPromptRequestParams | None = None,
) -> Outcome:
    try:
        return await shop.ask(context, actor, do, params)
    except FaultError as error:
        raise written.protocol_error(error.fault) from None


def _whole(came: Outcome, kind: type[Contents | Messages]) -> Wire:
    if isinstance(came, InputRequired):
        return wanted(came)
    if not isinstance(came, kind):
        raise unexpected(came)
    return written.complete(came)


def _trace(context: Context) -> Mapping[str, str]:
    return {name: value for name, value in (context.meta or {}).items() if isinstance(value, str)}
