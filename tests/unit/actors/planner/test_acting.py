"""A task of our own browser, killed before and after each of its lines: another replica ends it, nothing done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import msgspec
import pytest

from actors.planner.acting import ActingRun
from actors.planner.task_log import TaskLog
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.acting.act import Reached, ReachOnPage
from protocol.acting.steps import StepClaim, StepVerdict, VerificationTier
from protocol.acting.tasks import ActingStatus, TaskLine, TaskState
from protocol.acting.tree import AskTree, PageTree, SemanticNode
from protocol.faults import Code, FaultError, fault
from protocol.models import CallModel, ImagePart, ModelAnswer, ModelName, Provider, RouteReason, TokenUsage
from protocol.pages import Captured
from protocol.policy import (
    APPROVAL_PREFIX,
    Approval,
    ApprovalState,
    Decision,
    Reason,
    ToolOutcome,
    ToolRequest,
    ToolResult,
    ToolStatus,
    Verb,
)
from tests.support.scale import first

TASK = "0a1b2c3d-0000-4000-8000-000000000001"
SESSION = "sess_0123456789abcdefghijkl"
URL = "https://shop.example/"
GOAL = 'Click "Add", then click "Order"'
TEST_S = 240.0
FEWEST_LINES = 8
SHOWN = "https://shown.example/in-the-picture"
PICTURE = b"\xff\xd8\xff\xe0 a picture"
SEEN = ImagePart(media_type="image/jpeg", data=PICTURE)
CAPTURE = Captured(kind="screenshot", name="screenshot-1", media_type="image/jpeg", size=len(PICTURE))
ALLOWED = Decision(decision=Verb.ALLOW, reason_code=Reason.CALLER_PREAPPROVED)


class KilledError(Exception):
    """Whoever acted is dead."""


@dataclass
class ShopWorld:
    """A page on which every click is seen, and a gate that has each call done once; `asks` is what it asks about."""

    bus: Bus
    done: dict[str, str] = field(default_factory=dict[str, str])
    effects: Counter[str] = field(default_factory=Counter[str])
    asks: str = ""
    approved: bool = False
    requests: list[ToolRequest] = field(default_factory=list[ToolRequest])
    asked: list[CallModel] = field(default_factory=list[CallModel])

    async def tree(self, request: AskTree) -> PageTree:
        """Show the page."""
        del request
        names = ("Add", "Order", f"{sum(self.effects.values())} things were done")
        nodes = tuple(
            SemanticNode(id=str(at), role="btn" if at < 3 else "text", name=name) for at, name in enumerate(names, 1)
        )
        elements = {"1": "add", "2": "order"} if not self.effects["order"] else {}
        return PageTree(url=URL, nodes=nodes, hash=names[2], elements=elements)

    async def call(self, request: ToolRequest) -> ToolOutcome:
        """Do what is asked once for each id, as the gate has it done."""
        what = str(request.call.arguments.get("element_id", request.call.name))
        self.requests.append(request)
        if what == self.asks and not self.approved:
            approval = Approval(
                id=APPROVAL_PREFIX + request.id[5:],
                call_id=request.id,
                tool="click",
                arguments={},
                words="Click “Order”",
                decision=ALLOWED,
                effect="",
                state=ApprovalState.PENDING,
                created_at=1,
                expires_at=2,
            )
            return ToolOutcome(call_id=request.id, decision=ALLOWED, status=ToolStatus.PENDING, approval=approval)
        if self.done.get(request.id, what) != what:
            raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, "Another call has this id.", field="id"))
        if request.id not in self.done:
            self.done[request.id] = what
            self.effects[what] += 1
        payload = {"image": msgspec.to_builtins(CAPTURE)} if what == "screenshot" else {}
        result = ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload=payload)
        return ToolOutcome(call_id=request.id, decision=ALLOWED, status=ToolStatus.OK, result=result)

    async def answer(self, call: CallModel) -> ModelAnswer:
        """Answer as a model that has an address from somewhere."""
        self.asked.append(call)
        name = ModelName(provider=Provider.OPENAI, model="m")
        action = {"thought": "", "action": "navigate", "element": "", "to": "", "text": SHOWN, "name": ""}
        return ModelAnswer(
            call_id="c",
            text="",
            data={**action, "confidence": 0.8},
            requested=name,
            served=name,
            reason=RouteReason.DEFAULT,
            finish="stop",
            usage=TokenUsage(),
        )

    async def verify(self, claim: StepClaim) -> StepVerdict:
        """Say that it succeeded if something changed."""
        changed = claim.before.hash != claim.after.hash
        return StepVerdict(
            succeeded=changed,
            confidence=0.95 if changed else 0.2,
            tier=VerificationTier.RULES,
            evidence=("Something changed." if changed else "Nothing changed.",),
            changed=changed,
            task_done=changed and claim.final,
            task_confidence=0.9 if changed else 0.0,
        )

    async def act(self, **more: object) -> Reached:
        """Have the goal reached."""
        given: dict[str, object] = {"goal": GOAL, "url": URL, "local_only": True, "screenshot": False, **more}
        request = ReachOnPage(task=TASK, session=SESSION, caller="me", **given)  # type: ignore[arg-type]  # a test's shorthand
        return await ActingRun(bus=self.bus, request=request).run()


@asynccontextmanager
async def shop() -> AsyncGenerator[ShopWorld]:
    """Run the page, the gate and the verifier."""
    with anyio.fail_after(TEST_S):
        async with (
            Broker() as broker,
            Bus(broker.connect("others"), "others", "o1").running() as others,
            Bus(broker.connect("planner"), "planner", "p1").running() as bus,
        ):
            bus.seal = Seal.of(new_key())
            here = ShopWorld(bus)
            await others.open_discovery()
            await others.serve(subjects.BROWSER_TREE, here.tree, at_once=4)
            await others.serve(subjects.POLICY_CALL, here.call, at_once=4)
            await others.serve(subjects.VERIFY_STEP, here.verify, at_once=4)
            await others.serve(subjects.CALL_MODEL, here.answer, at_once=4)
            yield here


def dies_at(monkeypatch: pytest.MonkeyPatch, number: int, *, before: bool) -> None:
    """Have whoever acts die before, or just after, the line of that number is written."""
    write, count = TaskLog.write, 0

    async def written(self: TaskLog, line: TaskLine) -> TaskState:
        nonlocal count
        count += 1
        if before and count == number:
            raise KilledError
        state = await write(self, line)
        if count == number:
            raise KilledError
        return state

    monkeypatch.setattr(TaskLog, "write", written)


@pytest.mark.slow
@pytest.mark.parametrize("before", first(1, [True, False]))
async def test_whoever_dies_at_whichever_line_the_task_is_ended_and_nothing_done_twice(
    monkeypatch: pytest.MonkeyPatch, *, before: bool
) -> None:
    """Chosen and not performed: performed under the same id. Performed and not judged: judged."""
    number, died = 0, True
    while died:
        number += 1
        async with shop() as here:
            with monkeypatch.context() as patched:
                dies_at(patched, number, before=before)
                try:
                    await here.act()
                    died = False
                except KilledError:
                    died = True
            state = (await here.act()).state

        assert state.status is ActingStatus.COMPLETED, (number, state)
        assert here.effects == {"navigate": 1, "add": 1, "order": 1}, number
        assert [one.string for one in state.actions] == ["click(1)", "click(2)"]
    assert number > FEWEST_LINES


@pytest.mark.parametrize(
    ("goal", "tools"),
    [
        ("Choose the red shape", {"browser_get_screenshot": True}),
        ("Choose the next thing", {"agent_act": False}),
        ('Choose the red shape, password "hunter2-but-longer"', {"agent_act": False}),
    ],
)
async def test_a_model_sees_our_page_where_looks_matter_and_no_secret_is_there_and_its_words_are_then_the_pages(
    goal: str, tools: dict[str, bool]
) -> None:
    async with shop() as here:
        await (await here.bus.objects(subjects.CAPTURES)).put(CAPTURE.name, PICTURE)
        await here.act(goal=goal, url=None, local_only=False, max_steps=1)

    assert {call.tool: call.messages[-1].parts[0] == SEEN for call in here.asked} == tools
    assert here.effects["screenshot"] == sum(tools.values())
    (moved,) = [one for one in here.requests if one.call.name == "navigate"]
    assert [SHOWN in str(one) for one in moved.context.documents] == [*tools.values()]


async def test_what_waits_for_an_approval_goes_on_when_it_is_there() -> None:
    """Asked again before, it still waits; nothing is done meanwhile."""
    async with shop() as here:
        here.asks = "order"
        waiting = [(await here.act()).state for _ in range(2)]
        here.approved = True
        state = (await here.act()).state

    assert [one.status for one in waiting] == [ActingStatus.NEEDS_USER_INPUT] * 2
    assert APPROVAL_PREFIX in waiting[1].question
    assert state.status is ActingStatus.COMPLETED
    assert here.effects == {"navigate": 1, "add": 1, "order": 1}
