"""One run in hand: takes it, does the steps that have no outcome yet, and sees it to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import structlog

from actors.runner import inputs, steps
from actors.runner.dependencies import Means
from actors.runner.finalization import Ending
from actors.runner.run_log import RunHistory
from actors.runner.step_context import BrowserSession, StepHands, StoppedError
from actors.runner.template import Outcome, Stage, Template
from bus import TransportError
from bus.clock import now_ms
from protocol.faults import Action, Code, Fault, FaultError, fault
from protocol.runs.events import LedgerLine, RunCreated, RunEnded, RunTaken, StepEnded
from protocol.runs.states import RunStatus, StepStatus

log = structlog.stdlib.get_logger()

RUN_TAKEN = "run_taken"
RUN_LOST = "run_lost"
RUN_UNKNOWN = "run_unknown"
RUN_BROKE = "run_broke"
SESSION_NOT_CLOSED = "run_session_not_closed"

MAX_ATTEMPTS: Final = 5
"""How many replicas may take a run: where each of them dies, the run is why."""

LOOK_S: Final = 1.0
"""How often it is looked whether a run is canceled, or somebody else's, while its steps are at work."""

ELSEWHERE_MS: Final = 60_000
"""When the queue is to ask again after a run that another replica has; that one's signs of life count more."""


async def play(means: Means, run_id: str) -> None:
    """Do a run, or go on with it.

    Raises:
        FaultError: it is not over: the queue has to hand it out again, if nobody else has it.
    """
    state = await _taken(means, run_id)
    if state.created is None:
        log.warning(RUN_UNKNOWN, run=run_id)
        return
    session = BrowserSession(means.bus, state.created, means.settings.restart_grace_ms, anyio.Event())
    if state.taken is not None and not state.final:
        await _Play(means, state, state.created, state.taken, session).run()
    # Here too where somebody else has ended it, who may have died before the session was closed (002 §8.5).
    try:
        await session.close()
    except FaultError as error:
        log.warning(SESSION_NOT_CLOSED, run=run_id, code=error.fault.code)


async def _taken(means: Means, run_id: str) -> RunHistory:
    """Take a run; one that was canceled before it began is over by that."""

    def wanted(state: RunHistory) -> LedgerLine | None:
        if state.created is None or state.final:
            return None
        if state.status is RunStatus.QUEUED and state.cancel_requested:
            return RunEnded(run_id=run_id, at=now_ms(), status=RunStatus.CANCELED, fault=fault(Code.RUN_CANCELED))
        attempt = state.taken.attempt + 1 if state.taken else 1
        return RunTaken(run_id=run_id, at=now_ms(), replica=means.bus.replica, attempt=attempt)

    state = await means.histories.change(run_id, await means.histories.read(run_id), wanted)
    if state.taken is not None and not state.final:
        log.info(RUN_TAKEN, run=run_id, attempt=state.taken.attempt, done=len(state.steps))
    return state


