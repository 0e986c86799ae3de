"""Rounds of a task over a small page in memory: chosen, written down, verified, corrected, asked and ended."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import pytest
from msgspec import structs

from actors.planner.choosing import StepRules
from actors.planner.resuming import resume_task
from actors.planner.rounds import Round, RoundOutcome
from actors.planner.solution import Chosen, Solution, StepOver, TaskSoFar, Unsolved, UserAsked
from actors.planner.task_log import TaskLog
from bus import Bus
from bus.clock import now_ms
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.acting.actions import ActionCall
from protocol.acting.steps import (
    ClientEvidence,
    Correction,
    PlanStep,
    PlanStepStatus,
    StepClaim,
    StepVerdict,
    VerificationTier,
)
from protocol.acting.tasks import ActingStatus, TaskBegun, TaskResumed
from protocol.acting.tree import PageTree, SemanticNode
from protocol.faults import Code, FaultError
from protocol.policy import Decision, Reason, Verb
from tests.requirements import requirement

TASK = "0a1b2c3d-0000-4000-8000-00000000000{}"
ALLOW = Decision(decision=Verb.ALLOW, reason_code=Reason.CALLER_PREAPPROVED)
ASK = Decision(decision=Verb.ASK, reason_code=Reason.TAINTED_ARGUMENT, why="A page says so.")

REFUSED = StepVerdict(
    succeeded=False,
    confidence=0.02,
    tier=VerificationTier.RULES,
    evidence=("Beside it changed: 'Only owners can.'.", "The page says: 'Only owners can.'."),
    changed=True,
    refused=True,
)


@dataclass(frozen=True)
class Clicks:
    """Rules for goals such as `A, B`: a click for each name, once it has succeeded the step is over."""

    confidence: float
    over: StepOver | None = None

    def make_plan(self, goal: str, page: PageTree, so_far: TaskSoFar) -> tuple[PlanStep, ...]:
        """Make a step of each name."""
        del page, so_far
        names = goal.split(", ") if goal[0].isupper() else []
        return tuple(PlanStep(index=index, description=name) for index, name in enumerate(names))

    def solve(self, step: PlanStep, page: PageTree, so_far: TaskSoFar) -> Solution:
        """Click the first node of that name that was not tried, unless the step is over in any case."""
        if self.over is not None:
            return self.over
        tried = {one.action.element: one.verdict for one in so_far.actions if one.step == step.index}
        if any(verdict is not None and verdict.succeeded for verdict in tried.values()):
            return StepOver(why="It is done.")
        nodes = [one for one in page.nodes if one.name == step.description and one.id not in tried]
        if len(nodes) > 1 and not so_far.user_words and not tried:
            return UserAsked(question="Which one?", options=tuple(one.id for one in nodes))
        if not nodes:
            return Unsolved(why="There is none.")
        click = ActionCall(name="click", arguments={"element": nodes[0].id})
        return Chosen(action=click, thought="", confidence=self.confidence)


@dataclass
class World:
    """A verifier that looks at what changed, a gate that says what it is told, and a page whose nodes do something."""

    bus: Bus
    dead: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    decision: Decision = ALLOW
    confidence: float = 0.9
    clicked: list[str] = field(default_factory=list[str])
    over: StepOver | None = None
    claims: list[StepClaim] = field(default_factory=list[StepClaim])
    names: Mapping[str, str] = field(default_factory=lambda: {"1": "A", "2": "B", "3": "C", "4": "D", "5": "D"})

    @property
    def page(self) -> PageTree:
        """The page as it stands: every click is counted on it."""
        nodes = (SemanticNode(id=key, role="btn", name=name) for key, name in self.names.items())
        clicks = SemanticNode(id="9", role="text", name=str(len(self.clicked)))
        return PageTree(url="https://shop.example/", nodes=(*nodes, clicks), hash=str(len(self.clicked)))

    async def verify(self, claim: StepClaim) -> StepVerdict:
        """Say that it succeeded if something changed, and the page has not refused it."""
        self.claims.append(claim)
        if claim.action.element in self.refused:
            return REFUSED
        changed = claim.before.hash != claim.after.hash
        return StepVerdict(
            succeeded=changed,
            confidence=0.95 if changed else 0.2,
            tier=VerificationTier.RULES,
            evidence=("Something changed." if changed else "Nothing changed.",),
            changed=changed,
            task_done=changed and claim.final,
            task_confidence=min(0.9, claim.certainty) if changed else 0.0,
        )

    async def decide(self, state: object, chosen: Chosen, page: PageTree) -> Decision:
        """Say what the gate says."""
        del state, chosen, page
        return self.decision

    async def begun(self, goal: str, number: int = 1) -> TaskLog:
        """Begin a task, or go on with it."""
        log = await TaskLog.opened(self.bus, TASK.format(number), "me")
        line = TaskBegun(task=log.task, at=now_ms(), caller="me", goal=goal, surface="interact", max_steps=8)
        await log.begin(line)
        return log

    def round(self, log: TaskLog, request: str = "") -> Round:
        """Return a round of a task."""
        rules: StepRules = Clicks(self.confidence, self.over)
        return Round(bus=self.bus, log=log, rules=rules, models=None, gate=self, values={}, request=request)

    def perform(self, outcome: RoundOutcome) -> None:
        """Click what is due; some nodes do nothing."""
        assert outcome.due is not None
        if outcome.due.action.element not in self.dead and outcome.due.action.name == "click":
            self.clicked.append(outcome.due.action.element)

    async def run(self, goal: str) -> RoundOutcome:
        """Take rounds until nothing is due; each reads the task anew, as another replica would."""
        for _ in range(20):
            outcome = await self.round(await self.begun(goal)).take(self.page, ClientEvidence())
            if outcome.due is None:
                return outcome
            self.perform(outcome)
        raise AssertionError


@asynccontextmanager
async def world() -> AsyncGenerator[World]:
    """Run the verifier."""
    with anyio.fail_after(90):
        async with (
            Broker() as broker,
            Bus(broker.connect("verifier"), "verifier", "v1").running() as verifier,
            Bus(broker.connect("planner"), "planner", "p1").running() as bus,
        ):
            bus.seal = Seal.of(new_key())
            this = World(bus=bus)
            await verifier.open_discovery()
            await verifier.serve(subjects.VERIFY_STEP, this.verify, at_once=4)
            yield this


async def test_steps_are_taken_one_after_the_other_and_each_once() -> None:
    """The task ends as completed, no surer than its verdict, and only the last claim is final."""
    async with world() as this:
        outcome = await this.run("A, B, C")

        state = outcome.state
        assert (state.status, state.text, state.confidence) == (ActingStatus.COMPLETED, "Done.", 0.9)
        assert this.clicked == ["1", "2", "3"]
        assert [claim.final for claim in this.claims] == [False, False, True]
        assert state.plan is not None
        assert {one.status for one in state.plan.steps} == {PlanStepStatus.COMPLETED}
        with pytest.raises(FaultError) as error:
            await this.round(await this.begun("A, B, C")).take(this.page, ClientEvidence())
        assert error.value.fault.code is Code.VALIDATION_TASK_OVER


@pytest.mark.parametrize(
    ("words", "status", "confidence"), [("yes", ActingStatus.COMPLETED, 1.0), ("no", ActingStatus.FAILED, 0.0)]
)
async def test_where_nobody_can_tell_whether_it_is_done_the_user_is_asked(
    words: str, status: ActingStatus, confidence: float
) -> None:
    async with world() as this:
        this.confidence = 0.6
        asking = await this.run("A, B")
        await resume_task(await this.begun("A, B"), None, words)
        outcome = await this.run("A, B")

        assert (asking.state.status, asking.state.options) == (ActingStatus.NEEDS_USER_INPUT, ("yes", "no"))
        assert (outcome.state.status, outcome.state.confidence, this.clicked) == (status, confidence, ["1", "2"])


async def test_what_had_no_effect_is_tried_another_way() -> None:
    """The first of two that are alike does nothing: the second is taken, once the first was corrected."""
    async with world() as this:
        this.names, this.dead = {"4": "D", "5": "D"}, frozenset({"4"})
        first = await this.run("D")
        log = await this.begun("D")
        await log.write(TaskResumed(task=log.task, at=now_ms(), words="the first"))
        outcome = await this.run("D")

        assert first.state.question == "Which one?"
        assert (outcome.state.status, this.clicked) == (ActingStatus.COMPLETED, ["5"])
        assert [one.correction is not None for one in outcome.state.actions] == [True, False]


async def test_what_a_page_refuses_is_told_and_not_done_to_another() -> None:
    async with world() as this:
        this.names, this.refused = {"4": "D", "5": "D"}, frozenset({"4"})
        await this.run("D")
        log = await this.begun("D")
        await log.write(TaskResumed(task=log.task, at=now_ms(), words="the first"))
        outcome = await this.run("D")

        assert (outcome.state.status, this.clicked) == (ActingStatus.NEEDS_USER_INPUT, ["4"])
        assert "The page says: 'Only owners can.'." in outcome.state.question


async def test_a_step_is_not_over_as_long_as_its_last_action_was_not_done() -> None:
    """What rules call over is so where the page shows it, or where what was done is borne out."""
    async with world() as this:
        this.refused = frozenset({"1"})
        await this.run("A")
        log = await this.begun("A")
        await log.write(TaskResumed(task=log.task, at=now_ms(), words="go on"))
        this.over = StepOver(why="It was clicked.")
        claimed = await this.run("A")
        log = await this.begun("A")
        await log.write(TaskResumed(task=log.task, at=now_ms(), words="go on"))
        this.over = StepOver(why="It is on.", shown=True)
        shown = await this.run("A")

        assert claimed.state.status is ActingStatus.NEEDS_USER_INPUT
        assert "The page says: 'Only owners can.'." in claimed.state.question
        assert shown.state.plan is not None
        assert {one.status for one in shown.state.plan.steps} == {PlanStepStatus.COMPLETED}


async def test_what_left_no_trace_is_not_done_only_because_a_rule_calls_it_over() -> None:
    async with world() as this:
        this.dead = frozenset({"1"})
        log = await this.begun("A")
        this.perform(await this.round(log).take(this.page, ClientEvidence()))
        this.over = StepOver(why="It was clicked.")
        outcome = await this.run("A")

        assert (outcome.state.status, outcome.state.options) == (ActingStatus.NEEDS_USER_INPUT, ("yes", "no"))


async def test_what_nobody_knows_is_asked_of_the_user() -> None:
    """Without a model, a goal that no rule understands and a step that has no control wait for words."""
    async with world() as this:
        goal = await this.round(await this.begun("do something", 2)).take(this.page, ClientEvidence())
        step = await this.round(await this.begun("Z", 3), "d1").take(this.page, ClientEvidence())

        assert (goal.state.status, goal.state.missing) == (ActingStatus.NEEDS_USER_INPUT, ("goal",))
        assert (step.state.missing, step.state.request) == (("step",), "d1")
        assert "Z" in step.state.question


async def test_what_the_gate_does_not_allow_is_not_handed_out() -> None:
    """A denial is explained; what it asks about is handed out once the user has allowed it."""
    async with world() as this:
        this.decision = structs.replace(ASK, decision=Verb.DENY)
        denied = await this.round(await this.begun("A", 2)).take(this.page, ClientEvidence())
        this.decision = ASK
        asking = await this.round(await this.begun("A", 3)).take(this.page, ClientEvidence())
        log = await this.begun("A", 3)
        await log.write(TaskResumed(task=log.task, at=now_ms(), words="yes", allows=True))
        allowed = await this.round(log).take(this.page, ClientEvidence())

        assert denied.due is None
        assert "A page says so." in denied.state.question
        assert (asking.due, asking.state.options) == (None, ("yes", "no"))
        assert allowed.due is not None
        assert allowed.due.string == "click(1)"


async def test_one_of_two_who_go_on_at_once_is_told_so() -> None:
    """Only one action is written down."""
    async with world() as this:
        logs = [await this.begun("A"), await this.begun("A")]
        await this.round(logs[0]).take(this.page, ClientEvidence())
        with pytest.raises(FaultError) as error:
            await this.round(logs[1]).take(this.page, ClientEvidence())

        assert error.value.fault.code is Code.INTERNAL_BUSY
        assert len((await this.begun("A")).state.actions) == 1


async def test_a_task_of_somebody_else_is_none() -> None:
    """Nor can it be begun with another goal."""
    async with world() as this:
        await this.begun("A")
        with pytest.raises(FaultError) as other:
            await TaskLog.opened(this.bus, TASK.format(1), "you")
        with pytest.raises(FaultError) as goal:
            await this.begun("B")

        assert other.value.fault.code is Code.VALIDATION_UNKNOWN_TASK
        assert goal.value.fault.code is Code.VALIDATION_INVALID_REQUEST


@requirement("001.1.failures")
async def test_what_a_client_says_of_its_failure_decides_what_is_tried_in_its_place() -> None:
    failure = ClientEvidence(status="failure", error_code="ELEMENT_NOT_FOUND", error_message="Nothing has the id 1.")
    async with world() as this:
        log = await this.begun("A, B")
        await this.round(log).take(this.page, ClientEvidence())
        after = await this.round(log).take(this.page, failure)

        judged = after.state.actions[0]
        assert (judged.error, judged.message) == ("ELEMENT_NOT_FOUND", "Nothing has the id 1.")
        assert judged.correction is Correction.ALTERNATIVE_SELECTOR
