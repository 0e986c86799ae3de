"""What clients see of runs: the event that a line makes, a run with its result, its row in a list (002 §4 to §7)."""

from __future__ import annotations

from typing import Any, assert_never, cast

from msgspec import UNSET, Struct
from msgspec.structs import replace

from protocol.faults import Code, Fault, fault
from protocol.runs.events import (
    CancelRequested,
    KeptArtifact,
    LedgerLine,
    RunCreated,
    RunEnded,
    RunState,
    RunTaken,
    StepEnded,
    fold,
)
from protocol.runs.responses import ArtifactRef, Run, RunErrorDetails, RunEvent, RunMetrics, RunProgress, RunSummary
from protocol.runs.states import IllegalTransitionError, RunStatus, StepStatus


class RunChange(Struct, frozen=True):
    """What a line changes."""

    run: RunState
    event: RunEvent
    artifacts: tuple[KeptArtifact, ...] = ()


def change_of(run: RunState | None, sequence: int, line: LedgerLine, *, recorded: bool = False) -> RunChange | None:
    """Return what a line changes of `run`, or None where it changes nothing or is no part of a history.

    `recorded`: the step of the line has an outcome already.
    """
    try:
        after = fold(run, sequence, line, recorded=recorded)
    except IllegalTransitionError:
        return None
    if after is run:
        return None
    return RunChange(after, _event(run, after, sequence, line), line.artifacts if isinstance(line, RunEnded) else ())


def note_of(line: StepEnded) -> str:
    """Return the address that a step was about, and why nothing of it was kept; "" where it names none."""
    output = cast("dict[str, Any]", line.output or {})
    where = line.fault.context if line.fault is not None else None
    url = str(output.get("url") or (where.url if where is not None else "") or "")
    return f"{url} ({output['leftOut']})" if url and output.get("leftOut") else url


def whole_run(state: RunState, artifacts: tuple[KeptArtifact, ...], ended: RunEnded | None, now: int) -> Run:
    """Return a run with its result; `ended` is None while it is at work, and when that line is kept no longer."""
    run = run_so_far(state, now)
    if not state.status.final:
        return run
    run = replace(run, artifacts=tuple(_ref(one) for one in artifacts))
    if ended is not None:
        run = replace(
            run,
            result=UNSET if ended.result is None else ended.result,
            result_truncated=True if ended.cut else UNSET,
        )
    return _with_error(run, state, ended) if state.error_code else run


def with_request(run: Run, created: RunCreated | None) -> Run:
    """Return a run with what it was asked for; `created` is None when that line is kept no longer."""
    if created is None:
        return run
    return replace(run, inputs=created.inputs, conversation_id=created.conversation or UNSET)


def run_so_far(state: RunState, now: int) -> Run:
    """Return how a run stands, without its result."""
    return Run(
        run_id=state.run_id,
        template_id=state.template_id,
        status=state.status,
        progress=_progress(state),
        metrics=_metrics(state, now),
        created_at=state.created_at,
        updated_at=state.updated_at,
        session_id=state.session_id or UNSET,
        session_preserved=state.session_preserved if state.session_id else UNSET,
        cancel_requested=True if state.cancel_requested else UNSET,
        resumed_from=state.resumed_from or UNSET,
        error_code=state.error_code or UNSET,
    )


def summary(state: RunState) -> RunSummary:
    """Return a run as a list shows it."""
    return RunSummary(
        run_id=state.run_id,
        template_id=state.template_id,
        status=state.status,
        created_at=state.created_at,
        updated_at=state.updated_at,
        progress=_progress(state),
        error_code=state.error_code or UNSET,
    )


def _event(before: RunState | None, run: RunState, sequence: int, line: LedgerLine) -> RunEvent:
    event = RunEvent(
        id=sequence,
        event="",
        at=line.at,
        status=run.status,
        total_steps=run.total_steps,
        done_steps=run.done_steps,
    )
    match line:
        case RunCreated():
            return replace(event, event="queued")
        case RunTaken():
            first = before is None or before.started_at is None
            return replace(event, event="started" if first else "resumed")
        case CancelRequested():
            return replace(event, event="cancel_requested")
        case RunEnded():
            return replace(event, event=line.status.value, error_code=run.error_code)
        case StepEnded():
            code = _step_code(line.step_code, line.fault) if line.status is StepStatus.FAILED else ""
            event = replace(event, event="step", step=line.index, name=line.name, step_status=line.status)
            return replace(event, error_code=code, started_at=line.started or None, screenshot=line.screenshot)
        case _:
            assert_never(line)


def _progress(state: RunState) -> RunProgress:
    return RunProgress(total_steps=state.total_steps, done_steps=state.done_steps)


def _metrics(state: RunState, now: int) -> RunMetrics:
    """Measure; the clocks of two hosts may differ, which makes nobody's time negative."""
    until = now if state.ended_at is None else state.ended_at
    started = until if state.started_at is None else state.started_at
    return RunMetrics(elapsed_ms=max(0, until - started), queued_ms=max(0, started - state.created_at))


def _ref(kept: KeptArtifact) -> ArtifactRef:
    return ArtifactRef(
        artifact_id=kept.artifact_id,
        type=kept.type,
        size=kept.size,
        mime_type=kept.type.media_type,
        expires_at=kept.expires_at,
    )


def _with_error(run: Run, state: RunState, ended: RunEnded | None) -> Run:
    default = fault(Code(state.error_code))
    failure = (ended.fault if ended else None) or default
    actions = failure.actions or default.actions
    details = RunErrorDetails(run_id=state.run_id)
    if ended is not None and ended.failed_step and state.status is RunStatus.FAILED:
        code = _step_code(ended.step_code, ended.fault)
        details = replace(details, failed_step=ended.failed_step, step_error_code=code or UNSET)
    return replace(
        run,
        error=failure.message,
        recover_hint=actions[0].description if actions else UNSET,
        details=details,
    )


def _step_code(code: str, failure: Fault | None) -> str:
    """Return the code of the tool layer, which is that of the fault where none was noted and it has one (002 §7.3)."""
    if code or failure is None or failure.code is Code.STEP_EXECUTION_FAILED:
        return code
    return failure.code
