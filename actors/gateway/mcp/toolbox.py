"""The tools of MCP, our own and those that other actors offer: listed, validated and called by the same code."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec
import structlog
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, Tool
from msgspec import Struct

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.mcp import serializers, tool_schemas
from actors.gateway.mcp.clients import Context, shows_data_alone, supports_tasks
from actors.gateway.mcp.elicitation import ClientUser, InputNeededError
from actors.gateway.mcp.offer_catalogue import Offered
from actors.gateway.mcp.offer_client import OfferClient
from actors.gateway.mcp.serializers import Wire
from actors.gateway.mcp.tool import BuiltinTool, ErrorRenderer, ToolAnswer, render_error
from actors.gateway.mcp.tools import act, agent, browser, collections, core, flows, patterns, runs
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.mending import with_mended
from actors.gateway.recovery import BROWSE, reachable
from actors.gateway.request import RequestContext
from actors.gateway.tool_calls import with_own_session
from bus import conversation, span
from bus.context import current_conversation
from protocol.browsers.operations import CreateSession
from protocol.codec import malformed
from protocol.faults import Code, FaultError, fault
from protocol.offers.offer import OfferedTool
from protocol.schemas import schema

log = structlog.stdlib.get_logger()

TOOL_FAILED = "tool_failed"

MAX_QUOTED_CHARS = 64

A = TypeVar("A", bound=Struct)

TOOLS: Mapping[str, BuiltinTool[Any]] = MappingProxyType(
    {
        **core.CORE_TOOLS,
        **browser.BROWSER_TOOLS,
        **runs.RUN_TOOLS,
        **browser.FURTHER_TOOLS,
        **collections.COLLECTION_TOOLS,
        **agent.AGENT_TOOLS,
        **act.ACT_TOOLS,
        **flows.FLOW_TOOLS,
        **patterns.PATTERN_TOOLS,
    }
)
"""Our own tools, in the order in which clients see them."""


class McpTool(Struct, frozen=True):
    """A tool, whoever does its work: what clients get of it, who may call it, how it is called, and its errors."""

    declaration: Tool
    toolset: Toolset
    scope: Scope
    call: Callable[[Context, CallToolRequestParams], Awaitable[Wire]]
    render_error: ErrorRenderer = render_error
    words_in_text: bool = False

    def is_for(self, request: RequestContext) -> bool:
        """Return whether the caller has chosen it and may call it."""
        caller = request.caller
        return self.toolset in request.toolsets and self.scope in caller.scopes

    def declared_to(self, context: Context) -> Tool:
        """Return what the client gets of it: without a schema of data where it gets the text alone."""
        if self.words_in_text and shows_data_alone(context):
            return self.declaration.model_copy(update={"output_schema": None})
        return self.declaration


class Toolbox:
    """All tools of a gateway; our own come first."""

    def __init__(self, app: AppContext, offers: OfferClient) -> None:
        """Declare our own tools; what is offered may change with each request."""
        self._offers = offers
        self._builtin = {name: builtin(app, name, row) for name, row in TOOLS.items()}

    def tools(self, context: Context) -> list[Tool]:
        """List the tools that the caller may call, in the same order each time."""
        request = context.lifespan_context
        return [tool.declared_to(context) for tool in self._all(request) if tool.is_for(request)]

    def input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return the schema of a tool some of whose arguments may have to stand in headers, too; ours have no such."""
        tool = self._offers.offers.current.tools.get(name)
        return None if tool is None else tool.entry.input_schema

    async def call(self, context: Context, params: CallToolRequestParams) -> Wire:
        """Call a tool; what goes wrong is a result that the model can read.

        Raises:
            MCPError: there is no such tool, or it is refused by the protocol.
        """
        request = context.lifespan_context
        tool = self._find(request, params.name)
        if tool is None or tool.toolset not in request.toolsets:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name[:MAX_QUOTED_CHARS]}")
        facts = _FACTS | {"gen_ai.tool.name": params.name}
        trace = {name: value for name, value in (context.meta or {}).items() if isinstance(value, str)}
        with (
            span(f"tools/call {params.name}", "server", facts, trace) as recording,
            conversation(current_conversation()),
        ):
            try:
                request.caller.require(tool.scope)
                return await tool.call(context, params)
            except FaultError as failure:
                error = reachable(failure.fault, local=request.caller.local)
            except MCPError:
                raise
            except Exception:
                log.exception(TOOL_FAILED, tool=params.name)
                error = fault(Code.INTERNAL_ERROR)
            recording.fail(error.code)
            request.usage.failed = True
            text, data = tool.render_error(error, params.name, params.arguments or {})
            return serializers.tool_answer(ToolAnswer(text, data, is_error=True))

    def _all(self, request: RequestContext) -> Iterator[McpTool]:
        yield from self._builtin.values()
        yield from (offered(self._offers, tool) for tool in self._offers.visible(request).tools.values())

    def _find(self, request: RequestContext, name: str) -> McpTool | None:
        if name in self._builtin:
            return self._builtin[name]
        tool = self._offers.visible(request).tools.get(name)
        return None if tool is None else offered(self._offers, tool)


