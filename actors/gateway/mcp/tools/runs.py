"""The seven tools for runs of templates (002 §2 to §5)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from mcp.types import ToolAnnotations

from actors.gateway import runs
from actors.gateway.app_context import AppContext
from actors.gateway.errors import RunFault, run_fault_of, run_fault_text
from actors.gateway.mcp import run_renderers as render
from actors.gateway.mcp.resources import artifact_link
from actors.gateway.mcp.tool import BuiltinTool, ToolAnswer, by_name
from actors.gateway.mcp.toolsets import Toolset
from actors.gateway.request import RequestContext
from protocol.faults import Fault
from protocol.offers.results import OfferedTask, TaskStatus
from protocol.runs.responses import ArtifactChunk, CancelAnswer, Run, RunAccepted, RunList, RuntimeProfile, TemplateList
from protocol.runs.states import ARTIFACT_TTL_MS, POLL_MS, Mode, RunStatus
from protocol.tools import runs as registered
from protocol.tools.runs import ArtifactRequest, NamedRun, RunArguments, RunsRequest
from protocol.tools.tool import WithoutArguments

BOUNDARY_BYTES = 8

_LOOK = ToolAnnotations(read_only_hint=True)
_STOP = ToolAnnotations(destructive_hint=True)
_ACT = ToolAnnotations(destructive_hint=True)


def run_answer(run: Run, *, is_error: bool = False) -> ToolAnswer:
    """Return how a run stands, with links to what it has left."""
    links = tuple(artifact_link(one) for one in run.artifacts or ())
    return ToolAnswer(render.run_text(run, _boundary()), run, links=links, is_error=is_error)


def ended_answer(run: Run) -> ToolAnswer:
    """Return the same for a run whose end was waited for: one that came to nothing is an error of the call."""
    return run_answer(run, is_error=run.status in _FAILED)


def task_of(run: Run | RunAccepted) -> OfferedTask:
    """Return how a run stands as a task, without what came of it."""
    message = run.status.value
    if isinstance(run, Run):
        message = f"{message}: {run.progress.done_steps} of {run.progress.total_steps} steps"
    return OfferedTask(
        id=run.run_id,
        status=_TASK_STATUS[run.status],
        created=run.created_at,
        updated=run.updated_at if isinstance(run, Run) else run.created_at,
        message=message,
        ttl_ms=ARTIFACT_TTL_MS,
        poll_ms=POLL_MS,
    )


_FAILED = frozenset({RunStatus.FAILED, RunStatus.CANCELED})

_TASK_STATUS: Mapping[RunStatus, TaskStatus] = MappingProxyType(
    {
        RunStatus.QUEUED: TaskStatus.WORKING,
        RunStatus.RUNNING: TaskStatus.WORKING,
        RunStatus.SUCCEEDED: TaskStatus.COMPLETED,
        RunStatus.PARTIAL_SUCCESS: TaskStatus.COMPLETED,
        RunStatus.FAILED: TaskStatus.COMPLETED,  # its result is an error that the model reads
        RunStatus.CANCELED: TaskStatus.CANCELLED,
    }
)


async def _templates(app: AppContext, _request: RequestContext, _arguments: WithoutArguments) -> ToolAnswer:
    templates = await runs.templates(app)
    return ToolAnswer(render.templates_text(templates), templates)


async def _run(app: AppContext, request: RequestContext, arguments: RunArguments) -> ToolAnswer:
    run = await runs.run(app, request, arguments)
    return ended_answer(run) if isinstance(run, Run) else ToolAnswer(render.accepted_text(run), run)


async def _begin(app: AppContext, request: RequestContext, arguments: RunArguments) -> OfferedTask | None:
    """Begin a run as a task, unless the client wants to wait for its end in the call itself."""
    return None if arguments.options.mode is Mode.SYNC else task_of(await runs.create(app, request, arguments))


async def _get(app: AppContext, request: RequestContext, arguments: NamedRun) -> ToolAnswer:
    return run_answer(await runs.get(app, request, arguments.run_id))


async def _list(app: AppContext, request: RequestContext, arguments: RunsRequest) -> ToolAnswer:
    listed = await runs.list_runs(app, request, arguments)
    return ToolAnswer(render.list_text(listed, arguments.offset), listed)


async def _cancel(app: AppContext, request: RequestContext, arguments: NamedRun) -> ToolAnswer:
    answer = await runs.cancel(app, request, arguments.run_id)
    return ToolAnswer(render.cancel_text(answer, arguments.run_id), answer)


async def _artifact(app: AppContext, request: RequestContext, arguments: ArtifactRequest) -> ToolAnswer:
    chunk = await runs.artifact(app, request, arguments)
    return ToolAnswer(render.chunk_text(chunk, _boundary()), chunk)


async def _profile(app: AppContext, request: RequestContext, _arguments: WithoutArguments) -> ToolAnswer:
    profile = await runs.profile(app, request)
    return ToolAnswer(render.profile_text(profile), profile)


def _render_error(error: Fault, _tool: str, arguments: Mapping[str, Any]) -> tuple[str, RunFault]:
    run_fault = run_fault_of(error, arguments)
    return run_fault_text(run_fault), run_fault


def _boundary() -> str:
    return secrets.token_hex(BOUNDARY_BYTES)


_ENTRY = partial(BuiltinTool[Any], toolset=Toolset.RUNS, render_error=_render_error)
"""What all of them have in common."""

RUN_TOOLS: Mapping[str, BuiltinTool[Any]] = by_name(
    _ENTRY(
        registered.RUN_TOOLS["list_task_templates"],
        _templates,
        title="List templates",
        answer=TemplateList,
        annotations=_LOOK,
    ),
    _ENTRY(
        registered.RUN_TOOLS["run_task_template"],
        _run,
        title="Run a template",
        begin=_begin,
        answer=Run,
        annotations=_ACT,
    ),
    _ENTRY(
        registered.RUN_TOOLS["get_task_run"],
        _get,
        title="See a run",
        answer=Run,
        annotations=_LOOK,
    ),
    _ENTRY(
        registered.RUN_TOOLS["cancel_task_run"],
        _cancel,
        title="Cancel a run",
        answer=CancelAnswer,
        annotations=_STOP,
    ),
    _ENTRY(
        registered.RUN_TOOLS["get_artifact"],
        _artifact,
        title="Read an artifact",
        answer=ArtifactChunk,
        annotations=_LOOK,
    ),
    _ENTRY(
        registered.RUN_TOOLS["list_task_runs"],
        _list,
        title="List runs",
        answer=RunList,
        annotations=_LOOK,
    ),
    _ENTRY(
        registered.RUN_TOOLS["get_runtime_profile"],
        _profile,
        title="See limits",
        answer=RuntimeProfile,
        annotations=_LOOK,
    ),
)
"""The tools, by name; those that are needed least come last, since some clients take the first 40 alone."""
