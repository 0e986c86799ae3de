"""Calls that go on as tasks (io.modelcontextprotocol/tasks): those of runs, and those that offering actors own."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Any, Protocol

from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp.types import HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, RequestParams
from msgspec import Struct
from pydantic import Field
from starlette.requests import Request

from actors.gateway import runs
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.mcp import serializers
from actors.gateway.mcp.clients import TASKS, Context, is_modern, require_tasks
from actors.gateway.mcp.handles import TaskName
from actors.gateway.mcp.offer_client import OfferClient, unexpected
from actors.gateway.mcp.serializers import Wire
from actors.gateway.mcp.tools.runs import ended_answer, task_of
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from protocol.faults import Code, FaultError
from protocol.offers.offer import CancelTask, GetTask, UpdateTask
from protocol.offers.results import Acknowledged, OfferedTask, Outcome, TaskStatus
from protocol.runs.states import HANDLE_BYTES, RUN_PREFIX

Responses = dict[str, dict[str, Any]]


class TaskParams(RequestParams):
    """Which task is meant."""

    task_id: str = Field(alias="taskId")


class UpdateParams(TaskParams):
    """What a task has requested."""

    input_responses: Responses = Field(alias="inputResponses")


class TaskSource(Protocol):
    """The tasks of one kind, each found by its own caller alone; all methods raise MCPError."""

    async def get(self, context: Context, task_id: str, /) -> Wire:
        """Return how a task stands."""
        ...

    async def update(self, context: Context, task_id: str, responses: Responses, /) -> None:
        """Pass on what a task has requested."""
        ...

    async def cancel(self, context: Context, task_id: str, /) -> None:
        """End a task."""
        ...


def add_tasks(server: Server[Any], of_runs: RunTasks, offered: TaskSource) -> None:
    """Have a server answer for tasks: those of runs, and all others as offered ones."""

    def source(context: Context, params: TaskParams) -> TaskSource:
        _check(context, params)
        return of_runs if of_runs.has(params.task_id) else offered

    async def get(context: Context, params: TaskParams) -> Wire:
        return await source(context, params).get(context, params.task_id)

    async def update(context: Context, params: UpdateParams) -> Wire:
        await source(context, params).update(context, params.task_id, params.input_responses)
        return {}

    async def cancel(context: Context, params: TaskParams) -> Wire:
        await source(context, params).cancel(context, params.task_id)
        return {}

    server.add_request_handler("tasks/get", TaskParams, get)
    server.add_request_handler("tasks/update", UpdateParams, update)
    server.add_request_handler("tasks/cancel", TaskParams, cancel)
    server.extensions[TASKS] = {}


def _check(context: Context, params: TaskParams) -> None:
    """Refuse a client that may not ask for tasks at all, or routes its request by another name."""
    if not is_modern(context):
        raise MCPError(METHOD_NOT_FOUND, "Method not found", context.method)
    require_tasks(context)
    request: object = context.request
    if isinstance(request, Request) and decode_header_value(request.headers.get(MCP_NAME_HEADER)) != params.task_id:
        message = f"{MCP_NAME_HEADER} header does not match the request body's 'taskId' parameter"
        raise MCPError(HEADER_MISMATCH, message)


class OfferedTasks(Struct, frozen=True):
    """The tasks of offering actors, by ids that are sealed for their callers."""

    client: OfferClient

    async def get(self, context: Context, task_id: str) -> Wire:
        """Return how a task stands, with its result or with what it waits for."""
        name = self._name(context, task_id)
        outcome = await self.client.request_or_error(context, name.actor, GetTask(id=name.id))
        if not isinstance(outcome, OfferedTask):
            raise unexpected(outcome)
        return serializers.detailed_task(outcome, task_id)

    async def update(self, context: Context, task_id: str, responses: Responses) -> None:
        """Pass on to the actor what a task has requested."""
        name = self._name(context, task_id)
        do = UpdateTask(id=name.id, responses=responses)
        _check_acknowledged(await self.client.request_or_error(context, name.actor, do))

    async def cancel(self, context: Context, task_id: str) -> None:
        """Have the actor end a task."""
        name = self._name(context, task_id)
        _check_acknowledged(await self.client.request_or_error(context, name.actor, CancelTask(id=name.id)))

    def _name(self, context: Context, task_id: str) -> TaskName:
        name = self.client.handles.open_task(context.lifespan_context.caller, task_id)
        if name is None:
            raise _no_such_task()
        return name


class RunTasks(Struct, frozen=True):
    """Runs as tasks: the id of a run is that of its task."""

    app: AppContext

    def has(self, task_id: str) -> bool:
        """Return whether an id is that of a run: a sealed one of an offering actor is longer."""
        return task_id.startswith(RUN_PREFIX) and len(task_id) == _RUN_ID_CHARS

    async def get(self, context: Context, task_id: str) -> Wire:
        """Return how a run stands; one that is over brings the result that a call would have had."""
        return await self._get(context.lifespan_context, task_id)

    async def update(self, context: Context, task_id: str, _responses: Responses) -> None:
        """Ignore what is given: a run requests nothing."""
        with _protocol_errors(context.lifespan_context) as request:
            await runs.get(self.app, request, task_id)

    async def cancel(self, context: Context, task_id: str) -> None:
        """Cancel a run before its next step."""
        with _protocol_errors(context.lifespan_context) as request:
            await runs.cancel(self.app, request, task_id)

    async def is_there(self, request: RequestContext, task_id: str) -> bool:
        """Return whether it is the run of the caller, as far as anybody can tell now."""
        if not self.has(task_id):
            return False
        with suppress(MCPError), _protocol_errors(request):
            await runs.get(self.app, request, task_id)
            return True
        return False

    async def follow(self, request: RequestContext, task_id: str) -> AsyncGenerator[Wire]:
        """Yield how a run stands, now and whenever it has come further, until it is over or cannot be read."""
        last = None
        with suppress(MCPError), _protocol_errors(request):
            async with aclosing(runs.follow(self.app, request, task_id)) as updates:
                async for update in updates:
                    task = task_of(update.run)
                    if task.message != last and task.status is TaskStatus.WORKING:
                        yield serializers.task(task, task_id)
                    last = task.message
            yield await self._get(request, task_id)

    async def _get(self, request: RequestContext, task_id: str) -> Wire:
        with _protocol_errors(request):
            run = await runs.get(self.app, request, task_id)
        task = task_of(run)
        written = serializers.task(task, task_id)
        if task.status is not TaskStatus.COMPLETED:
            return written
        return written | {"result": serializers.tool_answer(ended_answer(run))}


@contextmanager
def _protocol_errors(request: RequestContext) -> Generator[RequestContext]:
    """Raise faults as errors of the protocol, the same for what is not there and what is somebody else's."""
    if Toolset.RUNS not in request.toolsets:
        raise _no_such_task()
    try:
        request.caller.require(Scope.RUNS)
        yield request
    except FaultError as error:
        if error.fault.code is Code.RUN_NOT_FOUND:
            raise _no_such_task() from None
        raise serializers.protocol_error(error.fault) from None


def _check_acknowledged(outcome: Outcome) -> None:
    if not isinstance(outcome, Acknowledged):
        raise unexpected(outcome)


def _no_such_task() -> MCPError:
    return MCPError(INVALID_PARAMS, "There is no such task")


_RUN_ID_CHARS = len(RUN_PREFIX) + math.ceil(HANDLE_BYTES * 4 / 3)
