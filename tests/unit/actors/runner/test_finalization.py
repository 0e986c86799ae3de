"""The state that a run ends in, by the outcomes of its steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.runner.finalization import final_status
from actors.runner.template import Outcome
from protocol.runs.states import RunStatus, StepStatus


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
    assert final_status(threshold, done, done) is expected


@given(
    st.one_of(st.none(), st.floats(0, 1)),
    st.builds(outcomes, st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)),
    st.sets(st.sampled_from(["canceled", "timed_out", "died"])),
)
def test_a_cancel_counts_most_then_time_and_every_end_is_final(
    threshold: float | None, done: list[Outcome], why: set[str]
) -> None:
    end = final_status(
        threshold, done, done, canceled="canceled" in why, timed_out="timed_out" in why, died="died" in why
    )

    assert end.final
    assert (end is RunStatus.CANCELED) is ("canceled" in why)
    if why and "canceled" not in why:
        assert end is RunStatus.FAILED
    if end is RunStatus.PARTIAL_SUCCESS:
        assert threshold is not None
        assert any(one.status is not StepStatus.SUCCEEDED for one in done)
