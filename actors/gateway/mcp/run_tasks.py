"""Runs as tasks (io.modelcontextprotocol/tasks): the id of a run is that of its task."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError

from actors.gateway import runs
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.calling import result_of
from actors.gateway.mcp.offers import written
from actors.gateway.mcp.offers.tasks import no_such_task
from actors.gateway.mcp.offers.written import Wire
from actors.gateway.mcp.tools.runs import ended_answer, task_of
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from protocol.faults import Code, FaultError
from protocol.offers.results import TaskStatus
from protocol.runs.states import HANDLE_BYTES, RUN_PREFIX

_ID_CHARS = len(RUN_PREFIX) + math.ceil(HANDLE_BYTES * 4 / 3)


@dataclass(frozen=True)
class RunTasks:
    """The runs of callers, each found by its own caller alone."""

    app: AppContext

    def has(self, task_id: str) -> bool:
        """Whether an id is that of a run: a sealed one of an offering actor is longer."""
        return task_id.startswith(RUN_PREFIX) and len(task_id) == _ID_CHARS

    async def get(self, request: RequestContext, task_id: str) -> Wire:
        """Return how a run stands; one that is over brings the result that a call would have had."""
        with _requested(request):
            run = await runs.get(self.app, request, task_id)
        task = task_of(run)
        told = written.task(task, task_id)
        return told | {"result": result_of(ended_answer(run))} if task.status is TaskStatus.COMPLETED else told

    async def is_there(self, request: RequestContext, task_id: str) -> bool:
        """Whether it is the run of the caller, as far as anybody can tell now."""
        if not self.has(task_id):
            return False
        with suppress(MCPError), _requested(request):
            await runs.get(self.app, request, task_id)
            return True
        return False

    async def follow(self, request: RequestContext, task_id: str) -> AsyncGenerator[Wire]:
        """Return how a run stands, now and whenever it has come further, until it is over or cannot be told."""
        last = None
        with suppress(MCPError), _requested(request):
            async with aclosing(runs.follow(self.app, request, task_id)) as told:
                async for news in told:
                    task = task_of(news.run)
                    if task.message != last and task.status is TaskStatus.WORKING:
                        yield written.task(task, task_id)
                    last = task.message
            yield await self.get(request, task_id)

    async def update(self, request: RequestContext, task_id: str) -> None:
        """Take no note: a run asks for nothing."""
        with _requested(request):
            await runs.get(self.app, request, task_id)

    async def cancel(self, request: RequestContext, task_id: str) -> None:
        """Ask a run to stop before its next step."""
        with _requested(request):
            await runs.cancel(self.app, request, task_id)


@contextmanager
def _requested(request: RequestContext) -> Generator[None]:
    """Raise faults as errors of the protocol, the same for what is not there and what is somebody else's."""
    if Toolset.RUNS not in request.toolsets:
        raise no_such_task()
    try:
        request.caller.require(Scope.RUNS)
        yield
    except FaultError as error:
        if error.fault.code is Code.RUN_NOT_FOUND:
            raise no_such_task() from None
        raise written.protocol_error(error.fault) from None
