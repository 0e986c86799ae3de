"""Rounds of clients over a bus in memory, by the rules that there are: answered, repeated, negotiated and ended."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from msgspec import UNSET

from actors.gateway.chat_views import message_view
from actors.planner import solving
from actors.planner.interacting.chats import ChatLog
from actors.planner.interacting.interaction import Interaction
from actors.planner.interacting.round_notes import MOST_REPEATS, RoundNotes
from bus import Bus
from bus.memory import Broker
from bus.seal import Seal, new_key
from protocol import subjects
from protocol.acting.chats import ChangeChat, ChatMessageAdded, chat_topic
from protocol.acting.interact import ActionFailure, Interact, InteractData, InteractRequest
from protocol.acting.steps import StepClaim, StepVerdict, VerificationTier
from protocol.acting.tree import SemanticNode
from protocol.faults import Code, FaultError, fault
from protocol.models import CallModel, ImagePart, ModelAnswer
from protocol.policy import Decision, Reason, ToolRequest, Verb
from tests.requirements import requirement

URL = "https://shop.example/"
CHAT = "59adf5f0-cddb-42dd-a20d-658ac57278fd"
SECRET = "hunter2-but-longer"
FIELDS = (
    SemanticNode(id="4", role="inp", name="Name"),
    SemanticNode(id="5", role="inp", name="Password", value=""),
    SemanticNode(id="6", role="btn", name="Sign in"),
)
HTML = '<p>The blue loom costs <b>12 euros</b>.</p><button data-testid="buy" data-llm-id="6">Sign in</button>'


@dataclass
class Client:
    """Somebody who sends rounds of a page."""

    bus: Bus
    verdicts: list[StepClaim] = field(default_factory=list[StepClaim])
    pictured: list[bool] = field(default_factory=list[bool])

    async def send(self, query: str, nodes: tuple[SemanticNode, ...] | None = FIELDS, **other: Any) -> InteractData:
        caller, local_only = other.pop("caller", "me"), other.pop("local_only", True)
        given: dict[str, Any] = {"url": URL, "session_id": CHAT, **other}
        request = InteractRequest(query=query, interactive_tree=nodes, **given)
        journal = await self.bus.journal(subjects.TASKS)
        rounds = Interaction(bus=self.bus, rules=solving, chats=ChatLog(journal), notes=RoundNotes(journal))
        return await rounds.take(Interact(request=request, caller=caller, local_only=local_only))

    async def messages(self, session: str = CHAT) -> list[ChatMessageAdded]:
        journal = await self.bus.journal(subjects.TASKS)
        async with aclosing(journal.read(chat_topic(session))) as lines:
            return [one.value async for one in lines if isinstance(one.value, ChatMessageAdded)]

    async def verify(self, claim: StepClaim) -> StepVerdict:
        self.verdicts.append(claim)
        changed = claim.before.hash != claim.after.hash
        return StepVerdict(
            succeeded=changed,
            confidence=0.95,
            tier=VerificationTier.RULES,
            evidence=("It is there.",),
            changed=changed,
            task_done=changed and claim.final,
            task_confidence=0.9,
        )

    async def advise(self, asked: CallModel) -> ModelAnswer:
        """Note whether a model is shown a picture, and have none."""
        self.pictured.append(any(isinstance(part, ImagePart) for one in asked.messages for part in one.parts))
        raise FaultError(fault(Code.CONFIG_NO_MODEL))

    async def decide(self, request: ToolRequest) -> Decision:
        del request
        return Decision(decision=Verb.ALLOW, reason_code=Reason.CALLER_PREAPPROVED)


@asynccontextmanager
async def client() -> AsyncGenerator[Client]:
    with anyio.fail_after(90):
        async with (
            Broker() as broker,
            Bus(broker.connect("verifier"), "verifier", "v1").running() as other,
            Bus(broker.connect("planner"), "planner", "p1").running() as bus,
        ):
            bus.seal = Seal.of(new_key())
            this = Client(bus)
            await other.open_discovery()
            await other.serve(subjects.VERIFY_STEP, this.verify, at_once=4)
            await other.serve(subjects.CALL_MODEL, this.advise, at_once=4)
            await other.serve(subjects.POLICY_DECIDE, this.decide, at_once=4)
            yield this


async def test_a_round_is_answered_to_the_letter_and_in_the_same_way_when_it_comes_again() -> None:
    async with client() as page:
        first = await page.send("Click Sign in", dom=HTML)
        again = await page.send("Click Sign in", dom=HTML)

        assert again == first
        assert (first.status, first.action, first.session_id) == ("executing", "click(6)", CHAT)
        details = first.action_details
        assert details
        assert (details.name, details.element_id, details.element_ref) == ("click", 6, "6")
        assert details.selector_path == 'button[data-testid="buy"]'
        assert first.plan
        assert (first.plan.current_step_index, first.current_step, first.total_steps) == (0, 0, 1)
        assert [(one.id, one.index, one.tool_type) for one in first.plan.steps] == [("step_0", 0, "DOM")]
        assert [(one.number, one.role) for one in await page.messages()] == [(0, "user"), (1, "assistant")]


async def test_a_task_goes_on_to_its_end_which_is_told_again() -> None:
    async with client() as page:
        first = await page.send("Click Sign in")
        done = (SemanticNode(id="9", role="text", name="Welcome"),)
        last = await page.send("Click Sign in", done, task_id=first.task_id, last_action_status="success")
        again = await page.send("Click Sign in", done, task_id=first.task_id, last_action_status="success")

        assert last == again
        assert (last.status, last.action, last.task_id) == ("completed", "finish()", first.task_id)
        assert last.verification
        assert len(page.verdicts) == 1
        assert [one.action for one in await page.messages()] == ["", "click(6)", "finish()"]
        with pytest.raises(FaultError) as over:
            await page.send("Click Sign in", FIELDS, task_id=first.task_id)
        assert over.value.fault.code is Code.VALIDATION_TASK_OVER


async def test_more_of_the_page_is_asked_for_and_what_it_says_is_the_answer() -> None:
    async with client() as page:
        question = "What is the price of the blue loom? Find out how much it costs."
        wanted = await page.send(question)
        same = await page.send(question)
        nothing = await page.messages()
        after = await page.send(question, dom=HTML, dom_mode="full")

        assert same == wanted
        assert (wanted.status, wanted.requested_dom_mode, wanted.needs_screenshot) == ("needs_context", "full", False)
        assert (nothing, after.status) != ([], "needs_context")
        assert nothing == []


async def test_an_element_that_only_the_html_has_is_acted_on_and_is_no_change_when_the_html_is_not_sent_again() -> None:
    tree = (SemanticNode(id="1", role="link", name="Home"),)
    async with client() as page:
        wanted = await page.send("Click Sign in", tree)
        found = await page.send("Click Sign in", tree, dom=HTML)
        await page.send("Click Sign in", tree, task_id=found.task_id, last_action_status="success")

        assert (wanted.status, wanted.requested_dom_mode) == ("needs_context", "full")
        assert (found.status, found.action) == ("executing", "click(6)")
        assert [(one.before.nodes, one.after.nodes) for one in page.verdicts] == [(tree, tree)]


async def test_a_skeleton_that_a_page_was_seen_by_is_asked_for_again_before_its_action_is_judged() -> None:
    done = HTML.replace("Sign in", "Sign out")
    async with client() as page:
        first = await page.send("Click Sign in", (), skeleton_dom=HTML)
        told: dict[str, Any] = {"task_id": first.task_id, "last_action_status": "success"}
        wanted = await page.send("Click Sign in", (), **told)
        last = await page.send("Click Sign in", (), skeleton_dom=done, **told)

        assert first.action == "click(6)"
        assert (wanted.status, wanted.needs_skeleton_dom) == ("needs_context", True)
        assert last.status == "completed"
        assert [len(one.after.nodes) for one in page.verdicts] == [len(page.verdicts[0].before.nodes)]


@requirement("001.3.plan")
async def test_a_plan_says_what_its_steps_are_to_bring_about_and_who_takes_them() -> None:
    async with client() as page:
        first = await page.send('Enter "Ann" into Name, what is the Name?')

        assert first.plan
        outcomes = [(one.tool_type, one.expected_outcome) for one in first.plan.steps]
        assert outcomes == [
            ("DOM", {"kind": "value_changes", "element": "4", "value": "Ann"}),
            ("MIXED", UNSET),
        ]


@requirement("001.3.status")
async def test_a_round_that_corrects_what_failed_says_so() -> None:
    nodes = (SemanticNode(id="1", role="btn", name="Sign in"), SemanticNode(id="2", role="link", name="Sign in"))
    async with client() as page:
        first = await page.send('Click the "Sign in" button', nodes)
        failure = ActionFailure(code="TIMEOUT", message="It took too long.")
        told: dict[str, Any] = {"task_id": first.task_id, "last_action_status": "failure", "last_action_error": failure}
        second = await page.send('Click the "Sign in" button', nodes, **told)

        assert (first.status, second.status) == ("executing", "correcting")
        assert (second.correction, second.action) == ({"strategy": "RETRY_WITH_DELAY"}, "wait(2)")


@requirement("001.3.messages")
async def test_a_message_says_what_the_page_was_then() -> None:
    async with client() as page:
        await page.send("Click Sign in", page_title="Looms")
        shown = [message_view(one) for one in await page.messages()]

        assert [one.dom_summary for one in shown] == ["Looms: 2 inp, 1 btn"] * 2


@requirement("001.2.domain")
async def test_a_session_without_a_page_has_the_domain_that_its_client_says() -> None:
    async with client() as page:
        await page.send("Go to shop.example", None, url=None, domain="shop.example.co.uk")
        journal = await page.bus.journal(subjects.TASKS)
        info = await ChatLog(journal).change(ChangeChat(session=CHAT, caller="me"))

        assert (info.domain, info.title) == ("example.co.uk", "example.co.uk: Go to shop.example")


@requirement("001.5.hash")
async def test_a_picture_that_is_as_before_is_the_one_of_its_hash() -> None:
    shapes = tuple(SemanticNode(id=one, role="btn", centre=(40, 40)) for one in ("1", "2"))
    picture = b64encode(b"\xff\xd8\xff\xe0" + b"how it looks").decode()
    async with client() as page:

        async def send(task: Any = None, **look: Any) -> InteractData:
            given = {"task_id": task, "skeleton_dom": "<button></button>", "dom": "<button></button>", **look}
            return await page.send("Press the blue shape", shapes, local_only=False, **given)

        first = await send(screenshot=picture, screenshot_hash="00ff")
        shown = list[bool]()
        for digest in ("00ff", "ff00", None):
            begun = len(page.pictured)
            await send(first.task_id, screenshot=None, screenshot_hash=digest)
            shown.append(any(page.pictured[begun:]))

        assert any(page.pictured)
        assert shown == [True, False, True]


async def test_a_client_that_cannot_give_more_is_not_asked_for_it_for_ever() -> None:
    async with client() as page:
        answers = [await page.send("Press the gear icon") for _ in range(MOST_REPEATS + 2)]

        assert [one.status for one in answers[:MOST_REPEATS]] == ["needs_context"] * MOST_REPEATS
        assert "needs_user_input" in [one.status for one in answers] or answers[-1].requested_dom_mode != "hybrid"


async def test_a_secret_goes_to_the_page_alone() -> None:
    async with client() as page:
        goal = f'Type "{SECRET}" into the Password field'
        first = await page.send(goal.replace("Type", "Enter the password"))
        kept = await page.messages()

        assert SECRET in str(first.action)
        assert SECRET not in str(kept)


async def test_tasks_and_sessions_are_their_callers_alone() -> None:
    async with client() as page:
        first = await page.send("Click Sign in")

        with pytest.raises(FaultError) as foreign_chat:
            await page.send("Click Sign in", caller="you")
        with pytest.raises(FaultError) as foreign_task:
            await page.send("Click Sign in", caller="you", task_id=first.task_id, session_id=None)
        with pytest.raises(FaultError) as unknown:
            await page.send("Click Sign in", task_id=CHAT)

        assert foreign_chat.value.fault.code is Code.AUTH_INSUFFICIENT_SCOPE
        assert foreign_task.value.fault.code is unknown.value.fault.code is Code.VALIDATION_UNKNOWN_TASK


async def test_an_archived_session_is_left_alone() -> None:
    async with client() as page:
        await page.send("Click Sign in")
        log = ChatLog(await page.bus.journal(subjects.TASKS))
        await log.change(ChangeChat(session=CHAT, caller="me", archive=True))

        other = await page.send("Click Sign in", tab_id=2)

        assert other.session_id
        assert other.session_id != CHAT
        assert [one.role for one in await page.messages(other.session_id)] == ["user", "assistant"]


async def test_what_is_unclear_is_asked_of_the_user_whose_words_go_on() -> None:
    async with client() as page:
        twins = tuple(SemanticNode(id=str(one), role="btn", name="Buy", context=f"Loom {one}") for one in (1, 2))
        asked = await page.send("Click Buy", twins)
        still = await page.send("Click Buy", twins, task_id=asked.task_id)
        answered = await page.send("Loom 2", twins, task_id=asked.task_id)

        assert asked.status == "needs_user_input"
        assert asked.user_question
        assert still == asked
        assert (answered.status, answered.action) == ("executing", "click(2)")


async def test_a_first_round_without_ids_gets_them_once() -> None:
    async with client() as page:
        first, again = [await page.send("Click Sign in", session_id=None) for _ in range(2)]
        other = await page.send("Click Sign in", session_id=None, tab_id=3)

        assert (first.task_id, first.session_id) == (again.task_id, again.session_id)
        assert other.task_id != first.task_id


async def test_what_is_sent_twice_at_the_same_time_is_done_once() -> None:
    async with client() as page:
        answers = list[InteractData]()

        async def send() -> None:
            for _ in range(10):
                try:
                    answers.append(await page.send("Click Sign in", session_id=None))
                except FaultError as error:
                    if error.fault.code is not Code.INTERNAL_BUSY:
                        raise
                else:
                    return

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(send)

        first, *others = answers
        assert others == [first] * 3
        assert first.session_id
        assert [one.action for one in await page.messages(first.session_id)] == ["", "click(6)"]
