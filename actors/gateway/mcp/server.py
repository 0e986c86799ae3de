"""Weft as an MCP server of both eras of the protocol: what it can be asked, and who answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server import Server
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    EmptyResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ServerCapabilities,
    SetLevelRequestParams,
    SubscribeRequestParams,
    Tool,
    UnsubscribeRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS

from actors.gateway.app_context import AppContext
from actors.gateway.mcp import announce, calling, prompts, resources
from actors.gateway.mcp.identity import ICON, INSTRUCTIONS, NAME, TITLE
from actors.gateway.mcp.offers import methods as offered
from actors.gateway.mcp.offers.clients import Context
from actors.gateway.mcp.offers.handles import Handles, StateCodec, handles
from actors.gateway.mcp.offers.known import Offers
from actors.gateway.mcp.offers.listening import Listening
from actors.gateway.mcp.offers.methods import visible
from actors.gateway.mcp.offers.progress_messages import set_level
from actors.gateway.mcp.offers.shop import Shop
from actors.gateway.mcp.offers.tasks import add_tasks
from actors.gateway.mcp.offers.written import Wire
from actors.gateway.mcp.run_tasks import RunTasks
from actors.gateway.mcp.table import TOOLS
from actors.gateway.mcp.tool import ToolEntry
from actors.gateway.request import RequestContext
from protocol.schemas import schema

LISTS_TTL_MS = 60_000
"""How long a client may keep a list: what actors offer may change, and not every client listens."""

_LISTED = CacheHint(LISTS_TTL_MS, "private")
_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "tools/list": _LISTED,
    "prompts/list": _LISTED,
    "resources/list": _LISTED,
    "resources/templates/list": _LISTED,
    "resources/read": CacheHint(0, "private"),
}


def make_server(
    app: AppContext, offers: Offers | None = None, request: RequestContext | None = None
) -> Server[RequestContext]:
    """Make the MCP server of both transports; it follows `offers` while its lifespan is entered.

    `request` is who asks where one client has the server for itself; over HTTP each request brings its own.
    """
    kept = offers or Offers()
    kept.reserve((*TOOLS, *(prompt.name for prompt in prompts.list_prompts())))
    shop, run_tasks = Shop(app, kept, handles(app.bus.seal)), RunTasks(app)
    server = _Server(
        NAME,
        version=app.version,
        title=TITLE,
        icons=[ICON],
        instructions=INSTRUCTIONS,
        cache_hints=_HINTS,
        lifespan=_lifespan(shop, request or RequestContext()),
        get_tool_input_schema=_Schemas(shop),
        on_subscriptions_listen=Listening(kept, shop.handles, run_tasks),
    )
    _add_methods(server, Methods(shop, tuple((entry, _announced(name, entry)) for name, entry in TOOLS.items())))
    add_tasks(server, shop, run_tasks)
    # Its only entry traces to the global provider; our spans have one of their own.
    server.middleware[:] = [_boundary(shop.handles)]
    return server


class _Server(Server[RequestContext]):
    """A server that promises a client of the older era no news of resources: it could tell them in no answer."""

    def get_capabilities(self, *given: Any, **named: Any) -> ServerCapabilities:
        can = super().get_capabilities(*given, **named)
        if can.resources is not None and named.get("protocol_version") not in MODERN_PROTOCOL_VERSIONS:
            can.resources.subscribe = False
        return can


@dataclass(frozen=True)
class Methods:
    """The methods of the protocol: our own tools, resources and prompts come first, then those that are offered."""

    shop: Shop
    tools: tuple[tuple[ToolEntry[Any], Tool], ...]

    async def list_tools(self, context: Context, params: PaginatedRequestParams) -> ListToolsResult:
        """List the tools that the caller may call, in the same order each time."""
        _check_cursor(params)
        request = context.lifespan_context
        wanted, scopes = request.toolsets, request.caller.scopes
        own = [told for entry, told in self.tools if entry.toolset in wanted and entry.scope in scopes]
        return ListToolsResult(tools=[*own, *(one.told for one in visible(self.shop, context).tools.values())])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult | Wire:
        """Run a tool."""
        if params.name in visible(self.shop, context).tools:
            return await offered.call_tool(self.shop, context, params)
        return await calling.call_tool(self.shop.app, params, context)

    async def list_resources(self, context: Context, params: PaginatedRequestParams) -> ListResourcesResult:
        """List the resources that have an address of their own."""
        _check_cursor(params)
        return ListResourcesResult(resources=[one.told for one in visible(self.shop, context).resources.values()])

    async def list_templates(self, context: Context, params: PaginatedRequestParams) -> ListResourceTemplatesResult:
        """List the forms of the addresses of all others."""
        _check_cursor(params)
        offered_ones = (one.told for one in visible(self.shop, context).templates.values())
        return ListResourceTemplatesResult(resource_templates=[*resources.TEMPLATES, *offered_ones])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult | Wire:
        """Read a resource."""
        actor = self._reader(context, params.uri)
        if actor is not None:
            return await offered.read_resource(self.shop, context, actor, params)
        return await resources.read_resource(self.shop.app, context.lifespan_context, params.uri)

    async def subscribe(self, _context: Context, _params: SubscribeRequestParams) -> EmptyResult:
        """Take note of a wish. Without sessions nothing is told to clients of the older era but in an answer."""
        return EmptyResult()

    async def unsubscribe(self, _context: Context, _params: UnsubscribeRequestParams) -> EmptyResult:
        """Take note that a wish is gone."""
        return EmptyResult()

    async def list_prompts(self, context: Context, params: PaginatedRequestParams) -> ListPromptsResult:
        """List the prompts."""
        _check_cursor(params)
        offered_ones = (one.told for one in visible(self.shop, context).prompts.values())
        return ListPromptsResult(prompts=[*prompts.list_prompts(), *offered_ones])

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult | Wire:
        """Fill a prompt."""
        if params.name in visible(self.shop, context).prompts:
            return await offered.get_prompt(self.shop, context, params)
        return prompts.get_prompt(params.name, params.arguments)

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Suggest how an argument may go on."""
        return await offered.complete(self.shop, context, params)

    def _reader(self, context: Context, uri: str) -> str | None:
        return None if uri.startswith(resources.OWN) else visible(self.shop, context).reader(uri)


