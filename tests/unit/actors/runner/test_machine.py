"""The states of runs and steps, by any sequence of lines and any sequence of events."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner.machine import (
    RUN,
    STEP,
    IllegalError,
    RunNews,
    RunState,
    StepNews,
    after,
    ending,
    fold,
    run_after,
    step_after,
)
from actors.runner.template import Outcome
from protocol.runs.events import CancelRequested, LedgerLine, RunCreated, RunEnded, RunTaken, StepEnded
from protocol.runs.states import FINAL, Mode, RunStatus, StepStatus

ID = "run_0000000000000000000000"
STEPS = 3
FINAL_STEPS = {StepStatus.SUCCEEDED, StepStatus.FAILED, StepStatus.SKIPPED}

CREATED = RunCreated(
    run_id=ID,
    at=1,
    caller="me",
    local=False,
    template_id="chores",
    version="1.0.0",
    inputs={},
    steps=("step",) * STEPS,
    timeout_ms=1_000,
    mode=Mode.ASYNC,
)

step_lines = st.builds(
    StepEnded,
    run_id=st.just(ID),
    at=st.integers(0, 9),
    index=st.integers(-1, STEPS),
    name=st.just("step"),
    status=st.sampled_from(StepStatus),
    carried=st.booleans(),
    output=st.integers(0, 3),
)
state_lines = st.one_of(
    st.just(CREATED),
    st.builds(RunTaken, run_id=st.just(ID), at=st.integers(1, 9), replica=st.sampled_from("ab"), attempt=st.just(1)),
    st.builds(CancelRequested, run_id=st.just(ID), at=st.just(1)),
    st.builds(RunEnded, run_id=st.just(ID), at=st.just(1), status=st.sampled_from(RunStatus)),
)
any_lines = st.lists(st.one_of(state_lines, step_lines), max_size=25)


def tolerant(lines: list[LedgerLine]) -> list[RunState]:
    """Fold lines one by one, leaving out those that are refused."""
    states = [RunState()]
    for sequence, line in enumerate([CREATED, *lines], 1):
        try:
            states.append(after(states[-1], sequence, line))
        except IllegalError:
            continue
    return states


@given(any_lines)
def test_no_sequence_of_lines_leads_to_a_transition_that_is_not_in_the_table(lines: list[LedgerLine]) -> None:
    states = tolerant(lines)
    legal = {(before, reached) for (before, _), reached in RUN.items()}

    for before, reached in pairwise(states):
        assert (before.status, reached.status) in legal or before.status is reached.status


@given(any_lines)
def test_a_final_state_never_changes_and_progress_never_falls(lines: list[LedgerLine]) -> None:
    states = tolerant(lines)

    for before, reached in pairwise(states):
        if before.final:
            assert reached == before
        assert len(reached.steps) >= len(before.steps)
        assert all(reached.steps[index] is line for index, line in before.steps.items())
        assert set(reached.steps) <= set(range(STEPS))


@given(any_lines)
def test_time_counts_from_the_first_replica_that_took_the_run(lines: list[LedgerLine]) -> None:
    states = tolerant(lines)
    taken = [state.begun_at for state in states if state.taken is not None]

    assert all(at == taken[0] for at in taken)


@given(any_lines)
def test_reading_on_comes_to_the_same_as_reading_anew(lines: list[LedgerLine]) -> None:
    numbered = list[tuple[int, LedgerLine]]()
    state = RunState()
    for sequence, line in enumerate([CREATED, *lines], 1):
        try:
            state = after(state, sequence, line)
        except IllegalError:
            continue
        numbered.append((sequence, line))

    assert fold(numbered) == state
    assert fold(numbered[len(numbered) // 2 :], fold(numbered[: len(numbered) // 2])) == state


@given(st.sampled_from([None, *RunStatus]), st.sampled_from(RunNews))
def test_what_is_not_in_the_table_of_runs_is_refused(status: RunStatus | None, news: RunNews) -> None:
    if (status, news) in RUN:
        assert run_after(status, news) is RUN[status, news]
        return
    with pytest.raises(IllegalError):
        run_after(status, news)


@given(st.lists(st.sampled_from(StepNews), max_size=12))
def test_a_step_that_is_over_never_changes(news: list[StepNews]) -> None:
    status = StepStatus.PENDING
    for one in news:
        over = status in FINAL_STEPS
        try:
            reached = step_after(status, one)
        except IllegalError:
            continue
        assert not over
        status = reached


@pytest.mark.requirement("002.6.transitions")
def test_the_tables_reach_every_state_and_leave_no_final_one() -> None:
    assert {status for status, _ in RUN if status is not None}.isdisjoint(FINAL)
    assert set(RUN.values()) == set(RunStatus)
    assert {status for status, _ in STEP}.isdisjoint(FINAL_STEPS)
    assert set(STEP.values()) == set(StepStatus)
    assert {before for (before, _), reached in RUN.items() if reached in FINAL} == {RunStatus.QUEUED, RunStatus.RUNNING}
    assert [news for (before, news), reached in RUN.items() if before is RunStatus.QUEUED and reached in FINAL] == [
        RunNews.CANCELED
    ]


def outcomes(succeeded: int, failed: int = 0, skipped: int = 0) -> list[Outcome]:
    states = [StepStatus.SUCCEEDED] * succeeded + [StepStatus.FAILED] * failed + [StepStatus.SKIPPED] * skipped
    return [Outcome(index=index, name="step", status=status) for index, status in enumerate(states)]


@pytest.mark.requirement("002.6.partial")
@pytest.mark.parametrize(
    ("threshold", "done", "expected"),
    [
        (0.5, outcomes(4), RunStatus.SUCCEEDED),
        (None, outcomes(4), RunStatus.SUCCEEDED),
        (0.5, outcomes(2, 2), RunStatus.PARTIAL_SUCCESS),
        (0.5, outcomes(9, 1), RunStatus.PARTIAL_SUCCESS),
        (0.5, outcomes(1, 2), RunStatus.FAILED),
        (0.5, outcomes(0, 3), RunStatus.FAILED),
        (0.9, outcomes(8, 2), RunStatus.FAILED),
        (None, outcomes(3, 1), RunStatus.FAILED),
        (None, outcomes(2, 0, 1), RunStatus.FAILED),
    ],
)
def test_a_run_is_judged_by_its_steps(threshold: float | None, done: list[Outcome], expected: RunStatus) -> None:
    assert ending(threshold, done, done) is expected


@given(
    st.one_of(st.none(), st.floats(0, 1)),
    st.builds(outcomes, st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
    st.sets(st.sampled_from(["canceled", "timed_out", "died"])),
)
def test_a_cancel_counts_most_then_time_and_every_end_is_final(
    threshold: float | None, done: list[Outcome], why: set[str]
) -> None:
    end = ending(threshold, done, done, canceled="canceled" in why, timed_out="timed_out" in why, died="died" in why)

    assert end.final
    assert (end is RunStatus.CANCELED) is ("canceled" in why)
    if why and "canceled" not in why:
        assert end is RunStatus.FAILED
    if end is RunStatus.PARTIAL_SUCCESS:
        assert threshold is not None
        assert any(one.status is not StepStatus.SUCCEEDED for one in done)
