"""The lines of the ledger about runs, and the one fold of them that everything else is read from.

A run has the topic `run.{id}.state` for what happens to it as a whole, where each line follows the one before it, and
`run.{id}.step.{number}` for each of its steps, where there is one line at most. Times in ms since the epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, assert_never

from msgspec import Struct
from msgspec.structs import replace

from protocol.faults import Code, Fault
from protocol.runs.states import (
    ArtifactType,
    IllegalTransitionError,
    Mode,
    RunStatus,
    RunTrigger,
    StepStatus,
    StepTrigger,
    next_run_status,
    next_step_status,
)


class _Line(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="line"):
    """Something that has happened."""

    run_id: str
    at: int


class RunCreated(_Line, frozen=True, kw_only=True, tag="created"):
    """A run was asked for; `inputs` are without what is secret, which the replica `secrets_at` has in memory alone.

    `timeout_ms` is the one that counts. `session_id` is that of the caller, or the run's own (`own_session`), which
    is closed at the end unless it is `preserved`. `steps` are the names of its steps; of those in a browser
    `screenshots` are kept. All its packets are of `conversation`.
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
    conversation: str = ""
    screenshots: bool = False


class RunTaken(_Line, frozen=True, kw_only=True, tag="taken"):
    """A replica has begun the run, or goes on with it: the `attempt` counts from 1."""

    replica: str
    attempt: int


class CancelRequested(_Line, frozen=True, kw_only=True, tag="cancel_requested"):
    """The run is to stop before its next step: its caller wants that, or the key of the caller has ended."""

    reason: Literal["", "key_ended"] = ""


class KeptArtifact(Struct, frozen=True, kw_only=True):
    """A file of a run: its bytes are in ARTIFACTS in slices of `slice_bytes`, as `slice_name` names them."""

    artifact_id: str
    type: ArtifactType
    size: int
    expires_at: int
    slice_bytes: int


class RunEnded(_Line, frozen=True, kw_only=True, tag="ended"):
    """A run is over; `result` is what stands inline, `cut` whether the artifact has more.

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

    `screenshot` is how the page looked at its end, by its name in CAPTURES. `carried`: the outcome is that of the run
    which this one resumes.
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
    screenshot: str = ""
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


class RunState(Struct, frozen=True, kw_only=True):
    """How a run stands after some of its lines: what they come to, without what they carry.

    Times in ms since the epoch, lines by their sequence (0: there is none).
    """

    run_id: str
    caller: str
    template_id: str
    status: RunStatus
    created_at: int
    created_line: int
    updated_at: int
    started_at: int | None = None
    ended_at: int | None = None
    ended_line: int = 0
    total_steps: int
    done_steps: int = 0
    session_id: str = ""
    session_preserved: bool = False
    resumed_from: str = ""
    cancel_requested: bool = False
    error_code: str = ""


_STEP_ENDS: Final[Mapping[tuple[StepStatus, bool], tuple[StepTrigger, ...]]] = MappingProxyType(
    {
        (StepStatus.SUCCEEDED, False): (StepTrigger.BEGUN, StepTrigger.SUCCEEDED),
        (StepStatus.FAILED, False): (StepTrigger.BEGUN, StepTrigger.FAILED),
        (StepStatus.SKIPPED, False): (StepTrigger.SKIPPED,),
        (StepStatus.SUCCEEDED, True): (StepTrigger.CARRIED,),
    }
)
"""What has happened to a step that is written down, by its status and whether it was carried."""


def fold(state: RunState | None, sequence: int, line: LedgerLine, *, recorded: bool = False) -> RunState:
    """Return how a run stands after one more line: `state` itself where the line changes nothing.

    Of a step the first outcome counts (`recorded`: it has one already), and none after the end of the run.

    Raises:
        IllegalTransitionError: no history of a run goes on like that.
    """
    if isinstance(line, StepEnded):
        return _after_step(state, line, recorded=recorded)
    status = next_run_status(None if state is None else state.status, _trigger(line))
    if isinstance(line, RunCreated):
        return _created(status, sequence, line)
    if state is None:  # pragma: no cover - the table has no other way out of nothing
        raise IllegalTransitionError
    updated_at = max(state.updated_at, line.at)
    match line:
        case RunTaken():
            started_at = line.at if state.started_at is None else state.started_at
            return replace(state, status=status, started_at=started_at, updated_at=updated_at)
        case CancelRequested():
            return state if state.cancel_requested else replace(state, cancel_requested=True, updated_at=updated_at)
        case RunEnded():
            return replace(
                state,
                status=status,
                updated_at=updated_at,
                ended_at=line.at,
                ended_line=sequence,
                done_steps=state.total_steps if status is RunStatus.SUCCEEDED else state.done_steps,
                error_code=_error_code(line),
            )
        case _:
            assert_never(line)


def _trigger(line: RunCreated | RunTaken | CancelRequested | RunEnded) -> RunTrigger:
    match line:
        case RunCreated():
            return RunTrigger.CREATED
        case RunTaken():
            return RunTrigger.TAKEN
        case CancelRequested():
            return RunTrigger.CANCEL_REQUESTED
        case RunEnded():
            if not line.status.final:
                msg = f"no run ends {line.status}"
                raise IllegalTransitionError(msg)
            return RunTrigger(line.status.value)


def _created(status: RunStatus, sequence: int, line: RunCreated) -> RunState:
    return RunState(
        run_id=line.run_id,
        caller=line.caller,
        template_id=line.template_id,
        status=status,
        created_at=line.at,
        created_line=sequence,
        updated_at=line.at,
        total_steps=len(line.steps),
        session_id=line.session_id,
        session_preserved=bool(line.session_id) and (line.preserved or not line.own_session),
        resumed_from=line.resumed_from,
    )


def _after_step(state: RunState | None, line: StepEnded, *, recorded: bool) -> RunState:
    if state is None or not 0 <= line.index < state.total_steps:
        msg = f"the run has no step {line.index}"
        raise IllegalTransitionError(msg)
    triggers = _STEP_ENDS.get((line.status, line.carried))
    if triggers is None:
        msg = f"no step is written down as {line.status}"
        raise IllegalTransitionError(msg)
    status = StepStatus.PENDING
    for trigger in triggers:
        status = next_step_status(status, trigger)
    if state.status.final or recorded:
        return state
    return replace(state, done_steps=state.done_steps + 1, updated_at=max(state.updated_at, line.at))


def _error_code(line: RunEnded) -> str:
    """Return the code that a run failed with, `""` where it did not.

    The code of the tool layer stands below it (002 §7.3).
    """
    code = line.fault.code if line.fault else None
    match line.status:
        case RunStatus.CANCELED:
            return Code.RUN_CANCELED
        case RunStatus.FAILED if line.failed_step and code is not Code.RUN_TIMEOUT:
            return Code.STEP_EXECUTION_FAILED
        case RunStatus.FAILED:
            return code or Code.INTERNAL_ERROR
        case _:
            return ""
