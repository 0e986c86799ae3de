"""Lines of one run in any order: most histories are illegal."""

from __future__ import annotations

from hypothesis import strategies as st

from protocol.runs.events import CancelRequested, LedgerLine, RunCreated, RunEnded, RunTaken, StepEnded
from protocol.runs.states import Mode, RunStatus, StepStatus

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
any_lines: st.SearchStrategy[list[LedgerLine]] = st.lists(st.one_of(state_lines, step_lines), max_size=25)
