"""What clients see of templates, runs and artifacts: the responses of the seven tools (002 §2 to §5).

What is added to the contract has a default, so that the schemas require no more than the contract does (002 §11); it is
in every response all the same.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from protocol.browse import SCHEMA_VERSION
from protocol.runs.states import (
    ARTIFACT_TTL_MS,
    MAX_ARTIFACT_INLINE_BYTES,
    MAX_CONCURRENT_RUNS,
    MAX_RUN_TIMEOUT_MS,
    POLL_MS,
    ArtifactType,
    Mode,
    RunStatus,
    StepStatus,
    TrustLevel,
)


class TemplateLimits(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one run of a template may be; times in ms."""

    max_urls: int | UnsetType = UNSET
    max_concurrency: int | UnsetType = UNSET
    max_timeout_ms: int | UnsetType = UNSET


class Template(Struct, frozen=True, kw_only=True, rename="camel"):
    """A template, as the list shows it (002 §3); the schemas are JSON Schema.

    What follows `outputs_schema` is added to the contract. `partial_success_threshold` is the share of items that has
    to succeed; `steps` are the names that steps have.
    """

    template_id: str
    version: str
    name: str
    trust_level_support: tuple[TrustLevel, ...]
    limits: TemplateLimits
    inputs_schema: dict[str, Any]
    outputs_schema: dict[str, Any]
    supports_partial_success: bool = False
    execution_mode: Mode = Mode.AUTO
    description: str = ""
    steps: tuple[str, ...] = ()
    partial_success_threshold: float | UnsetType = UNSET


class TemplateList(Struct, frozen=True, kw_only=True, rename="camel"):
    """list_task_templates."""

    templates: tuple[Template, ...]
    schema_version: str = SCHEMA_VERSION


class RuntimeLimits(Struct, frozen=True, kw_only=True, rename="camel"):
    """What bounds all runs together (002 §2)."""

    max_concurrent_runs: int = MAX_CONCURRENT_RUNS
    max_run_timeout_ms: int = MAX_RUN_TIMEOUT_MS
    max_artifact_inline_bytes: int = MAX_ARTIFACT_INLINE_BYTES


class RuntimeProfile(Struct, frozen=True, kw_only=True, rename="camel"):
    """get_runtime_profile; what follows `limits` is added to the contract."""

    runtime_version: str
    limits: RuntimeLimits
    trust_level: TrustLevel = TrustLevel.REMOTE
    artifact_ttl_ms: int = ARTIFACT_TTL_MS
    poll_interval_ms: int = POLL_MS
    schema_version: str = SCHEMA_VERSION


class RunAccepted(Struct, frozen=True, kw_only=True, rename="camel"):
    """run_task_template, where its end is not waited for (002 §4.1); time in ms since the epoch.

    What follows `created_at` is added to the contract. `mode` is what the template made of `auto`; `deduplicated`: the
    idempotency key stands for this run already; `resumed_from` is the run whose steps it goes on after.
    """

    run_id: str
    status: RunStatus
    created_at: int
    mode: Mode = Mode.ASYNC
    template_id: str = ""
    session_id: str | UnsetType = UNSET
    session_preserved: bool | UnsetType = UNSET
    deduplicated: bool | UnsetType = UNSET
    resumed_from: str | UnsetType = UNSET
    poll_interval_ms: int = POLL_MS
    schema_version: str = SCHEMA_VERSION


class RunProgress(Struct, frozen=True, kw_only=True, rename="camel"):
    """How far a run is: steps whose outcome is recorded, of all."""

    total_steps: int
    done_steps: int


class RunMetrics(Struct, frozen=True, kw_only=True, rename="camel"):
    """Times of a run in ms: at work so far, or until its end; and what it waited in the queue."""

    elapsed_ms: int
    queued_ms: int | UnsetType = UNSET


