"""Weft as an MCP server, in every version of the protocol: what it can be asked, and who answers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

from mcp.server import Server
from mcp.server.caching import CacheableMethod, CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
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
    UnsubscribeRequestParams,
)
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import Struct

from actors.gateway.access.caller import STDIO
from actors.gateway.app_context import AppContext, BusClient
from actors.gateway.mcp import prompts, resources
from actors.gateway.mcp.clients import Context, new_client_id
from actors.gateway.mcp.handles import Handles, StateCodec, handles
from actors.gateway.mcp.notifications import SubscriptionHandler, progress_middleware
from actors.gateway.mcp.offer_catalogue import Offers
from actors.gateway.mcp.offer_client import OfferClient
from actors.gateway.mcp.prompts import ICON, INSTRUCTIONS, NAME, TITLE
from actors.gateway.mcp.replica_state import ReplicaState
from actors.gateway.mcp.serializers import Wire
from actors.gateway.mcp.tasks import OfferedTasks, RunTasks, add_tasks
from actors.gateway.mcp.toolbox import TOOLS, Toolbox
from actors.gateway.mcp.toolsets import Toolset, toolsets_of
from actors.gateway.mcp.transport.http import McpEndpoint
from actors.gateway.request import RequestContext
from actors.settings import Settings
from protocol.browse import SCHEMA_VERSION

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


async def serve_stdio(bus: BusClient, settings: Settings, state: ReplicaState) -> None:
    """Speak MCP over stdin and stdout until stdin ends; anything else that is printed goes to stderr.

    `state` gets the events that concern whoever speaks MCP (`ReplicaState.events`).
    """
    version = metadata.version("weft")
    app = AppContext(bus=bus, grace_ms=settings.restart_grace_ms, version=version, watchers=state.watchers)
    request = RequestContext(caller=STDIO, client_id=new_client_id().name, toolsets=toolsets_of(settings))
    state.offers = Offers()
    server = make_server(app, state.offers, request)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def http_endpoint(app: AppContext, state: ReplicaState, toolsets: frozenset[Toolset]) -> McpEndpoint:
    """Return the endpoint of a replica over HTTP, which follows from here on what actors offer."""
    state.offers = Offers()
    return McpEndpoint(make_server(app, state.offers), app, state, toolsets)


def make_server(
    app: AppContext, offers: Offers | None = None, request: RequestContext | None = None
) -> Server[RequestContext]:
    """Build the MCP server of both transports; it follows `offers` while its lifespan is entered.

    `request` is who asks where one client has the server for itself; over HTTP each request brings its own.
    """
    known = offers or Offers()
    known.reserve((*TOOLS, *(prompt.name for prompt in prompts.list_prompts())))
    client, run_tasks = OfferClient(app, known, handles(app.bus.seal)), RunTasks(app)
    toolbox = Toolbox(app, client)
    server = _Server(
        NAME,
        version=app.version,
        title=TITLE,
        icons=[ICON],
        instructions=INSTRUCTIONS,
        cache_hints=_HINTS,
        lifespan=_lifespan(client, request or RequestContext()),
        get_tool_input_schema=toolbox.input_schema,
        on_subscriptions_listen=SubscriptionHandler(known, client.handles, run_tasks),
    )
    _add_methods(server, _Methods(app, toolbox, client))
    add_tasks(server, run_tasks, OfferedTasks(client))
    # Its only entry traces to the global provider; our spans have one of their own.
    server.middleware[:] = [_boundary(client.handles), progress_middleware(app.watchers)]
    return server


class _Server(Server[RequestContext]):
    """A server that offers clients of the older versions no subscriptions: no response could bring the changes."""

    def get_capabilities(self, *args: Any, **options: Any) -> ServerCapabilities:
        capabilities = super().get_capabilities(*args, **options)
        if capabilities.resources is not None and options.get("protocol_version") not in MODERN_PROTOCOL_VERSIONS:
            capabilities.resources.subscribe = False
        return capabilities


class _Methods(Struct, frozen=True):
    """The methods of the protocol: our own resources and prompts come first, then those that are offered."""

    app: AppContext
    toolbox: Toolbox
    offers: OfferClient

    async def list_tools(self, context: Context, params: PaginatedRequestParams) -> ListToolsResult:
        """List the tools that the caller may call, and say which contract their answers follow (000 §1)."""
        _check_cursor(params)
        return ListToolsResult(tools=self.toolbox.tools(context), _meta={"schemaVersion": SCHEMA_VERSION})

    async def list_resources(self, context: Context, params: PaginatedRequestParams) -> ListResourcesResult:
        """List the resources that have an address of their own."""
        _check_cursor(params)
        return ListResourcesResult(
            resources=[one.declaration for one in self.offers.visible(context.lifespan_context).resources.values()]
        )

    async def list_templates(self, context: Context, params: PaginatedRequestParams) -> ListResourceTemplatesResult:
        """List the forms of the addresses of all others."""
        _check_cursor(params)
        offered = (one.declaration for one in self.offers.visible(context.lifespan_context).templates.values())
        return ListResourceTemplatesResult(resource_templates=[*resources.TEMPLATES, *offered])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult | Wire:
        """Read a resource."""
        actor = (
            None
            if params.uri.startswith(resources.OWN)
            else self.offers.visible(context.lifespan_context).reader(params.uri)
        )
        if actor is not None:
            return await self.offers.read_resource(actor, context, params)
        return await resources.read_resource(self.app, context.lifespan_context, params.uri)

    async def subscribe(self, _context: Context, _params: SubscribeRequestParams) -> EmptyResult:
        """Accept a subscription: without sessions, clients of the older versions get changes in no response."""
        return EmptyResult()

    async def unsubscribe(self, _context: Context, _params: UnsubscribeRequestParams) -> EmptyResult:
        """Accept the end of a subscription."""
        return EmptyResult()

    async def list_prompts(self, context: Context, params: PaginatedRequestParams) -> ListPromptsResult:
        """List the prompts."""
        _check_cursor(params)
        offered = (one.declaration for one in self.offers.visible(context.lifespan_context).prompts.values())
        return ListPromptsResult(prompts=[*prompts.list_prompts(), *offered])

    async def get_prompt(self, context: Context, params: GetPromptRequestParams) -> GetPromptResult | Wire:
        """Fill a prompt."""
        if params.name in self.offers.visible(context.lifespan_context).prompts:
            return await self.offers.get_prompt(context, params)
        return prompts.get_prompt(params.name, params.arguments)

    async def set_level(self, _context: Context, _params: SetLevelRequestParams) -> EmptyResult:
        """Accept a level: without sessions no client is remembered, and each gets every line and leaves out some."""
        return EmptyResult()


def _add_methods(server: Server[RequestContext], methods: _Methods) -> None:
    server.add_request_handler("tools/list", PaginatedRequestParams, methods.list_tools)
    server.add_request_handler("tools/call", CallToolRequestParams, methods.toolbox.call)
    server.add_request_handler("resources/list", PaginatedRequestParams, methods.list_resources)
    server.add_request_handler("resources/templates/list", PaginatedRequestParams, methods.list_templates)
    server.add_request_handler("resources/read", ReadResourceRequestParams, methods.read_resource)
    server.add_request_handler("resources/subscribe", SubscribeRequestParams, methods.subscribe)
    server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, methods.unsubscribe)
    server.add_request_handler("prompts/list", PaginatedRequestParams, methods.list_prompts)
    server.add_request_handler("prompts/get", GetPromptRequestParams, methods.get_prompt)
    server.add_request_handler("completion/complete", CompleteRequestParams, methods.offers.complete)
    server.add_request_handler("logging/setLevel", SetLevelRequestParams, methods.set_level)


def _check_cursor(params: PaginatedRequestParams) -> None:
    """Refuse to go on where nothing was begun: every list comes whole."""
    if params.cursor is not None:
        raise MCPError(INVALID_PARAMS, "There is no such cursor")


def _lifespan(client: OfferClient, request: RequestContext) -> Any:
    @asynccontextmanager
    async def lifespan(_server: Server[RequestContext]) -> AsyncGenerator[RequestContext]:
        async with client.offers.synchronized(client.app.bus):
            yield request

    return lifespan


def _boundary(sealing: Handles) -> RequestStateBoundary:
    """Seal what a client carries from one round of a request to the next, for this request and this caller alone."""

    def principal(context: Context) -> str:
        return context.lifespan_context.caller.name

    security = RequestStateSecurity(codec=StateCodec(sealing.seal), bind_principal=principal)
    return RequestStateBoundary(security, default_audience=NAME)
