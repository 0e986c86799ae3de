"""The states of runs and steps as tables, and what the lines of a run come to (002 §6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, assert_never

from actors.runner.template import Outcome
from protocol.runs.events import CancelRequested, LedgerLine, RunCreated, RunEnded, RunTaken, StepEnded
from protocol.runs.states import RunStatus, StepStatus


class RunNews(StrEnum):
    """What can happen to a run as a whole."""

    CREATED = "created"
    TAKEN = "taken"
    CANCEL_REQUESTED = "cancel_requested"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"
    PARTIAL_SUCCESS = "partial_success"


class StepNews(StrEnum):
    """What can happen to a step."""

    BEGUN = "begun"
    LOST = "lost"
    """Its replica died; another begins it again."""

    CARRIED = "carried"
    """The run that this one was resumed from had done it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


_R, _S = RunStatus, StepStatus

RUN: Final[Mapping[tuple[RunStatus | None, RunNews], RunStatus]] = MappingProxyType(
    {
        (None, RunNews.CREATED): _R.QUEUED,
        (_R.QUEUED, RunNews.CANCEL_REQUESTED): _R.QUEUED,
        # A run that is canceled before it begins does no step.
        (_R.QUEUED, RunNews.CANCELED): _R.CANCELED,
        (_R.QUEUED, RunNews.TAKEN): _R.RUNNING,
        # Its replica died, and another goes on.
        (_R.RUNNING, RunNews.TAKEN): _R.RUNNING,
        (_R.RUNNING, RunNews.CANCEL_REQUESTED): _R.RUNNING,
        (_R.RUNNING, RunNews.SUCCEEDED): _R.SUCCEEDED,
        (_R.RUNNING, RunNews.FAILED): _R.FAILED,
        (_R.RUNNING, RunNews.CANCELED): _R.CANCELED,
        (_R.RUNNING, RunNews.PARTIAL_SUCCESS): _R.PARTIAL_SUCCESS,
    }
)
"""How a run stands after what happens to it; whatever is not here does not happen (002 §6)."""

STEP: Final[Mapping[tuple[StepStatus, StepNews], StepStatus]] = MappingProxyType(
    {
        (_S.PENDING, StepNews.BEGUN): _S.RUNNING,
        (_S.PENDING, StepNews.CARRIED): _S.SUCCEEDED,
        (_S.PENDING, StepNews.SKIPPED): _S.SKIPPED,
        (_S.RUNNING, StepNews.LOST): _S.PENDING,
        (_S.RUNNING, StepNews.SUCCEEDED): _S.SUCCEEDED,
        (_S.RUNNING, StepNews.FAILED): _S.FAILED,
        # The time of the run is over.
        (_S.RUNNING, StepNews.SKIPPED): _S.SKIPPED,
    }
)
"""How a step stands after what happens to it (002 §6); the ledger has only the end of a step."""


_STEP_ENDS: Final[Mapping[tuple[StepStatus, bool], tuple[StepNews, ...]]] = MappingProxyType(
    {
        (_S.SUCCEEDED, False): (StepNews.BEGUN, StepNews.SUCCEEDED),
        (_S.FAILED, False): (StepNews.BEGUN, StepNews.FAILED),
        (_S.SUCCEEDED, True): (StepNews.CARRIED,),
    }
)
"""What has happened to a step that is written down, by its status and whether it was carried."""


class IllegalError(ValueError):
    """Something that cannot happen to a run or a step as it stands."""


@dataclass(frozen=True)
class RunState:
    """How a run stands after some of its lines; `last` is the sequence of the last one of the run as a whole.

    `steps` are the outcomes of its steps by their numbers, `begun_at` is when it was first taken (ms since the epoch).
    """

    status: RunStatus | None = None
    created: RunCreated | None = None
    taken: RunTaken | None = None
    begun_at: int = 0
    cancel_requested: bool = False
    ended: RunEnded | None = None
    steps: Mapping[int, StepEnded] = field(default_factory=dict[int, StepEnded])
    last: int = 0

    @property
    def final(self) -> bool:
        """Whether it never changes again."""
        return self.status is not None and self.status.final