class ArtifactRef(Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that a run has left; `size` in bytes, `expires_at` in ms since the epoch."""

    artifact_id: str
    type: ArtifactType
    size: int
    mime_type: str = ""
    expires_at: int = 0


class RunErrorDetails(Struct, frozen=True, kw_only=True, rename="camel"):
    """Where a run failed, and the code of the tool layer there (002 §7.3)."""

    run_id: str
    failed_step: str | UnsetType = UNSET
    step_error_code: str | UnsetType = UNSET


class Run(Struct, frozen=True, kw_only=True, rename="camel"):
    """get_task_run, and run_task_template where its end is waited for (002 §4.2); times in ms since the epoch.

    `result` and `artifacts` are there at the end. Where the result is longer than `maxArtifactInlineBytes`, its items
    are shortened, `result_truncated` says so, and the artifact of type json has it whole. `error` to `details` tell why
    a run has failed (002 §7.2). What follows `artifacts` is added to the contract; `deduplicated` is that of
    RunAccepted, where the end of a run was waited for. Where it is asked for, `inputs` are those of the run without
    what is secret, and `conversation_id` is that of its packets.
    """

    run_id: str
    template_id: str
    status: RunStatus
    progress: RunProgress
    metrics: RunMetrics
    result: Any = UNSET
    artifacts: tuple[ArtifactRef, ...] | UnsetType = UNSET
    created_at: int = 0
    updated_at: int = 0
    session_id: str | UnsetType = UNSET
    session_preserved: bool | UnsetType = UNSET
    cancel_requested: bool | UnsetType = UNSET
    resumed_from: str | UnsetType = UNSET
    result_truncated: bool | UnsetType = UNSET
    error: str | UnsetType = UNSET
    error_code: str | UnsetType = UNSET
    recover_hint: str | UnsetType = UNSET
    details: RunErrorDetails | UnsetType = UNSET
    deduplicated: bool | UnsetType = UNSET
    inputs: dict[str, Any] | UnsetType = UNSET
    conversation_id: str | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class RunSummary(Struct, frozen=True, kw_only=True, rename="camel"):
    """One run of a list; what follows `updated_at` is added to the contract."""

    run_id: str
    template_id: str
    status: RunStatus
    created_at: int
    updated_at: int
    progress: RunProgress = RunProgress(total_steps=0, done_steps=0)
    error_code: str | UnsetType = UNSET


class RunList(Struct, frozen=True, kw_only=True, rename="camel"):
    """list_task_runs: newest first (002 §4.3); added are `total`, which counts all that fit, and `offset`.

    `offset` is how many of those stand before the first of these.
    """

    runs: tuple[RunSummary, ...]
    total: int = 0
    offset: int = 0
    schema_version: str = SCHEMA_VERSION


class CancelAnswer(Struct, frozen=True, kw_only=True, rename="camel"):
    """cancel_task_run: whether the wish was taken, and how the run stands now (002 §4.4)."""

    cancel_requested: bool
    current_status: RunStatus
    schema_version: str = SCHEMA_VERSION


class ArtifactChunk(Struct, frozen=True, kw_only=True, rename="camel"):
    """get_artifact: a piece of a file in base64 (002 §5); `size` is that of the whole file, in bytes.

    `offset` and `bytes_returned` are there unless the piece is the whole file.
    """

    artifact_id: str
    mime_type: str
    size: int
    data: bytes
    complete: bool
    offset: int | UnsetType = UNSET
    bytes_returned: int | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class RunEvent(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Something that has happened to a run; `id` grows with each, `at` in ms since the epoch.

    `event` is `queued`, `started`, `resumed` (another replica goes on with it), `cancel_requested`, `step` or the
    status that the run ended in. Of a step it tells the number (from 0), the name, when its first try began, what
    became of it, and the capture that shows the page at its end.
    """

    id: int
    event: str
    at: int
    status: RunStatus
    total_steps: int
    done_steps: int
    step: int | None = None
    name: str = ""
    step_status: StepStatus | None = None
    error_code: str = ""
    started_at: int | None = None
    screenshot: str = ""
