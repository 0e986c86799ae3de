"""What a client is told of a run: the row that is kept of it, and the line that ended it (002 §4.2, §4.3, §7.2)."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from actors.keeper.folding import RunRow, step_code
from protocol.faults import Code, fault
from protocol.runs.events import KeptArtifact, RunEnded
from protocol.runs.responses import ArtifactRef, Run, RunErrorDetails, RunMetrics, RunProgress, RunSummary
from protocol.runs.states import RunStatus


def whole_run(row: RunRow, artifacts: tuple[KeptArtifact, ...], ended: RunEnded | None, now: int) -> Run:
    """Tell of a run with its result; `ended` is None while it is under way, and when that line is kept no longer."""
    run = run_so_far(row, now)
    if not row.status.final:
        return run
    run = replace(run, artifacts=tuple(_ref(one) for one in artifacts))
    if ended is not None:
        run = replace(
            run,
            result=UNSET if ended.result is None else ended.result,
            result_truncated=True if ended.cut else UNSET,
        )
    return _with_error(run, row, ended) if row.error_code else run


def run_so_far(row: RunRow, now: int) -> Run:
    """Return how a run stands, without its result."""
    return Run(
        run_id=row.run_id,
        template_id=row.template_id,
        status=row.status,
        progress=_progress(row),
        metrics=_metrics(row, now),
        created_at=row.created_at,
        updated_at=row.updated_at,
        session_id=row.session_id or UNSET,
        session_preserved=row.session_preserved if row.session_id else UNSET,
        cancel_requested=True if row.cancel_requested else UNSET,
        resumed_from=row.resumed_from or UNSET,
        error_code=row.error_code or UNSET,
    )


def summary(row: RunRow) -> RunSummary:
    """Tell of a run in a list."""
    return RunSummary(
        run_id=row.run_id,
        template_id=row.template_id,
        status=row.status,
        created_at=row.created_at,
        updated_at=row.updated_at,
        progress=_progress(row),
        error_code=row.error_code or UNSET,
    )


def _progress(row: RunRow) -> RunProgress:
    return RunProgress(total_steps=row.total_steps, done_steps=row.done_steps)


def _metrics(row: RunRow, now: int) -> RunMetrics:
    """Measure; the clocks of two hosts may differ, which makes nobody's time negative."""
    until = now if row.ended_at is None else row.ended_at
    started = until if row.started_at is None else row.started_at
    return RunMetrics(elapsed_ms=max(0, until - started), queued_ms=max(0, started - row.created_at))


def _ref(kept: KeptArtifact) -> ArtifactRef:
    return ArtifactRef(
        artifact_id=kept.artifact_id,
        type=kept.type,
        size=kept.size,
        mime_type=kept.type.media_type,
        expires_at=kept.expires_at,
    )


def _with_error(run: Run, row: RunRow, ended: RunEnded | None) -> Run:
    meant = fault(Code(row.error_code))
    told = (ended.fault if ended else None) or meant
    actions = told.actions or meant.actions
    details = RunErrorDetails(run_id=row.run_id)
    if ended is not None and ended.failed_step and row.status is RunStatus.FAILED:
        code = step_code(ended.step_code, ended.fault)
        details = replace(details, failed_step=ended.failed_step, step_error_code=code or UNSET)
    return replace(
        run,
        error=told.message,
        recover_hint=actions[0].description if actions else UNSET,
        details=details,
    )