def builtin(app: AppContext, name: str, row: BuiltinTool[A]) -> McpTool:
    """Make the tool of a row of ours; for a client that takes one, a task may be begun in place of a call."""

    async def call(context: Context, params: CallToolRequestParams) -> Wire:
        request = context.lifespan_context
        arguments = _decoded(name, row.arguments, with_own_session(app, request, params.arguments or {}))
        if row.asks or row.tool.actor is not None:  # what others run may be asked about
            request = replace(request, approver=ClientUser(context, params))
        task = await row.begin(app, request, arguments) if row.begin is not None and supports_tasks(context) else None
        if task is not None:
            return {"resultType": "task", **serializers.task(task, task.id)}
        try:
            answer = await row.run(app, request, arguments)
        except InputNeededError as needed:
            return needed.to_wire()
        return serializers.tool_answer(answer, text_alone=row.words_in_text and shows_data_alone(context))

    return McpTool(
        declaration=_declaration(name),
        toolset=row.toolset,
        scope=row.scope,
        call=call,
        render_error=row.render_error,
        words_in_text=row.words_in_text,
    )


def warm() -> None:
    """Declare our own tools, for all gateways that are forked from this process."""
    for name in TOOLS:
        _declaration(name)


@cache
def _declaration(name: str) -> Tool:
    """Declare one of our own tools, once for all gateways of this process: the schemas take long to make."""
    row = TOOLS[name]
    return Tool(
        name=name,
        title=row.title,
        description=row.description,
        input_schema=tool_schemas.input_schema(schema(row.arguments), row.plain),
        output_schema=tool_schemas.output_schema(schema(row.answer), row.answer_fields) if row.answer else None,
        annotations=row.annotations,
    )


def offered(client: OfferClient, tool: Offered[OfferedTool, Tool]) -> McpTool:
    """Make the tool of an offer; the actor that offers it checks the arguments."""

    async def call(context: Context, params: CallToolRequestParams) -> Wire:
        return await client.call_tool(tool, context, params)

    return McpTool(tool.declaration, Toolset.OFFERS, Scope.OFFERS, call)


def _decoded(name: str, arguments: type[A], given: Mapping[str, Any]) -> A:
    try:
        return msgspec.convert(given, arguments)
    except msgspec.ValidationError as error:
        failure = malformed(Code.VALIDATION_INVALID_REQUEST, str(error), arguments)
    if failure.fault.field == _SESSION_ID and isinstance(given.get(_SESSION_ID), str):
        if name == _CREATE_SESSION:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, _NO_NAME, field=_SESSION_ID))
        raise FaultError(fault(Code.SESSION_NOT_FOUND, field=_SESSION_ID))  # what can be no id is nobody's
    raise failure if name != BROWSE else FaultError(with_mended(failure.fault, arguments, dict(given), None))


_SESSION_ID = "sessionId"
_CREATE_SESSION = browser.tool_of(CreateSession)
_NO_NAME = "sessionId: a name of 1 to 64 letters, digits, blanks and .:-_ that begins unlike an id, or leave it out"
_FACTS = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool"}
