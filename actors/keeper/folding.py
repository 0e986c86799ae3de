"""What a line of the ledger makes of a run: the rows that are kept of it, and the event that is told (002 §6).

The first word counts: a second outcome of a step and whatever comes after the end change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from protocol.faults import Code, Fault
from protocol.runs.events import (
    CancelRequested,
    KeptArtifact,
    LedgerLine,
    RunCreated,
    RunEnded,
    RunTaken,
    StepEnded,
)
from protocol.runs.responses import RunEvent
from protocol.runs.states import RunStatus, StepStatus

_OUTCOMES = frozenset({StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.SKIPPED})


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as it is kept; times in ms since the epoch, lines by their sequence (0: there is none)."""

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


@dataclass(frozen=True)
class Change:
    """What a line changes."""

    run: RunRow
    event: RunEvent
    artifacts: tuple[KeptArtifact, ...] = ()


def fold(run: RunRow | None, sequence: int, said: LedgerLine, *, has_outcome: bool = False) -> Change | None:
    """Return what a line changes of `run`, or None where it changes nothing.

    `has_outcome` tells whether the step of the line has one already.
    """
    if isinstance(said, RunCreated):
        return _created(sequence, said) if run is None else None
    if run is None or run.status.final:
        return None
    run = replace(run, updated_at=max(run.updated_at, said.at))
    match said:
        case RunTaken():
            return _taken(run, sequence, said)
        case CancelRequested():
            return _cancel_requested(run, sequence, said)
        case StepEnded():
            return None if has_outcome else _step_ended(run, sequence, said)
        case RunEnded():
            return _ended(run, sequence, said)
        case _:
            assert_never(said)


def error_code(said: RunEnded) -> str:
    """Return the code that a run failed with, `""` where it did not.

    What the tool layer says stands below it (002 §7.3).
    """
    code = said.fault.code if said.fault else None
    match said.status:
        case RunStatus.CANCELED:
            return Code.RUN_CANCELED
        case RunStatus.FAILED if said.failed_step and code is not Code.RUN_TIMEOUT:
            return Code.STEP_EXECUTION_FAILED
        case RunStatus.FAILED:
            return code or Code.INTERNAL_ERROR
        case _:
            return ""


def step_code(code: str, failure: Fault | None) -> str:
    """Return the code of the tool layer, which is that of the fault where none was noted and it has one (002 §7.3)."""
    if code or failure is None or failure.code is Code.STEP_EXECUTION_FAILED:
        return code
    return failure.code


def _created(sequence: int, said: RunCreated) -> Change:
    run = RunRow(
        run_id=said.run_id,
        caller=said.caller,
        template_id=said.template_id,
        status=RunStatus.QUEUED,
        created_at=said.at,
        created_line=sequence,
        updated_at=said.at,
        total_steps=len(said.steps),
        session_id=said.session_id,
        session_preserved=bool(said.session_id) and (said.preserved or not said.own_session),
        resumed_from=said.resumed_from,
    )
    return Change(run, _event(run, sequence, RunStatus.QUEUED, said.at))


def _taken(run: RunRow, sequence: int, said: RunTaken) -> Change:
    first = run.started_at is None
    taken = replace(run, status=RunStatus.RUNNING, started_at=said.at if first else run.started_at)
    return Change(taken, _event(taken, sequence, "started" if first else "resumed", said.at))


def _cancel_requested(run: RunRow, sequence: int, said: CancelRequested) -> Change | None:
    if run.cancel_requested:
        return None
    asked = replace(run, cancel_requested=True)
    return Change(asked, _event(asked, sequence, "cancel_requested", said.at))


def _step_ended(run: RunRow, sequence: int, said: StepEnded) -> Change | None:
    if said.status not in _OUTCOMES or not 0 <= said.index < run.total_steps:
        return None
    further = replace(run, done_steps=run.done_steps + 1)
    code = step_code(said.step_code, said.fault) if said.status is StepStatus.FAILED else ""
    event = replace(
        _event(further, sequence, "step", said.at),
        step=said.index,
        name=said.name,
        step_status=said.status,
        error_code=code,
    )
    return Change(further, event)


def _ended(run: RunRow, sequence: int, said: RunEnded) -> Change | None:
    begun = run.status is not RunStatus.QUEUED
    if not said.status.final or not (begun or said.status is RunStatus.CANCELED):
        return None
    done = run.total_steps if said.status is RunStatus.SUCCEEDED else run.done_steps
    ended = replace(
        run,
        status=said.status,
        ended_at=said.at,
        ended_line=sequence,
        done_steps=done,
        error_code=error_code(said),
    )
    event = replace(_event(ended, sequence, said.status, said.at), error_code=ended.error_code)
    return Change(ended, event, said.artifacts)


def _event(run: RunRow, sequence: int, event: str, at: int) -> RunEvent:
    return RunEvent(
        id=sequence,
        event=str(event),
        at=at,
        status=run.status,
        total_steps=run.total_steps,
        done_steps=run.done_steps,
    )
