"""Reaches a goal in a browser session of ours: rounds, one after the other, each action performed through the gate.

Whatever dies, the lines of the task say how far it is: what was chosen is performed under the same id again, which is
done once, and what was performed is judged by the page as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio
from msgspec import structs

from actors.pictures import kept_picture
from actors.planner import solving
from actors.planner.deciding import ClientGate, call_id_of, is_proposed, user_words_of
from actors.planner.modelled.advisor import PageAdvisor
from actors.planner.page_evidence import page_document, performed_evidence
from actors.planner.performer import Performed, Performer
from actors.planner.pictures import about_looks, may_be_shown
from actors.planner.recorded import RecordedSteps
from actors.planner.resuming import resume_task
from actors.planner.rounds import Round
from actors.planner.task_log import TaskLog
from actors.planner.values import moved, opened_values, sealed_values
from bus import Bus, remaining_ms
from bus.clock import now_ms
from protocol.acting.act import Reached, ReachOnPage
from protocol.acting.actions import ActionCall
from protocol.acting.steps import ClientEvidence, TakenAction
from protocol.acting.tasks import ActingStatus, ActionPerformed, TaskBegun, TaskState
from protocol.acting.tree import PageTree
from protocol.models import ImagePart
from protocol.pages import Captured
from protocol.replicas import Progress
from protocol.subjects import CAPTURES, PROGRESS

RESERVE_MS: Final = 20_000
"""What is left of the time when no further action is begun: the task goes on when it is asked for again."""

OPENING: Final = -1
ENDING: Final = -2
LOOKING: Final = -3
"""The numbers that opening the page, its last picture and those for models have among the actions of a task, for the
gate: of the latter, one before each action, counted down from here."""

MAX_ROUNDS: Final = 300
SETTLE_S: Final = 1.0
"""How long a page is given that an action was performed on which nobody of us has waited for."""

WAITS: Final = "This waits for your approval"


@dataclass(kw_only=True)
class ActingRun:
    """One goal of one caller."""

    bus: Bus
    request: ReachOnPage
    values: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    past: TaskState | None = None
    log: TaskLog = field(init=False, repr=False)
    performer: Performer = field(init=False, repr=False)
    looks: dict[int, ImagePart | None] = field(default_factory=dict[int, ImagePart | None], init=False, repr=False)

    async def run(self) -> Reached:
        """Take actions until the goal is reached, given up, waits for its user, or the time is nearly over.

        Raises:
            FaultError: the session, the gate or the verifier is not to be had; somebody else goes on with the task.
        """
        request = self.request
        self.log = await TaskLog.opened(self.bus, request.task, request.caller)
        again = self.log.known.again if self.log.known is not None else request.again
        if again:
            self.past = (await TaskLog.opened(self.bus, again, request.caller)).state
        state = await self._begin()
        if state.status is ActingStatus.NEEDS_USER_INPUT and self._is_answered(state):
            state = await resume_task(self.log, self.bus.seal, request.words)
            self.values = opened_values(self.bus.seal, request.task, state.given)
        if state.status.final or state.status is ActingStatus.NEEDS_USER_INPUT:
            return self._reached()
        self.performer = Performer(
            bus=self.bus,
            seal=self.bus.seal,
            caller=request.caller,
            scopes=request.scopes,
            local=request.local,
            session=state.session or request.session,
            task=request.task,
            user_words=user_words_of(state),
            values=self.values,
        )
        if await self._open(state):
            await self._take_rounds()
        return self._reached()

    async def _begin(self) -> TaskState:
        """Begin the task, or go on with it: with the values that it has, and those that come with the request."""
        request = self.request
        given = opened_values(self.bus.seal, request.task, request.values)
        if self.past is not None:
            given = {**opened_values(self.bus.seal, self.past.task_id, self.past.given), **given}
        known = self.log.known
        if known is not None:
            given = {**opened_values(self.bus.seal, request.task, known.given), **given}
        goal, self.values = moved(request.goal, given)
        line = TaskBegun(
            task=request.task,
            at=now_ms(),
            caller=request.caller,
            goal=goal,
            surface="act",
            session=request.session,
            url=request.url or "",
            max_steps=request.max_steps,
            again=request.again or "",
            given=sealed_values(self.bus.seal, request.task, self.values),
        )
        return await self.log.begin(line)

    def _is_answered(self, state: TaskState) -> bool:
        """Return whether what a task waits for may be there: its user says something, or an approval is looked for."""
        waits_for_approval = state.unjudged is not None and state.unjudged.status == "pending"
        return bool(self.request.words) or self.request.resume or waits_for_approval

    async def _open(self, state: TaskState) -> bool:
        """Open the page that is asked for, once, through the gate; False where that failed."""
        if not self.request.url or state.actions:
            return True
        navigate = ActionCall(name="navigate", arguments={"url": self.request.url})
        await self._tell("Opening the page")
        performed = await self.performer.perform(
            navigate, PageTree(url=""), call_id=call_id_of(self.request.task, OPENING), proposed=False, documents=()
        )
        if performed.status == "ok":
            return True
        if performed.status == "pending":
            await self._round().pause(_message(performed))
        else:
            await self._round().give_up(f"The page could not be opened: {performed.message}")
        return False

    async def _take_rounds(self) -> None:
        """Take rounds; a task that has died between its lines is picked up where it stands."""
        page, taken = await self._page(), self.log.state.unjudged
        left = taken  # what somebody else has begun may be on its way to the page
        for _ in range(MAX_ROUNDS):
            evidence = ClientEvidence()
            if taken is not None:
                if taken.status in {"", "pending"}:
                    taken = await self._perform(taken, page if left is None else _with_elements(page, taken))
                    if taken.status == "pending":
                        await self._round().pause(taken.message)
                        return
                if left is not None:
                    await anyio.sleep(SETTLE_S)
                    left = None
                page = await self._page()
                evidence = performed_evidence(taken)
            outcome = await self._round().take(page, evidence)
            taken = outcome.due
            if taken is None or _short_of_time():
                return

    async def _perform(self, taken: TakenAction, page: PageTree) -> TakenAction:
        """Have an action performed, and write down what came of it."""
        state = self.log.state
        await self._tell(f"Step {taken.number + 1}: {taken.action.name}")
        proposed = is_proposed(state, taken.action, taken.by)
        performed = await self.performer.perform(
            taken.action,
            page,
            call_id=call_id_of(self.request.task, taken.number),
            proposed=proposed,
            documents=(page_document(page, taken.action, pictured=taken.pictured),) if proposed else (),
        )
        state = await self.log.write(_line(self.request.task, taken.number, performed))
        return state.actions[-1]

    async def _page(self) -> PageTree:
        """Read the page as it is, the nodes first that the step at work is about."""
        state = self.log.state
        query = state.goal if state.plan is None else state.plan.steps[state.plan.current].description
        return await self.performer.tree(
            query=query, max_tokens=None, everywhere=True, boxes=True, colours=solving.wants_colours(state.goal)
        )

    def _round(self) -> Round:
        return Round(
            bus=self.bus,
            log=self.log,
            rules=solving if self.past is None else RecordedSteps(self.past),
            models=None if self.request.local_only else PageAdvisor(self.bus, self._look),
            gate=ClientGate(bus=self.bus, scopes=self.request.scopes, local=self.request.local),
            values=self.values,
            picture=self._picture if self.request.screenshot else None,
        )

    async def _picture(self) -> Captured | None:
        return await self.performer.screenshot(call_id=call_id_of(self.request.task, ENDING))

    async def _look(self) -> ImagePart | None:
        """Return how the page looks for a task that is about looks; one picture for each action."""
        state = self.log.state
        if not about_looks(" ".join(user_words_of(state))) or not may_be_shown(self.values):
            return None
        number = LOOKING - len(state.actions)
        if number not in self.looks:
            captured = await self.performer.screenshot(call_id=call_id_of(self.request.task, number))
            self.looks[number] = None if captured is None else await kept_picture(self.bus, CAPTURES, captured.name)
        return self.looks[number]

    async def _tell(self, message: str) -> None:
        watch = self.request.watch
        if watch is not None:
            progress = Progress(token=watch.token, done=len(self.log.state.actions), message=message)
            await self.bus.tell(PROGRESS.at(replica=watch.replica), progress)

    def _reached(self) -> Reached:
        return Reached(state=self.log.state, session=self.log.state.session or self.request.session)


def _with_elements(page: PageTree, taken: TakenAction) -> PageTree:
    """Return a page that knows the nodes of an action which was begun on it: where it was done they may be gone."""
    named = (taken.action.arguments.get(name) for name in ("element", "to"))
    return structs.replace(page, elements={**{one: one for one in named if isinstance(one, str)}, **page.elements})


def _line(task: str, number: int, performed: Performed) -> ActionPerformed:
    return ActionPerformed(
        task=task,
        at=now_ms(),
        number=number,
        status=performed.status,
        error=performed.code,
        message=_message(performed),
        text=performed.text,
    )


def _message(performed: Performed) -> str:
    return f"{WAITS} {performed.approval}: {performed.message}" if performed.approval else performed.message


def _short_of_time() -> bool:
    left = remaining_ms()
    return left is not None and left < RESERVE_MS
