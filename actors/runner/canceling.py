"""Cancels runs: those that wait at once, those at work before their next step (002 §4.4)."""

from __future__ import annotations

from actors.runner.run_log import Histories, RunHistory
from bus.clock import now_ms
from protocol.faults import Code, FaultError, fault
from protocol.runs.events import CancelRequested, LedgerLine, RunEnded
from protocol.runs.requests import AskRun
from protocol.runs.responses import CancelAnswer
from protocol.runs.states import RunStatus


async def cancel(histories: Histories, asked: AskRun) -> CancelAnswer:
    """Note that a run is to stop; one that waits in the queue is over at once, and no step of it is done.

    Raises:
        FaultError: RUN_NOT_FOUND.
    """
    state = await histories.stands(asked.run_id)
    if state.created is None or state.created.caller != asked.caller:
        raise FaultError(fault(Code.RUN_NOT_FOUND))
    if state.final:
        return _answer(state, requested=False)
    state = await histories.change(asked.run_id, state, lambda now: _requested(asked.run_id, now))
    # A run that ended by itself, before the wish was written down.
    if not state.cancel_requested:
        return _answer(state, requested=False)
    state = await histories.change(asked.run_id, state, lambda now: _ended(asked.run_id, now))
    return _answer(state, requested=True)


def _requested(run_id: str, state: RunHistory) -> LedgerLine | None:
    if state.final or state.cancel_requested:
        return None
    return CancelRequested(run_id=run_id, at=now_ms())


def _ended(run_id: str, state: RunHistory) -> LedgerLine | None:
    if state.status is not RunStatus.QUEUED:
        return None
    return RunEnded(run_id=run_id, at=now_ms(), status=RunStatus.CANCELED, fault=fault(Code.RUN_CANCELED))


def _answer(state: RunHistory, *, requested: bool) -> CancelAnswer:
    return CancelAnswer(cancel_requested=requested, current_status=state.status or RunStatus.QUEUED)
