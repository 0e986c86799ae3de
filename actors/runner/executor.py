"""Executes one run: claims it, does the steps that have no outcome yet, and has it finalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import anyio
import structlog
from msgspec import Struct

from actors.runner import inputs
from actors.runner.browser_session import BrowserSession, StoppedError
from actors.runner.dependencies import RunnerDependencies
from actors.runner.finalization import RunFinalization
from actors.runner.run_log import RunHistory, cancel_request, end_if_queued
from actors.runner.steps import RunStepContext, StepAttempt, StepTools, first_failure
from actors.runner.template import Outcome, Stage, TaskTemplate, outcome_of, outcomes_of
from bus import TransportError
from bus.clock import now_ms
from protocol.actions import Action
from protocol.faults import Code, Fault, FaultError, fault
from protocol.runs.events import LedgerLine, RunCreated, RunTaken, StepEnded
from protocol.runs.states import StepStatus

log = structlog.stdlib.get_logger()

RUN_TAKEN = "run_taken"
RUN_LOST = "run_lost"
RUN_UNKNOWN = "run_unknown"
RUN_BROKE = "run_broke"
SESSION_NOT_CLOSED = "run_session_not_closed"

MAX_ATTEMPTS: Final = 5
"""How many replicas may take a run: where all of them die, the run is the cause."""

LOOK_S: Final = 1.0
"""How often the ledger is read for a cancel or a claim of another replica while steps are at work."""

ELSEWHERE_MS: Final = 60_000
"""When the queue is to hand out a run again that another replica has; signs of life of that one count more."""


async def execute(dependencies: RunnerDependencies, run_id: str) -> None:
    """Do a run, or go on with it.

    Raises:
        FaultError: it is not over: the queue has to hand it out again, if nobody else has it.
    """
    history = await _claimed(dependencies, run_id)
    if history.created is None:
        log.warning(RUN_UNKNOWN, run=run_id)
        return
    session = BrowserSession(dependencies.bus, history.created, dependencies.settings.restart_grace_ms, anyio.Event())
    if history.taken is not None and not history.final:
        claim = _Claim(dependencies, history, history.created, history.taken, session.canceled)
        await _Execution(dependencies, claim, session).run()
    # Here too where somebody else has ended it, who may have died before the session was closed (002 §8.5).
    try:
        await session.close()
    except FaultError as error:
        log.warning(SESSION_NOT_CLOSED, run=run_id, code=error.fault.code)


async def _claimed(dependencies: RunnerDependencies, run_id: str) -> RunHistory:
    """Claim a run for this replica; one that was canceled before it began is ended by that."""

    def next_line(history: RunHistory) -> LedgerLine | None:
        if history.created is None or history.final:
            return None
        if (end := end_if_queued(history, run_id)) is not None:
            return end
        attempt = history.taken.attempt + 1 if history.taken else 1
        return RunTaken(run_id=run_id, at=now_ms(), replica=dependencies.bus.replica, attempt=attempt)

    history = await _stopped_by_key(dependencies, run_id, await dependencies.run_log.read(run_id))
    history = await dependencies.run_log.change(run_id, history, next_line)
    if history.taken is not None and not history.final:
        log.info(RUN_TAKEN, run=run_id, attempt=history.taken.attempt, done=len(history.steps))
    return history


async def _stopped_by_key(dependencies: RunnerDependencies, run_id: str, history: RunHistory) -> RunHistory:
    """Return a run that is to stop where the key has ended that it was asked with."""
    if history.created is None or not dependencies.has_ended(history.created.caller):
        return history
    return await dependencies.run_log.change(run_id, history, lambda now: cancel_request(now, run_id, key_ended=True))


@dataclass(eq=False)
class _Claim:
    """A run that this replica has taken: its history, and whether another replica has taken it since (`lost`).

    `steps` is the scope of its steps, which ends when the claim is lost; `canceled` is set when the run is to stop.
    """

    dependencies: RunnerDependencies
    history: RunHistory
    created: RunCreated
    mine: RunTaken
    canceled: anyio.Event
    lost: bool = False
    steps: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def refresh(self) -> None:
        """Read whether the run is to stop, or another replica has it because this one was taken for dead."""
        run_id = self.created.run_id
        history = await self.dependencies.run_log.refresh(run_id, self.history)
        self.history = await _stopped_by_key(self.dependencies, run_id, history)
        if self.history.cancel_requested:
            self.canceled.set()
        if self.history.final or self.history.taken != self.mine:
            self.lost = True
            self.steps.cancel()

    async def keep_fresh(self) -> None:
        """Refresh as long as steps are at work."""
        while True:
            await anyio.sleep(LOOK_S)
            await self.refresh()


class _Plan(Struct, frozen=True):
    """What a run consists of, by its template."""

    template: TaskTemplate[Any]
    inputs: Any
    stages: Sequence[Stage]


@dataclass(eq=False)
class _Execution:
    """A claimed run from its plan to its end."""

    dependencies: RunnerDependencies
    claim: _Claim
    session: BrowserSession

    async def run(self) -> None:
        """Do the steps that are left, and finalize the run.

        Raises:
            FaultError: the claim was lost before the end.
        """
        outcomes = {index: outcome_of(line) for index, line in self.claim.history.steps.items()}
        plan, failure = await self._prepared()
        timed_out = False
        if plan is not None and failure is None:
            runner = _StageRunner(self.claim, plan, self.session, outcomes, self._tools(plan, outcomes))
            # What failed a step before the time was over says more than the time.
            timed_out = await runner.run() and not runner.failing
        if not self.claim.lost:
            finalization = self._finalization(plan, outcomes, failure, timed_out=timed_out)
            self.claim.history = await finalization.run(self.claim.history)
        if not self.claim.history.final:
            log.warning(RUN_LOST, run=self.claim.created.run_id)
            raise FaultError(fault(Code.INTERNAL_BUSY, actions=(_ASK_LATER,)))
        self.dependencies.vault.forget(self.claim.created.run_id)

    async def _prepared(self) -> tuple[_Plan | None, Fault | None]:
        """Return the plan of the run, and why nothing of it can be done."""
        died = self.claim.mine.attempt - 1
        plan = None
        # Where it died even so, the template itself is not trusted with putting a result together.
        if died <= MAX_ATTEMPTS:
            try:
                plan = await self._plan()
            except FaultError as error:
                return None, error.fault
            except Exception as error:  # noqa: BLE001 - the edge of what a template does
                # No text of it: it may quote a secret.
                log.error(RUN_BROKE, run=self.claim.created.run_id, kind=type(error).__name__)  # noqa: TRY400 - see above
                return None, fault(Code.INTERNAL_ERROR)
        if died >= MAX_ATTEMPTS:
            return plan, fault(Code.EXECUTION_ERROR, f"The processes that did the run died {died} times.")
        return plan, None

    async def _plan(self) -> _Plan:
        """Convert the inputs, and get the stages of the template.

        Raises:
            FaultError: this version of Weft cannot do the run.
        """
        created = self.claim.created
        template = self.dependencies.templates.get(created.template_id)
        if template is None:
            raise FaultError(fault(Code.TEMPLATE_NOT_FOUND))
        values = {**created.inputs, **await self.dependencies.vault.find(created)}
        converted = inputs.converted(template, values)
        in_session = bool(created.session_id) and not created.own_session
        stages = template.stages(converted, in_session=in_session)
        if tuple(name for stage in stages for name in stage.steps) != created.steps:
            raise FaultError(fault(Code.TEMPLATE_VERSION_UNSUPPORTED))
        return _Plan(template, converted, stages)

    def _tools(self, plan: _Plan, outcomes: Mapping[int, Outcome]) -> StepTools:
        """Return what steps work with beside the session; what was discovered before is known."""
        discovery = plan.template.discovery(plan.inputs)
        if discovery is not None:
            for _, outcome in sorted(outcomes.items()):
                discovery.learn(outcome)
        given = self.dependencies
        return StepTools(given.web, given.sources, discovery, given.flows, given.usage)

    def _finalization(
        self, plan: _Plan | None, outcomes: Mapping[int, Outcome], failure: Fault | None, *, timed_out: bool
    ) -> RunFinalization:
        created = self.claim.created
        return RunFinalization(
            self.dependencies,
            created,
            self.claim.mine,
            template=plan.template if plan else None,
            inputs=plan.inputs if plan else None,
            outcomes=outcomes_of(created.steps, outcomes),
            timed_out=timed_out,
            failure=failure,
        )


@dataclass(eq=False)
class _Left:
    """The steps of a discovered stage that have not begun, the next one last, and how many are in hand."""

    indices: list[int]
    in_hand: int = 0


@dataclass(eq=False)
class _StageRunner:
    """Does the steps of a plan that have no outcome yet; `outcomes` grows by theirs.

    `failing`: a step has failed of a template of which every step has to succeed, so that no other begins. `exhausted`:
    nothing is left to do for the steps of a discovered stage, though not all have begun.
    """

    claim: _Claim
    plan: _Plan
    session: BrowserSession
    outcomes: dict[int, Outcome]
    tools: StepTools
    failing: bool = False
    exhausted: bool = False
    _learned: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> bool:
        """Do the steps; True where the time of the run was over before them (002 §10)."""
        if self.plan.template.threshold is None:
            self.failing = any(one.status is StepStatus.FAILED for one in self.outcomes.values())
        if self.claim.history.cancel_requested:
            self.claim.canceled.set()
        left_ms = self.claim.history.begun_at + self.claim.created.timeout_ms - now_ms()
        if left_ms <= 0:
            return not self._complete
        gone: list[BaseException] = []
        with anyio.move_on_after(left_ms / 1000) as self.claim.steps:
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self.claim.keep_fresh)
                    await self._run_stages()
                    tasks.cancel_scope.cancel()
            except* TransportError as errors:
                gone += errors.exceptions
        if gone:
            raise first_failure(gone[0])
        return not self.claim.lost and not self._complete and self.claim.steps.cancelled_caught

    @property
    def _complete(self) -> bool:
        """Whether every step has an outcome, or needs none."""
        return self.exhausted or len(self.outcomes) == len(self.claim.created.steps)

    async def _run_stages(self) -> None:
        first = 0
        for stage in self.plan.stages:
            numbers = range(first, first + len(stage.steps))
            left = [index for index in numbers if index not in self.outcomes]
            before = {
                index: one.output
                for index, one in self.outcomes.items()
                if index < first and one.status is StepStatus.SUCCEEDED
            }
            if left and await self._may_begin():
                with suppress(StoppedError):
                    await self._run_stage(stage, left, before)
            first += len(stage.steps)

    async def _run_stage(self, stage: Stage, indices: Sequence[int], before: Mapping[int, Any]) -> None:
        """Do the steps of a stage in a window that slides over them (002 §8.6)."""
        at_once = min(stage.at_once, len(indices))
        if stage.in_tabs:
            at_once = await self.session.tabs_at_once(at_once, resumed=self.claim.mine.attempt > 1)
        left = iter(indices)

        async def work() -> None:
            for index in left:
                if not await self._may_begin():
                    return
                await self._run_step(index, before)

        worker = partial(self._discover, _Left(list(reversed(indices)))) if stage.discovered else work
        async with anyio.create_task_group() as tasks:
            for _ in range(at_once):
                tasks.start_soon(worker)

    async def _discover(self, left: _Left) -> None:
        """Do steps as long as something is found for them to do."""
        discovery = self.tools.discovery
        assert discovery is not None  # noqa: S101 - a template with a discovered stage has one
        while left.indices and await self._may_begin() and left.indices:
            learned, index = self._learned, left.indices[-1]
            if discovery.begin(index):
                left.indices.pop()
                left.in_hand += 1
                await self._run_step(index, {})
                left.in_hand -= 1
                self._learned.set()
                self._learned = anyio.Event()
            elif left.in_hand:
                await learned.wait()
            else:
                self.exhausted = True
                return

    async def _may_begin(self) -> bool:
        """Return whether one more step is to begin (002 §4.4)."""
        await self.claim.refresh()
        return not (self.failing or self.claim.lost or self.claim.canceled.is_set())

    async def _run_step(self, index: int, before: Mapping[int, Any]) -> None:
        """Do a step, and record its outcome before another begins."""
        template, created = self.plan.template, self.claim.created
        retry, started, tries = template.retry(self.plan.inputs, index), now_ms(), 0
        while True:
            tries += 1
            context = RunStepContext(self.session, f"{created.run_id}.{index}.{tries}", self.tools)
            try:
                attempt = StepAttempt(template, created, index, started, tries)
                line = await attempt.execute(context, self.plan.inputs, before)
            except StoppedError:
                return
            if line.fault is None or line.fault.code not in retry.codes or tries >= retry.tries:
                break
        # Shielded: what was done is written down, even when the time is over.
        with anyio.CancelScope(shield=True):
            await self._record(line)

    async def _record(self, line: StepEnded) -> None:
        run_log = self.claim.dependencies.run_log
        if not await run_log.record_step(line):
            await self.claim.refresh()
            line = await run_log.step(line.run_id, line.index) or line
        self.outcomes[line.index] = outcome_of(line)
        if self.tools.discovery is not None:
            self.tools.discovery.learn(self.outcomes[line.index])
        if line.status is StepStatus.FAILED and self.plan.template.threshold is None:
            self.failing = True


_ASK_LATER = Action(action="retry", description="Another replica has the run.", suggested_delay_ms=ELSEWHERE_MS)
