"""The history of a run as the runner reads it: it keeps the lines that count, and stands as the keeper says it does."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given

from actors.keeper.views import change_of
from actors.runner.run_log import RunHistory
from protocol.runs.events import LedgerLine, RunState, StepEnded
from protocol.runs.states import IllegalTransitionError
from tests.unit.protocol.runs.run_lines import CREATED, STEPS, any_lines


def tolerant(lines: list[LedgerLine]) -> list[RunHistory]:
    """Read lines one by one, leaving out those that are refused."""
    run_log = [RunHistory()]
    for sequence, line in enumerate([CREATED, *lines], 1):
        try:
            run_log.append(run_log[-1].after(sequence, line))
        except IllegalTransitionError:
            continue
    return run_log


def kept(lines: list[LedgerLine]) -> RunState | None:
    """Return how the run stands by the changes that the keeper makes of the lines."""
    run, recorded = None, set[int]()
    for sequence, line in enumerate([CREATED, *lines], 1):
        index = line.index if isinstance(line, StepEnded) else -1
        change = change_of(run, sequence, line, recorded=index in recorded)
        if change is not None:
            run = change.run
            recorded.add(index)
    return run


@given(any_lines)
def test_runner_and_keeper_agree_on_every_history_and_every_prefix_of_it(lines: list[LedgerLine]) -> None:
    for length in range(len(lines) + 1):
        assert tolerant(lines[:length])[-1].state == kept(lines[:length])


@given(any_lines)
def test_a_final_state_never_changes_and_progress_never_falls(lines: list[LedgerLine]) -> None:
    for before, reached in pairwise(tolerant(lines)):
        if before.final:
            assert reached == before
        assert len(reached.steps) >= len(before.steps)
        assert all(reached.steps[index] is line for index, line in before.steps.items())
        assert set(reached.steps) <= set(range(STEPS))


@given(any_lines)
def test_time_counts_from_the_first_replica_that_took_the_run(lines: list[LedgerLine]) -> None:
    begun = [history.begun_at for history in tolerant(lines) if history.taken is not None]

    assert all(at == begun[0] for at in begun)


@given(any_lines)
def test_reading_on_comes_to_the_same_as_reading_anew(lines: list[LedgerLine]) -> None:
    numbered = list[tuple[int, LedgerLine]]()
    history = RunHistory()
    for sequence, line in enumerate([CREATED, *lines], 1):
        try:
            history = history.after(sequence, line)
        except IllegalTransitionError:
            continue
        numbered.append((sequence, line))
    half = len(numbered) // 2

    assert RunHistory().after_all(numbered) == history
    assert RunHistory().after_all(numbered[:half]).after_all(numbered[half:]) == history