@dataclass(eq=False)
class _Play:
    """A run that this replica has taken."""

    means: Means
    state: RunHistory
    created: RunCreated
    mine: RunTaken
    session: BrowserSession
    template: Template[Any] | None = None
    asked: Any = None
    """The inputs."""

    stages: Sequence[Stage] = ()
    outcomes: dict[int, Outcome] = field(default_factory=dict[int, Outcome])
    failing: bool = False
    lost: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    async def run(self) -> None:
        """Do it."""
        self.outcomes = {index: steps.outcome(line) for index, line in self.state.steps.items()}
        failure, timed_out = await self._prepared(), False
        if failure is None:
            timed_out = await self._until_deadline()
        if not self.lost:
            self.state = await self._ending(failure, timed_out=timed_out).end(self.state)
        if not self.state.final:
            log.warning(RUN_LOST, run=self.created.run_id)
            raise FaultError(fault(Code.INTERNAL_BUSY, actions=(_ASK_LATER,)))
        self.means.vault.forget(self.created.run_id)

    async def _prepared(self) -> Fault | None:
        """Find out what there is to do, or why nothing can be done."""
        died = self.mine.attempt - 1
        # Where it died even so, the template itself is not trusted with putting a result together.
        if died <= MAX_ATTEMPTS:
            try:
                await self._prepare()
            except FaultError as error:
                return error.fault
            except Exception as error:  # noqa: BLE001 - the edge of what a template does
                # No text of it: it may quote a secret.
                log.error(RUN_BROKE, run=self.created.run_id, kind=type(error).__name__)  # noqa: TRY400 - see above
                return fault(Code.INTERNAL_ERROR)
        if died >= MAX_ATTEMPTS:
            return fault(Code.EXECUTION_ERROR, f"The processes that did the run died {died} times.")
        return None

    async def _prepare(self) -> None:
        """Read the inputs, and ask the template for the steps.

        Raises:
            FaultError: this version of Weft cannot do it.
        """
        template = self.means.templates.get(self.created.template_id)
        if template is None:
            raise FaultError(fault(Code.TEMPLATE_NOT_FOUND))
        values = {**self.created.inputs, **await self.means.vault.find(self.created)}
        self.asked = inputs.converted(template, values)
        in_session = bool(self.created.session_id) and not self.created.own_session
        self.stages = template.stages(self.asked, in_session=in_session)
        if tuple(name for stage in self.stages for name in stage.steps) != self.created.steps:
            raise FaultError(fault(Code.TEMPLATE_VERSION_UNSUPPORTED))
        self.template = template
        self.failing = template.threshold is None and any(
            one.status is StepStatus.FAILED for one in self.outcomes.values()
        )
        if self.state.cancel_requested:
            self.session.canceled.set()

    def _ending(self, failure: Fault | None, *, timed_out: bool) -> Ending:
        return Ending(
            self.means,
            self.created,
            self.mine,
            template=self.template,
            asked=self.asked,
            outcomes=steps.outcomes(self.created.steps, self.outcomes),
            # What failed a step before the time was over says more than the time.
            timed_out=timed_out and not self.failing,
            failure=failure,
        )

    # -- within the time of the run ------------------------------------------------------------------------------------

    async def _until_deadline(self) -> bool:
        """Do the steps that have no outcome; True where the time was over before (002 §10)."""
        left_ms = self.state.begun_at + self.created.timeout_ms - now_ms()
        if left_ms <= 0:
            return not self._over
        gone: list[BaseException] = []
        with anyio.move_on_after(left_ms / 1000) as self.scope:
            try:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._watch)
                    await self._do_stages()
                    tasks.cancel_scope.cancel()
            except* TransportError as errors:
                gone += errors.exceptions
        if gone:
            raise steps.first(gone[0])
        return not self.lost and not self._over and self.scope.cancelled_caught

    @property
    def _over(self) -> bool:
        """Whether nothing is left to be done."""
        return len(self.outcomes) == len(self.created.steps)

    async def _watch(self) -> None:
        while True:
            await anyio.sleep(LOOK_S)
            await self._look()

    async def _look(self) -> None:
        """See whether the run is canceled, or somebody else has it now, who was told that this replica is dead."""
        self.state = await self.means.histories.news(self.created.run_id, self.state)
        if self.state.cancel_requested:
            self.session.canceled.set()
        if self.state.final or self.state.taken != self.mine:
            self.lost = True
            self.scope.cancel()

    async def _do_stages(self) -> None:
        first = 0
        for stage in self.stages:
            numbers = range(first, first + len(stage.steps))
            todo = [index for index in numbers if index not in self.outcomes]
            before = {
                index: one.output
                for index, one in self.outcomes.items()
                if index < first and one.status is StepStatus.SUCCEEDED
            }
            if todo and await self._may_begin():
                with suppress(StoppedError):
                    await self._do_stage(stage, todo, before)
            first += len(stage.steps)

    async def _do_stage(self, stage: Stage, todo: Sequence[int], before: Mapping[int, Any]) -> None:
        """Do the steps of a stage in a window that slides over them (002 §8.6)."""
        at_once = min(stage.at_once, len(todo))
        if stage.in_tabs:
            at_once = await self.session.room(at_once, anew=self.mine.attempt > 1)
        left = iter(todo)

        async def work() -> None:
            for index in left:
                if not await self._may_begin():
                    return
                await self._do_step(index, before)

        async with anyio.create_task_group() as tasks:
            for _ in range(at_once):
                tasks.start_soon(work)

    async def _may_begin(self) -> bool:
        """Look whether one more step is to begin (002 §4.4)."""
        await self._look()
        return not (self.failing or self.lost or self.session.canceled.is_set())

    async def _do_step(self, index: int, before: Mapping[int, Any]) -> None:
        """Do a step, and write down what came of it before another begins."""
        if self.template is None:  # pragma: no cover - it was prepared
            return
        retry, started, tries = self.template.retry(self.asked, index), now_ms(), 0
        while True:
            tries += 1
            hands = StepHands(self.session, f"{self.created.run_id}.{index}.{tries}")
            step = steps.Step(self.template, self.created, index, started, tries)
            try:
                line = await step.attempt(hands, self.asked, before)
            except StoppedError:
                return
            if line.fault is None or line.fault.code not in retry.codes or tries >= retry.tries:
                break
        # Shielded: what was done is written down, even when the time is over.
        with anyio.CancelScope(shield=True):
            await self._record(line)

    async def _record(self, line: StepEnded) -> None:
        if not await self.means.histories.done(line):
            await self._look()
            line = await self.means.histories.step(line.run_id, line.index) or line
        self.outcomes[line.index] = steps.outcome(line)
        if line.status is StepStatus.FAILED and self.template is not None and self.template.threshold is None:
            self.failing = True


_ASK_LATER = Action(action="retry", description="Another replica has the run.", suggested_delay_ms=ELSEWHERE_MS)