def fold(lines: Iterable[tuple[int, LedgerLine]], start: RunState | None = None) -> RunState:
    """Put the lines of a run together, each with its sequence, in their order.

    Raises:
        IllegalError: they are no history of a run.
    """
    state = start or RunState()
    for sequence, line in lines:
        state = after(state, sequence, line)
    return state


def after(state: RunState, sequence: int, line: LedgerLine) -> RunState:
    """Return how a run stands after one more line; of a step the first line counts, and none after the end of the run.

    Raises:
        IllegalError: the run has no such transition.
    """
    if isinstance(line, StepEnded):
        return _after_step(state, line)
    status = run_after(state.status, news_of(line))
    match line:
        case RunCreated():
            state = replace(state, created=line)
        case RunTaken():
            state = replace(state, taken=line, begun_at=state.begun_at or line.at)
        case CancelRequested():
            state = replace(state, cancel_requested=True)
        case RunEnded():
            state = replace(state, ended=line)
        case _:
            assert_never(line)
    return replace(state, status=status, last=sequence)


def run_after(status: RunStatus | None, news: RunNews) -> RunStatus:
    """Look a transition of a run up.

    Raises:
        IllegalError: there is none.
    """
    try:
        return RUN[status, news]
    except KeyError:
        msg = f"{news} cannot happen to a run that is {status}"
        raise IllegalError(msg) from None


def step_after(status: StepStatus, news: StepNews) -> StepStatus:
    """Look a transition of a step up.

    Raises:
        IllegalError: there is none.
    """
    try:
        return STEP[status, news]
    except KeyError:
        msg = f"{news} cannot happen to a step that is {status}"
        raise IllegalError(msg) from None


def news_of(line: RunCreated | RunTaken | CancelRequested | RunEnded) -> RunNews:
    """Say what a line of a run as a whole tells.

    Raises:
        IllegalError: it tells of an end in a state that is not final.
    """
    match line:
        case RunCreated():
            return RunNews.CREATED
        case RunTaken():
            return RunNews.TAKEN
        case CancelRequested():
            return RunNews.CANCEL_REQUESTED
        case RunEnded():
            if not line.status.final:
                msg = f"no run ends {line.status}"
                raise IllegalError(msg)
            return RunNews(line.status.value)


def ending(  # noqa: PLR0913 - what 002 §6 judges by
    threshold: float | None,
    items: Sequence[Outcome],
    outcomes: Sequence[Outcome],
    *,
    canceled: bool = False,
    timed_out: bool = False,
    died: bool = False,
) -> RunStatus:
    """Judge a run at its end (002 §6): by the share of its `items` that succeeded where its template has a `threshold`.

    A cancel counts more than anything else; `timed_out` and `died` (too often) are failures whatever was done.
    """
    if canceled:
        return RunStatus.CANCELED
    if timed_out or died:
        return RunStatus.FAILED
    if all(one.status is StepStatus.SUCCEEDED for one in outcomes):
        return RunStatus.SUCCEEDED
    if threshold is None or not items:
        return RunStatus.FAILED
    share = sum(one.status is StepStatus.SUCCEEDED for one in items) / len(items)
    return RunStatus.PARTIAL_SUCCESS if share >= threshold else RunStatus.FAILED


def _after_step(state: RunState, line: StepEnded) -> RunState:
    if state.created is None or not 0 <= line.index < len(state.created.steps):
        msg = f"the run has no step {line.index}"
        raise IllegalError(msg)
    happened = _STEP_ENDS.get((line.status, line.carried))
    if happened is None:
        msg = f"no step is written down as {line.status}"
        raise IllegalError(msg)
    reached = StepStatus.PENDING
    for one in happened:
        reached = step_after(reached, one)
    if state.final or line.index in state.steps:
        return state
    return replace(state, steps={**state.steps, line.index: line})
