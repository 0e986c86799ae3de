"""What is written into the ledger about runs: the truth of them, from which everything else is read.

A run has the topic `run.{id}.state` for what happens to it as a whole, where each line follows the one before it, and
`run.{id}.step.{number}` for each of its steps, where there is one line at most. Times in ms since the epoch.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from protocol.faults import Fault
from protocol.runs.states import ArtifactType, Mode, RunStatus, StepStatus


class _Line(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    """Something that has happened."""

    run_id: str
    at: int


class RunCreated(_Line, frozen=True, kw_only=True, tag="created"):
    """A run was asked for; `inputs` are without what is secret, which the replica `secrets_at` has in memory alone.

    `timeout_ms` is the one that counts. `session_id` is that of the caller, or the run's own (`own_session`), which
    is closed at the end unless it is `preserved`. `steps` are the names of its steps.
    """

    caller: str
    local: bool
    template_id: str
    version: str
    inputs: dict[str, Any]
    steps: tuple[str, ...]
    timeout_ms: int
    mode: Mode
    artifacts: tuple[ArtifactType, ...] = (ArtifactType.JSON,)
    session_id: str = ""
    own_session: bool = False
    preserved: bool = False
    secrets_at: str = ""
    resumed_from: str = ""


class RunTaken(_Line, frozen=True, kw_only=True, tag="taken"):
    """A replica has begun the run, or goes on with it: the `attempt` counts from 1."""

    replica: str
    attempt: int


class CancelRequested(_Line, frozen=True, kw_only=True, tag="cancel_requested"):
    """The run is to stop before its next step."""


class KeptArtifact(Struct, frozen=True, kw_only=True):
    """A file of a run: its bytes are in ARTIFACTS in slices of `slice_bytes`, as `slice_name` names them."""

    artifact_id: str
    type: ArtifactType
    size: int
    expires_at: int
    slice_bytes: int


class RunEnded(_Line, frozen=True, kw_only=True, tag="ended"):
    """A run is over; `result` is what is told of it inline, `cut` whether the artifact has more.

    `fault` is why it is no success, `failed_step` the name of the step where that was, `step_code` the code of the tool
    layer there.
    """

    status: RunStatus
    result: Any = None
    cut: bool = False
    artifacts: tuple[KeptArtifact, ...] = ()
    fault: Fault | None = None
    failed_step: str = ""
    step_code: str = ""


class StepEnded(_Line, frozen=True, kw_only=True, tag="step"):
    """A step is over: what it gave, or why it failed; `tries` counts how often it was tried.

    `carried` tells that the outcome is that of the run which this one was resumed from.
    """

    index: int
    name: str
    status: StepStatus
    output: Any = None
    fault: Fault | None = None
    failed_at: str = ""
    step_code: str = ""
    tries: int = 1
    started: int = 0
    carried: bool = False


LedgerLine = RunCreated | RunTaken | CancelRequested | RunEnded | StepEnded


def state_topic(run_id: str) -> str:
    """Name where the lines of a run as a whole are."""
    return f"run.{run_id}.state"


def step_topic(run_id: str, index: int) -> str:
    """Name where the line of a step is."""
    return f"run.{run_id}.step.{index}"


def run_topics(run_id: str) -> str:
    """Name all topics of a run."""
    return f"run.{run_id}.>"


def slice_name(artifact_id: str, number: int) -> str:
    """Name a slice of a file in ARTIFACTS, by its number from 0."""
    return f"{artifact_id}.{number}"
