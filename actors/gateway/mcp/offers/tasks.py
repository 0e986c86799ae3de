"""Calls that go on as tasks (io.modelcontextprotocol/tasks): whoever does one owns it, the gateway names it."""

from __future__ import annotations

from typing import Any, Protocol

from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp.types import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, RequestParams
from pydantic import Field
from starlette.requests import Request

from actors.gateway.mcp.offers import written
from actors.gateway.mcp.offers.clients import TASKS, Context, is_modern, need_tasks
from actors.gateway.mcp.offers.handles import TaskName
from actors.gateway.mcp.offers.shop import Shop, unexpected
from actors.gateway.mcp.offers.written import Wire
from actors.gateway.request import RequestContext
from protocol.faults import FaultError
from protocol.offers.offer import CancelTask, GetTask, UpdateTask, Wanted
from protocol.offers.results import Acknowledged, OfferedTask, Outcome


class TaskParams(RequestParams):
    """Which task is meant."""

    task_id: str = Field(alias="taskId")


class UpdateParams(TaskParams):
    """What a task has asked for."""

    input_responses: dict[str, dict[str, Any]] = Field(alias="inputResponses")


class OwnTasks(Protocol):
    """Tasks of our own tools, which clients know by ids that no offering actor can give."""

    def has(self, task_id: str) -> bool:
        """Whether an id is one of these, of whomever."""
        ...

    async def get(self, request: RequestContext, task_id: str) -> Wire:
        """Return how a task of the caller stands; raises MCPError."""
        ...

    async def update(self, request: RequestContext, task_id: str) -> None:
        """Take what a task of the caller has not asked for; raises MCPError."""
        ...

    async def cancel(self, request: RequestContext, task_id: str) -> None:
        """End a task of the caller; raises MCPError."""
        ...


def add_tasks(server: Server[Any], shop: Shop, own: OwnTasks) -> None:
    """Have a server answer for tasks: its own, and those of offering actors."""

    async def get(context: Context, params: TaskParams) -> Wire:
        _check(context, params)
        if own.has(params.task_id):
            return await own.get(context.lifespan_context, params.task_id)
        name = _named(shop, context, params)
        came = await _ask(shop, context, name, GetTask(id=name.id))
        if not isinstance(came, OfferedTask):
            raise unexpected(came)
        return written.detailed_task(came, params.task_id)

    async def update(context: Context, params: UpdateParams) -> Wire:
        _check(context, params)
        if own.has(params.task_id):
            await own.update(context.lifespan_context, params.task_id)
            return {}
        name = _named(shop, context, params)
        return _acknowledged(await _ask(shop, context, name, UpdateTask(id=name.id, responses=params.input_responses)))

    async def cancel(context: Context, params: TaskParams) -> Wire:
        _check(context, params)
        if own.has(params.task_id):
            await own.cancel(context.lifespan_context, params.task_id)
            return {}
        name = _named(shop, context, params)
        return _acknowledged(await _ask(shop, context, name, CancelTask(id=name.id)))

    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", UpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)
    server.extensions[TASKS] = {}


def no_such_task() -> MCPError:
    """Return the error for a task that is not there, or not the caller's."""
    return MCPError(INVALID_PARAMS, "There is no such task")


def _check(context: Context, params: TaskParams) -> None:
    """Refuse a client that may not ask for tasks at all."""
    if not is_modern(context):
        raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
    need_tasks(context)
    _check_header(context, params.task_id)


def _named(shop: Shop, context: Context, params: TaskParams) -> TaskName:
    """Find the task of the caller that is meant."""
    name = shop.handles.open_task(context.lifespan_context.caller, params.task_id)
    if name is None:
        raise no_such_task()
    return name


def _check_header(context: Context, task_id: str) -> None:
    """Hold a client to the name that it routes its request by."""
    request: object = context.request
    if not isinstance(request, Request):
        return
    if decode_header_value(request.headers.get(MCP_NAME_HEADER)) != task_id:
        message = f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter"
        raise MCPError(HEADER_MISMATCH, message)


async def _ask(shop: Shop, context: Context, name: TaskName, do: Wanted) -> Outcome:
    try:
        return await shop.ask(context, name.actor, do)
    except FaultError as error:
        raise written.protocol_error(error.fault) from None


def _acknowledged(came: Outcome) -> Wire:
    if not isinstance(came, Acknowledged):
        raise unexpected(came)
    return {}
