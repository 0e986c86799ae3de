"""The fold of a run and the tables of states below it, by any sequence of lines and any sequence of triggers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.runs.events import LedgerLine, RunState, StepEnded, fold
from protocol.runs.states import (
    FINAL,
    RUN_TRANSITIONS,
    STEP_TRANSITIONS,
    IllegalTransitionError,
    RunStatus,
    RunTrigger,
    StepStatus,
    StepTrigger,
    next_run_status,
    next_step_status,
)
from tests.unit.protocol.runs.run_lines import CREATED, FINAL_STEPS, STEPS, any_lines


def prefixes(lines: list[LedgerLine]) -> list[RunState]:
    """Fold lines one by one, leaving out those that are refused; returns the state after each that was not."""
    state, states, recorded = None, list[RunState](), set[int]()
    for sequence, line in enumerate([CREATED, *lines], 1):
        index = line.index if isinstance(line, StepEnded) else -1
        try:
            state = fold(state, sequence, line, recorded=index in recorded)
        except IllegalTransitionError:
            continue
        recorded.add(index)
        states.append(state)
    return states


@given(any_lines)
def test_no_sequence_of_lines_leads_to_a_transition_that_is_not_in_the_table(lines: list[LedgerLine]) -> None:
    legal = {(before, reached) for (before, _), reached in RUN_TRANSITIONS.items()}

    for before, reached in pairwise(prefixes(lines)):
        assert (before.status, reached.status) in legal or before.status is reached.status


@given(any_lines)
def test_a_longer_prefix_takes_nothing_back(lines: list[LedgerLine]) -> None:
    order = {RunStatus.QUEUED: 0, RunStatus.RUNNING: 1, **dict.fromkeys(FINAL, 2)}

    for before, reached in pairwise(prefixes(lines)):
        if before.status.final:
            assert reached == before
        assert order[reached.status] >= order[before.status]
        assert before.done_steps <= reached.done_steps <= STEPS
        assert reached.updated_at >= before.updated_at
        assert before.started_at in {None, reached.started_at}
        assert reached.cancel_requested or not before.cancel_requested
        assert (reached.created_at, reached.created_line) == (1, 1)


@given(any_lines)
def test_what_is_known_of_the_end_is_there_once_the_run_is_over(lines: list[LedgerLine]) -> None:
    for state in prefixes(lines):
        assert (state.ended_at is not None) is state.status.final
        assert (state.ended_line > 0) is state.status.final
        assert bool(state.error_code) is (state.status in {RunStatus.FAILED, RunStatus.CANCELED})


@given(st.sampled_from([None, *RunStatus]), st.sampled_from(RunTrigger))
def test_what_is_not_in_the_table_of_runs_is_refused(status: RunStatus | None, trigger: RunTrigger) -> None:
    if (status, trigger) in RUN_TRANSITIONS:
        assert next_run_status(status, trigger) is RUN_TRANSITIONS[status, trigger]
        return
    with pytest.raises(IllegalTransitionError):
        next_run_status(status, trigger)


@given(st.lists(st.sampled_from(StepTrigger), max_size=12))
def test_a_step_that_is_over_never_changes(triggers: list[StepTrigger]) -> None:
    status = StepStatus.PENDING
    for trigger in triggers:
        over = status in FINAL_STEPS
        try:
            reached = next_step_status(status, trigger)
        except IllegalTransitionError:
            continue
        assert not over
        status = reached


@pytest.mark.requirement("002.6.transitions")
def test_the_tables_reach_every_state_and_leave_no_final_one() -> None:
    runs, steps = RUN_TRANSITIONS, STEP_TRANSITIONS
    assert {status for status, _ in runs if status is not None}.isdisjoint(FINAL)
    assert set(runs.values()) == set(RunStatus)
    assert {status for status, _ in steps}.isdisjoint(FINAL_STEPS)
    assert set(steps.values()) == set(StepStatus)
    assert {before for (before, _), reached in runs.items() if reached in FINAL} == {
        RunStatus.QUEUED,
        RunStatus.RUNNING,
    }
    assert [
        trigger for (before, trigger), reached in runs.items() if before is RunStatus.QUEUED and reached in FINAL
    ] == [RunTrigger.CANCELED]