def _add_methods(server: Server[RequestContext], methods: Methods) -> None:
    server.add_request_handler("tools/list", PaginatedRequestParams, methods.list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, methods.call_tool)
    server.add_request_handler("resources/list", PaginatedRequestParams, methods.list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, methods.list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, methods.read_resource)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, methods.subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, methods.unsubscribe)
    server.add_request_handler("prompts/list", PaginatedRequestParams, methods.list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, methods.get_prompt)
    server.add_request_handler("completion/complete", CompleteRequestParams, methods.complete)
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, set_level)


def _check_cursor(params: PaginatedRequestParams) -> None:
    """Refuse to go on where nothing was begun: every list comes whole."""
    if params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "There is no such cursor")


@dataclass(frozen=True)
class _Schemas:
    """Finds the arguments of a tool that are to stand in headers, too; our own tools have none such."""

    shop: Shop

    def __call__(self, name: str) -> Mapping[str, Any] | None:
        found = self.shop.offers.now.tools.get(name)
        return None if found is None else found.entry.input_schema


def _lifespan(shop: Shop, request: RequestContext) -> Any:
    @asynccontextmanager
    async def lifespan(_server: Server[RequestContext]) -> AsyncGenerator[RequestContext]:
        async with shop.offers.kept(shop.app.bus):
            yield request

    return lifespan


def _boundary(sealing: Handles) -> RequestStateBoundary:
    """Seal what a client carries from one round of a request to the next, for this request and this caller alone."""

    def principal(context: Context) -> str:
        return context.lifespan_context.caller.name

    security = RequestStateSecurity(codec=StateCodec(sealing.seal), bind_principal=principal)
    return RequestStateBoundary(security, default_audience=NAME)


def _announced(name: str, entry: ToolEntry[Any]) -> Tool:
    return Tool(
        name=name,
        title=entry.title,
        description=entry.description,
        input_schema=announce.arguments(schema(entry.arguments)),
        output_schema=announce.answer(schema(entry.answer), entry.by_type) if entry.answer else None,
        annotations=entry.annotations,
    )
