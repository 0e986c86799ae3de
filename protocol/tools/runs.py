"""The tools that run templates, and look at what comes of them (002 §2 to §5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from protocol.access import Scope
from protocol.runs.requests import RunOptions
from protocol.runs.states import DEFAULT_LISTED, MAX_LISTED, MAX_OFFSET, IdempotencyKey, RunStatus, TemplateId
from protocol.tools.tool import BRIEFLY, Risk, Tool, WithoutArguments, by_name

MAX_HANDLE_CHARS: Final = 200
MAX_VERSION_CHARS: Final = 64


class RunRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A template to run (002 §4.1)."""

    template_id: Annotated[str, Meta(max_length=MAX_HANDLE_CHARS)]
    template_version: Annotated[str, Meta(max_length=MAX_VERSION_CHARS)] | None = None
    session_id: (
        Annotated[str, Meta(max_length=MAX_HANDLE_CHARS, description="A browser session to work in.")] | None
    ) = None
    inputs: Annotated[dict[str, Any], Meta(description="As the template's inputsSchema says.")]
    options: RunOptions = RunOptions()
    idempotency_key: Annotated[IdempotencyKey, Meta(description="Same key, same run.")] | None = None


class RunsRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which runs to list (002 §4.3)."""

    status: RunStatus | None = None
    template_id: TemplateId | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = DEFAULT_LISTED
    offset: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 0


class ArtifactRequest(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A piece of a file (002 §5); a larger `limit` than there may be is cut to what there may be."""

    artifact_id: Annotated[str, Meta(max_length=MAX_HANDLE_CHARS)]
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1)] | None = None


class RunArguments(RunRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A template to run."""

    options: Annotated[
        RunOptions,
        Meta(
            description="timeoutMs; mode: sync, async or auto; artifacts: json, csv, markdown.",
            extra_json_schema={BRIEFLY: True},
        ),
    ] = RunOptions()


class NamedRun(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which run is meant."""

    run_id: Annotated[str, Meta(max_length=MAX_HANDLE_CHARS)]


def _tool(name: str, arguments: type[Struct], description: str, **more: Any) -> Tool[Any]:
    """Return the row of a tool that the gateway itself does for its caller, and no model of ours proposes."""
    fixed: dict[str, Any] = {"scope": Scope.RUNS, "risk": Risk.COLLECT, "proposable": False, **more}
    return Tool(name=name, arguments=arguments, description=description, **fixed)


RUN_TOOLS: Final[Mapping[str, Tool[Any]]] = by_name(
    _tool("list_task_templates", WithoutArguments, "List the templates: jobs of many steps.", idempotent=True),
    _tool(
        "run_task_template",
        RunArguments,
        "Run a template: returns its result, or a runId for get_task_run.",
        risk=Risk.RUN,
    ),
    _tool("get_task_run", NamedRun, "Return how a run stands, and its result; ask every 2 s.", idempotent=True),
    _tool("cancel_task_run", NamedRun, "Stop a run before its next step.", risk=Risk.RUN, idempotent=True),
    _tool("get_artifact", ArtifactRequest, "Read a file that a run has left, in pieces of base64.", idempotent=True),
    _tool("list_task_runs", RunsRequest, "List your runs, newest first.", idempotent=True),
    _tool("get_runtime_profile", WithoutArguments, "Return the version and the limits of runs.", idempotent=True),
)
"""Every tool of runs by its name; those that are needed least come last, since some clients take the first 40 alone."""
