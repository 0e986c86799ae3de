"""One round of a task: what was done is verified, and what comes next is chosen, decided about and written down.

Whoever has the page calls it: the loop on browser sessions of ours (acting.py), and the answer to a client that has the
page itself (interacting/). Nothing is performed here but what concerns the task alone (remember, recall, ask, end).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct, structs

from actors import redact
from actors.planner import machine
from actors.planner.choosing import PageModels, StepChooser, StepRules
from actors.planner.correcting import PATIENCE, is_remedy, last_step_action, may_wait, remedy
from actors.planner.deciding import ActionGate, searches_for_others
from actors.planner.endings import (
    NO_TRACE,
    conclusion,
    confidence_of,
    is_refused,
    is_without_trace,
    looks_done,
    objection,
    question_about,
    supports,
)
from actors.planner.machine import MoveKind, NextMove, react, steps_left
from actors.planner.page_evidence import before_state, filled_nodes, step_claim
from actors.planner.recorded import nodes_of
from actors.planner.replanning import followed_by, new_plan
from actors.planner.solution import Chosen, Solution, StepOver, Unsolved, UserAsked
from actors.planner.task_log import TaskLog
from actors.planner.values import masked, named_in
from bus import Requester
from bus.clock import now_ms
from protocol.acting.actions import ACTIONS, ToolKind
from protocol.acting.steps import (
    SUCCESS_CONFIDENCE,
    Blocker,
    ClientEvidence,
    Correction,
    StepVerdict,
    TakenAction,
    TaskPlan,
    VerificationTier,
)
from protocol.acting.strings import action_string
from protocol.acting.tasks import (
    ActingStatus,
    ActionChosen,
    ActionJudged,
    ActionPerformed,
    PlanStepEnded,
    TaskEnded,
    TaskNoted,
    TaskPaused,
    TaskPlanned,
    TaskState,
)
from protocol.acting.tree import PageTree
from protocol.faults import Code, FaultError, fault
from protocol.pages import Captured
from protocol.policy import Decision, Reason, Verb
from protocol.subjects import VERIFY_STEP

MOST_TURNS: Final = 24
"""What is done within one round that takes no action: steps that are over already, what is remembered."""

MAX_CODE_CHARS: Final = 64
MAX_REASON_CHARS: Final = 500
"""What is kept of why a client could not do an action."""

BY_MODEL: Final = "A model has chosen where a secret of yours goes."
FINISHED: Final = "finish()"
"""What the user is asked to allow where nobody can tell whether a task is done."""

IS_IT_DONE: Final = "All steps were taken, and the page does not show whether that was what you wanted. Is it done?"
NOT_DONE: Final = "All steps were taken, and you said that it is not done."
SEARCHED_BY_MODEL: Final = "A model has chosen words that a search engine would get, and they are not yours."
LOST: Final = "The steps of the plan lead nowhere."
WAITED: Final = StepVerdict(
    succeeded=True, confidence=1.0, tier=VerificationTier.RULES, evidence=("It only prepared another attempt.",)
)
DENIED: Final = StepVerdict(succeeded=False, confidence=1.0, tier=VerificationTier.GATE, evidence=())


class RoundOutcome(Struct, frozen=True, kw_only=True):
    """How the task stands after a round; `due` is the action that comes next, for whoever has the page.

    Without one the task is over (`state.status.final`), or waits for its user (NEEDS_USER_INPUT: `state.question`,
    `state.missing`, `state.options`, `state.blocker`). Texts of `due.action` may hold `{name}` in place of a value that
    the user has given: `values.filled` puts it in, on its way to the page and nowhere else.
    """

    state: TaskState
    due: TakenAction | None = None


@dataclass(kw_only=True)
class Round:
    """The rounds of one task for one caller; `log` is open and the task begun (`log.begin`).

    `values` are those that the user has given, by name. Where a client performs the actions the `gate` is asked
    here; otherwise the performer asks it. `request` is a digest of what was asked in this round: it is kept with the
    answer (`state.request`). `models` is None where none may be asked. `picture` takes the picture of where it
    ends.
    """

    bus: Requester
    log: TaskLog
    rules: StepRules
    models: PageModels | None
    gate: ActionGate
    values: Mapping[str, str]
    request: str = ""
    picture: Callable[[], Awaitable[Captured | None]] | None = None
    _chooser: StepChooser = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Choose by these rules and models."""
        self._chooser = StepChooser(rules=self.rules, models=self.models, values=self.values)

    async def take(self, page: PageTree, client: ClientEvidence) -> RoundOutcome:
        """Verify the last action by the page as it is now, and choose the next one.

        A client that repeats a request is not given another round, but answered from `log.state` (`state.request`).

        Raises:
            FaultError: the task is over; somebody else goes on with it; the verifier or the gate is not to be had.
        """
        state = self.log.state
        if state.status.final:
            raise FaultError(fault(Code.VALIDATION_TASK_OVER))
        if state.status is ActingStatus.NEEDS_USER_INPUT:
            return RoundOutcome(state=state)
        page = masked(page, self.values, filled_nodes(state))
        outcome = None if state.unjudged is None else await self._judge(state.unjudged, page, client)
        for _ in range(MOST_TURNS):
            if outcome is not None:
                return outcome
            outcome = await self._turn(page)
        return outcome or await self.give_up(LOST)

    # -- what was done -------------------------------------------------------------------------------------------------

    async def _judge(self, taken: TakenAction, page: PageTree, client: ClientEvidence) -> RoundOutcome | None:
        """Write down what is found of the last action; return an outcome where nothing can follow."""
        state = self.log.state
        verdict = await self._verdict(state, taken, page, client)
        if not verdict.succeeded and not taken.status and client.status == "failure" and client.error_code:
            taken = await self._failed(taken, client)
        move = NextMove(kind=MoveKind.GO_ON) if taken.remedy else react(state, taken, verdict)
        line = ActionJudged(task=self.log.task, at=now_ms(), number=taken.number, verdict=verdict)
        await self.log.write(structs.replace(line, correction=move.correction))
        if taken.status == "denied":
            return await self.pause(_denial(taken.string, taken.message))
        match move.kind:
            case MoveKind.GO_ON | MoveKind.CORRECT:
                return None
            case MoveKind.ASK_USER:
                return await self.pause(question_about(move.blocker), blocker=move.blocker)
            case MoveKind.GIVE_UP:
                return await self.give_up(move.why)

    async def _failed(self, taken: TakenAction, client: ClientEvidence) -> TakenAction:
        """Write down why a client could not do an action: what is tried in its place goes by that (001 §1)."""
        code, message = client.error_code[:MAX_CODE_CHARS], redact.text(client.error_message[:MAX_REASON_CHARS])
        line = ActionPerformed(
            task=self.log.task, at=now_ms(), number=taken.number, status="error", error=code, message=message
        )
        await self.log.write(line)
        return structs.replace(taken, status=line.status, error=line.error, message=line.message)

    async def _verdict(
        self, state: TaskState, taken: TakenAction, page: PageTree, client: ClientEvidence
    ) -> StepVerdict:
        if taken.remedy:
            return WAITED
        if taken.status == "denied":
            return structs.replace(DENIED, evidence=(taken.message,))
        claim = step_claim(state, taken, page, client, local_only=self.models is None)
        verdict = await self.bus.call(VERIFY_STEP, claim)
        sure = verdict.succeeded and verdict.confidence >= SUCCESS_CONFIDENCE
        return structs.replace(verdict, succeeded=sure)

    # -- what comes next -----------------------------------------------------------------------------------------------

    async def _turn(self, page: PageTree) -> RoundOutcome | None:
        """Take the task one piece further; None where the next piece can be had at once."""
        state = self.log.state
        if state.plan is None:
            return await self._plan(state, page)
        if not machine.is_through(state.plan):
            return await self._next_action(state, state.plan, page)
        return await self._finish()

    async def _next_action(self, state: TaskState, plan: TaskPlan, page: PageTree) -> RoundOutcome | None:
        """Choose what comes next for the step at work; what the page has just refused is for the user to decide."""
        if not steps_left(state):
            return await (self._finish() if looks_done(state) else self.give_up(machine.TOO_MANY_STEPS))
        if _wants_plan(state) and await self._replan(state, page):
            return None
        step = plan.steps[plan.current]
        if looks_done(state) and step.by == "model":
            return await self._finish()
        if self.models is None and is_refused(state):
            return await self._without_solution(state, page)
        solution: Solution | None = remedy(state, page)
        return await self._follow(solution or await self._chooser.action(state, step, page), page)

    async def _plan(self, state: TaskState, page: PageTree) -> RoundOutcome | None:
        steps = await self._chooser.plan(state, page)
        if isinstance(steps, UserAsked):
            return await self._ask(steps)
        if isinstance(steps, Unsolved):
            return await self.pause(question_about(None, goal=state.goal), missing=("goal",))
        plan = new_plan(steps, now_ms())
        await self.log.write(TaskPlanned(task=self.log.task, at=plan.created_at, plan=plan))
        return None

    async def _replan(self, state: TaskState, page: PageTree) -> bool:
        """Have a model plan anew from here on; False where it cannot, or the same would come of it.

        What rules make of a goal is the same on every page, and begins at its beginning.
        """
        steps = Unsolved(why="") if self.models is None else await self.models.make_plan(state, page)
        if isinstance(steps, UserAsked | Unsolved) or state.plan is None:
            return False
        plan = followed_by(state.plan, steps, now_ms())
        if plan is None:
            return False
        reason = "The page is another one than the plan was made for."
        await self.log.write(TaskPlanned(task=self.log.task, at=plan.created_at, plan=plan, reason=reason))
        return True

    async def _follow(self, solution: Solution, page: PageTree) -> RoundOutcome | None:
        state = self.log.state
        match solution:
            case Chosen():
                return await self._choose(solution, page)
            case StepOver(shown=False) if objection(state) is not None:
                return await self._without_solution(state, page)
            case StepOver():
                await self._end_step(solution)
                return None
            case UserAsked():
                return await (self._finish() if looks_done(state) and not page.dialog else self._ask(solution))
            case Unsolved():
                return await self._without_solution(state, page)

    async def _without_solution(self, state: TaskState, page: PageTree) -> RoundOutcome | None:
        """Go on where nobody knows what to do: it may be done, may show nothing, or the page may need a moment."""
        if looks_done(state):
            return await self._finish()
        if is_without_trace(state):
            await self._end_step(StepOver(why=NO_TRACE))
            return None
        if may_wait(state, page):
            return await self._choose(PATIENCE, page)
        step = state.plan.steps[state.plan.current].description if state.plan else state.goal
        return await self.pause(question_about(None, step=step, tried=objection(state)), missing=("step",))

    async def _end_step(self, over: StepOver) -> None:
        plan = self.log.state.plan
        if plan is not None:
            line = PlanStepEnded(task=self.log.task, at=now_ms(), index=plan.current, why=over.why, text=over.text)
            await self.log.write(line)

    async def _choose(self, chosen: Chosen, page: PageTree) -> RoundOutcome | None:
        """Write the action down that comes next, and return it; what concerns the task alone is done here."""
        state, action = self.log.state, chosen.action
        if ACTIONS[action.name].kind is ToolKind.SERVER:
            return await self._do_here(chosen, page)
        decision = await self._decision(state, chosen, page)
        if decision is not None and decision.decision is not Verb.ALLOW and not _was_allowed(state, chosen, decision):
            return await self._refuse(chosen, decision)
        taken = TakenAction(
            number=len(state.actions),
            step=state.plan.current if state.plan else 0,
            action=action,
            string=action_string(action),
            thought=chosen.thought,
            by=chosen.by,
            pictured=chosen.pictured,
            confidence=chosen.confidence,
            expected=chosen.expected,
            at=now_ms(),
            remedy=chosen is PATIENCE or is_remedy(chosen, last_step_action(state)),
            page=page.hash,
            nodes=nodes_of(action, page),
        )
        line = ActionChosen(task=self.log.task, at=taken.at, taken=taken, before=before_state(page))
        state = await self.log.write(structs.replace(line, request=self.request))
        return RoundOutcome(state=state, due=taken)

    async def _decision(self, state: TaskState, chosen: Chosen, page: PageTree) -> Decision | None:
        """Return what is decided about an action before it is written down; None: its performer asks the gate."""
        if chosen.by == "model" and any(map(redact.is_secret, named_in(chosen.action, self.values))):
            return Decision(decision=Verb.ASK, reason_code=Reason.SENSITIVE_FIELD_BLOCKED, why=BY_MODEL)
        if chosen.by == "model" and searches_for_others(state, chosen.action):
            return Decision(decision=Verb.ASK, reason_code=Reason.TAINTED_ARGUMENT, why=SEARCHED_BY_MODEL)
        return await self.gate.decide(state, chosen, page) if state.surface == "interact" else None

    async def _do_here(self, chosen: Chosen, page: PageTree) -> RoundOutcome | None:
        """Do what nobody needs the page for."""
        state, given = self.log.state, {name: str(value) for name, value in chosen.action.arguments.items()}
        match chosen.action.name:
            case "remember":
                line = TaskNoted(task=self.log.task, at=now_ms(), key=given["key"], value=given["value"])
                await self.log.write(line)
                return None
            case "ask_user":
                return await self._ask(UserAsked(question=given.get("question", "") or chosen.thought))
            case "fail":
                return await self.give_up(given.get("reason", "") or chosen.thought)
            case "finish" | "verifySuccess" if supports(state, page, given.get("text", "")):
                return await self._finish(given.get("text", ""))
            case _:
                step = state.plan.steps[state.plan.current].description if state.plan else state.goal
                return await self.pause(question_about(None, step=step), missing=("step",))

    # -- how it ends ---------------------------------------------------------------------------------------------------

    async def _refuse(self, chosen: Chosen, decision: Decision) -> RoundOutcome:
        """Ask the user about an action that the gate does not let pass; what it denies is never done."""
        string = action_string(chosen.action)
        if decision.decision is Verb.ASK:
            question = f"May this be done for you: {string}? {decision.why}"
            return await self.pause(question, options=("yes", "no"), permission=string)
        return await self.pause(_denial(string, decision.why))

    async def _ask(self, ask: UserAsked) -> RoundOutcome:
        return await self.pause(ask.question, missing=ask.missing, options=ask.options)

    async def pause(
        self,
        question: str,
        *,
        missing: Sequence[str] = (),
        options: Sequence[str] = (),
        blocker: Blocker | None = None,
        permission: str = "",
    ) -> RoundOutcome:
        """Let the task wait for its user."""
        line = TaskPaused(
            task=self.log.task,
            at=now_ms(),
            question=question,
            missing=tuple(missing),
            options=tuple(options),
            blocker=blocker,
            permission=permission,
            request=self.request,
        )
        return RoundOutcome(state=await self.log.write(line))

    async def give_up(self, why: str) -> RoundOutcome:
        """End the task as failed."""
        return await self._end(TaskEnded(task=self.log.task, at=now_ms(), status="failed", text=why))

    async def _finish(self, text: str = "") -> RoundOutcome:
        """End the task as done; where that is not sure enough its user is asked to look."""
        state, confidence = self.log.state, confidence_of(self.log.state)
        if FINISHED in state.refused:
            return await self.give_up(NOT_DONE)
        if confidence < SUCCESS_CONFIDENCE and FINISHED not in state.allowed:
            return await self.pause(IS_IT_DONE, options=("yes", "no"), permission=FINISHED)
        line = TaskEnded(task=self.log.task, at=now_ms(), status="completed", text=text or conclusion(state))
        return await self._end(structs.replace(line, confidence=1.0 if FINISHED in state.allowed else confidence))

    async def _end(self, line: TaskEnded) -> RoundOutcome:
        screenshot = await self.picture() if self.picture is not None else None
        line = structs.replace(line, screenshot=screenshot, request=self.request)
        return RoundOutcome(state=await self.log.write(line))


def _denial(string: str, why: str) -> str:
    return f"The policy does not allow {string}. {why} What is to be done instead?"


def _wants_plan(state: TaskState) -> bool:
    """Return whether the plan is to be made anew before anything else: its page is gone, or a step of it failed so."""
    last, plan = last_step_action(state), state.plan
    if last is None or last.verdict is None or plan is None or plan.created_at >= last.at:
        return False
    if state.status is ActingStatus.CORRECTING:
        return last.correction is Correction.UPDATE_PLAN
    return last.verdict.replan and plan.steps[plan.current].by == "model"


def _was_allowed(state: TaskState, chosen: Chosen, decision: Decision) -> bool:
    return decision.decision is Verb.ASK and action_string(chosen.action) in state.allowed
