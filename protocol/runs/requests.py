"""The requests to the runner and the keeper, and what an idempotency key stands for."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from msgspec import Meta, Struct, field

from protocol.access import Scope
from protocol.browsers.operations import SessionId
from protocol.runs.responses import Run, RunEvent, RuntimeLimits, Template
from protocol.runs.states import (
    DEFAULT_LISTED,
    MAX_ARTIFACT_INLINE_BYTES,
    MAX_LISTED,
    MAX_OFFSET,
    ArtifactId,
    ArtifactType,
    IdempotencyKey,
    Mode,
    RunId,
    RunStatus,
    TemplateId,
)

MAX_FOLLOW_MS = 20_000

INPUTS: Final = "run.inputs"
"""The purpose that the inputs of a run are sealed for."""


class RunOptions(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """How a run is to go (002 §4.1): its time counts from its start, and is cut to what template and runtime allow.

    `artifacts` are the forms in which its result is kept. `screenshots` are JPEGs of the window.
    """

    timeout_ms: Annotated[int, Meta(ge=1, le=86_400_000, description="Milliseconds for the run.")] | None = None
    mode: Annotated[Mode, Meta(description="sync waits for the result, async returns a runId at once.")] = Mode.AUTO
    artifacts: Annotated[
        tuple[ArtifactType, ...], Meta(min_length=1, max_length=5, description="Files to keep of the result.")
    ] = (ArtifactType.JSON,)
    screenshots: Annotated[
        bool, Meta(description="Keep for a day how the page looks after each step in a browser; not with secrets.")
    ] = False


class ListTemplates(Struct, frozen=True, kw_only=True):
    """RUN_TEMPLATES: list the templates."""


class Templates(Struct, frozen=True, kw_only=True):
    """RUN_TEMPLATES: the templates, and what bounds all runs together; times in ms."""

    templates: tuple[Template, ...]
    limits: RuntimeLimits
    artifact_ttl_ms: int


class CreateRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RUN_CREATE: begin a run for `caller`; asked twice with the same `run_id`, it is begun once.

    `inputs` is their JSON, encrypted by the vault key for `inputs_of(run_id)`: what is secret in them never travels in
    the open. `scopes` are those of the caller: the steps of a run do nothing that its caller could not. `local` is the
    trust level of 002 §9. `resume` is the run that it takes its inputs and its finished steps from; `inputs` then holds
    only what is not kept, or `{}`.
    """

    run_id: RunId
    inputs: bytes
    template_id: TemplateId = ""
    template_version: str | None = None
    session_id: SessionId | None = None
    options: RunOptions = RunOptions()
    idempotency_key: IdempotencyKey | None = None
    caller: str = ""
    scopes: tuple[Scope, ...] = ()
    local: bool = False
    resume: RunId | None = None


class AskRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RUN_CANCEL, RUN_GET: the run of that id of `caller`, who finds no run of anybody else.

    `include_inputs`: tell at RUN_GET its inputs, too, and its conversation.
    """

    run_id: RunId
    caller: str
    include_inputs: bool = False


class DoRun(Struct, frozen=True, kw_only=True):
    """RUN: do this run, or go on with it; the ledger knows the rest."""

    run_id: RunId


class AskSecrets(Struct, frozen=True, kw_only=True):
    """RUN_SECRETS: what of a run's inputs is kept in no place but the memory of this replica."""

    run_id: RunId


class Secrets(Struct, frozen=True, kw_only=True):
    """RUN_SECRETS: their JSON, encrypted for `inputs_of(run_id)`; None where it is not there (any more)."""

    sealed: bytes | None = None


class RunSort(StrEnum):
    """By what runs are ordered."""

    CREATED = "createdAt"
    UPDATED = "updatedAt"


class ListRuns(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RUN_LIST: the runs of `caller`, newest first unless another order is named.

    With `after` it begins behind that run, wherever that stands in the order; `offset` counts from there.
    """

    caller: str
    status: RunStatus | None = None
    template_id: TemplateId | None = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED)] = DEFAULT_LISTED
    offset: Annotated[int, Meta(ge=0, le=MAX_OFFSET)] = 0
    sort: RunSort = RunSort.CREATED
    ascending: bool = False
    after: RunId | None = None


class FollowRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RUN_FOLLOW: what has happened to a run after the event `after`, as soon as there is something or time is up.

    With `notes` it is told of each step what that was about.
    """

    run_id: RunId
    caller: str
    after: Annotated[int, Meta(ge=0)] = 0
    wait_ms: Annotated[int, Meta(ge=0, le=MAX_FOLLOW_MS)] = 0
    notes: bool = False


class RunNews(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """RUN_FOLLOW: what has happened, in order, and how the run stands now; its `result` is there only at RUN_GET.

    `notes` are the addresses that steps were about and what was made of them, by the ids of their events.
    """

    events: tuple[RunEvent, ...]
    run: Run
    notes: dict[int, str] = {}


class ReadArtifact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """ARTIFACT_READ: a piece of a file of `caller`; `offset` and `limit` in bytes."""

    artifact_id: ArtifactId
    caller: str
    offset: Annotated[int, Meta(ge=0)] = 0
    limit: Annotated[int, Meta(ge=1)] = MAX_ARTIFACT_INLINE_BYTES


def inputs_of(run_id: str) -> str:
    """Name the place that the inputs of a run are sealed for."""
    return f"{INPUTS} {run_id}"


class IdempotencyEntry(Struct, frozen=True, kw_only=True):
    """RUN_KEYS: the run that an idempotency key has begun, and a digest of its request without what is secret in it."""

    run_id: str
    digest: str = field(name="asked")
