"""Goals are reached step by step, each through the gate; nothing runs twice, and nobody is believed but the user."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

import anyio
import pytest
from msgspec import structs

from bus.context import conversation
from protocol import subjects
from protocol.agent import AgentAnswered, AgentEnd, MakePlan, PlanContext, RunAgent
from protocol.answers import ChatEvent, conversation_topic
from protocol.documents import Content, Document, WebObservationSummary, untrusted
from protocol.faults import Code, fault
from protocol.models import ModelAnswer, RouteReason, TokenUsage, ToolUsePart
from protocol.packets import Conversation
from protocol.policy import (
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
from tests.requirements import requirement
from tests.unit.actors.answerer.world import MODEL, Prompt, World, answering

TEXT = "# La Rance\n\nThe tidal power station of La Rance was opened in 1966. It holds 240 MW."
PAGE = "https://tides.example/rance"
GOAL = "When was the tidal power station of La Rance opened?"
COLLECTION = "col_0123456789abcdef"
ALLOWED = Decision(decision=Verb.ALLOW, reason_code=Reason.COLLECTION_ALLOWED)
Payload = Mapping[str, Any]


def page(text: str = TEXT, url: str = PAGE) -> Document[Content]:
    return untrusted("page", WebObservationSummary(url=url, title="La Rance", markdown=text))


def ok(request: ToolRequest, *documents: Document[Content], **payload: Any) -> ToolOutcome:
    result = ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload=payload, documents=documents)
    return ToolOutcome(call_id=request.id, decision=ALLOWED, status=ToolStatus.OK, result=result)


def denied(request: ToolRequest) -> ToolOutcome:
    decision = Decision(decision=Verb.DENY, reason_code=Reason.OPERATOR_RULE, why="the operator has said so")
    return ToolOutcome(call_id=request.id, decision=decision, status=ToolStatus.DENIED)


def pending(request: ToolRequest) -> ToolOutcome:
    decision = Decision(decision=Verb.ASK, reason_code=Reason.SHARE_REQUIRES_APPROVAL)
    approval = Approval(
        id="apv_0123456789abcdef",
        call_id=request.id,
        tool=request.call.name,
        arguments=request.call.arguments,
        words="Hand the text out.",
        decision=decision,
        effect="A file is made.",
        state=ApprovalState.PENDING,
        created_at=0,
        expires_at=1,
    )
    return ToolOutcome(call_id=request.id, decision=decision, status=ToolStatus.PENDING, approval=approval)


def library(request: ToolRequest) -> ToolOutcome:
    """Search, collections and captures as they are where all goes well."""
    match request.call.name:
        case "app.calculate":
            return ok(request, result="84", expression=request.call.arguments["expression"])
        case "collection.create":
            return ok(request, collectionId=COLLECTION)
        case "search":
            hits = [{"url": PAGE, "title": "La Rance", "confidence": 0.9}, {"url": "x", "title": "", "confidence": 0.1}]
            return ok(request, query="q", engine="local", hits=hits)
        case "source.capture":
            return ok(request, page(), sourceId="src_1")
        case _:
            return denied(request)


def proposing(*replies: list[tuple[str, dict[str, Any]]]) -> Callable[[Prompt], Any]:
    """Propose these calls, one list a reply, then nothing; answer with the sentence of the year."""
    left = list(replies)

    def model(prompt: Prompt) -> Any:
        match prompt.request.tool:
            case "agent_permit":
                return {"tools": []}
            case "agent_plan":
                return calls(left.pop(0) if left else [])
            case _ if "opened in 1966" not in prompt.words:
                return {"assistant": {"title": "", "markdown": "?", "citations": []}, "supported": False, "collect": []}
            case _:
                number = prompt.number("opened in 1966")
                assistant = {"title": "", "markdown": f"In 1966 [{number}].", "citations": [number]}
                return {"assistant": assistant, "supported": True, "collect": []}

    return model


def calls(proposed: list[tuple[str, dict[str, Any]]]) -> ModelAnswer:
    parts = tuple(ToolUsePart(id=str(at), name=name, arguments=given) for at, (name, given) in enumerate(proposed))
    return ModelAnswer(
        call_id="",
        text="",
        requested=MODEL,
        served=MODEL,
        reason=RouteReason.DEFAULT,
        finish="tool_calls" if parts else "stop",
        usage=TokenUsage(),
        tool_calls=parts,
    )


@contextmanager
def talking(name: str = "c-1", turn: int = 1) -> Generator[None]:
    with conversation(Conversation(id=name, turn=turn)):
        yield


async def reach(world: World, goal: str = GOAL, **more: Any) -> AgentAnswered:
    return await world.ask(subjects.AGENT, RunAgent(goal=goal, caller="ann", **more))


def tools_of(answered: AgentAnswered) -> list[tuple[str, str, ToolStatus]]:
    return [(one.tool, one.by, one.outcome.status) for one in answered.steps]


# -- without a model ---------------------------------------------------------------------------------------------------


async def test_a_calculation_is_computed_and_its_result_quoted() -> None:
    async with answering(gate=library) as world:
        answered = await reach(world, "What is 12 × (3 + 4)?")

    assert [one.call.arguments for one in world.requests] == [{"expression": "12 * (3 + 4)"}]
    assert (answered.ended, answered.answer.supported) == (AgentEnd.ANSWERED, True)
    assert [one.quote for one in answered.answer.assistant.citations] == ["result: 84"]


async def test_what_an_answer_lacks_is_searched_for_and_collected() -> None:
    async with answering(gate=library) as world:
        answered = await reach(world)

    assert tools_of(answered) == [
        ("search", "rule", ToolStatus.OK),
        ("collection.create", "rule", ToolStatus.OK),
        ("source.capture", "rule", ToolStatus.OK),
    ]
    assert (answered.ended, answered.collection_id) == (AgentEnd.ANSWERED, COLLECTION)
    assert world.requests[-1].call.arguments == {"collectionId": COLLECTION, "url": PAGE}
    assert answered.answer.assistant.citations[0].quote == "The tidal power station of La Rance was opened in 1966."


async def test_nothing_is_searched_where_the_documents_say_it() -> None:
    async with answering(gate=library) as world:
        answered = await reach(world, documents=(page(),))

    assert (answered.ended, answered.steps, world.requests) == (AgentEnd.ANSWERED, (), [])


async def test_without_anything_to_read_it_says_so_and_never_guesses() -> None:
    async with answering(gate=denied) as world:
        answered = await reach(world)

    assert (answered.ended, answered.answer.supported) == (AgentEnd.NOTHING_LEFT, False)
    assert answered.answer.collect == (f'search for "{GOAL}"',)
    assert tools_of(answered) == [("search", "rule", ToolStatus.DENIED)]


async def test_what_is_to_be_saved_is_saved_with_its_answer() -> None:
    def gate(request: ToolRequest) -> ToolOutcome:
        return ok(request, artifactId="art_1") if request.call.name == "artifact.save" else library(request)

    async with answering(gate=gate) as world:
        answered = await reach(world, f"{GOAL} Save it as a note.", documents=(page(),))

    assert tools_of(answered) == [("artifact.save", "rule", ToolStatus.OK)]
    assert "1966" in world.requests[0].call.arguments["markdown"]


async def test_a_text_that_is_to_be_made_is_the_answer_with_the_citations_that_it_has() -> None:
    def gate(request: ToolRequest) -> ToolOutcome:
        if request.call.name != "transform.run":
            return library(request)
        cited = [{"source_id": "src_1", "quote": "opened in 1966"}]
        return ok(request, title="Timeline", markdown="- 1966: opened in 1966. [1]", citations=cited)

    async with answering(gate=gate) as world:
        answered = await reach(world, "Make a timeline of tidal power stations")

    assert tools_of(answered)[-1] == ("transform.run", "rule", ToolStatus.OK)
    assert world.requests[-1].call.arguments == {"collectionId": COLLECTION, "type": "timeline"}
    assert [one.quote for one in answered.answer.assistant.citations] == ["opened in 1966"]


async def test_what_a_search_was_asked_for_is_no_source_of_an_answer() -> None:
    def gate(request: ToolRequest) -> ToolOutcome:
        return ok(request, query=request.call.arguments["query"], engine="local", hits=[])

    async with answering(gate=gate) as world:
        answered = await reach(world, "Who won the chess championship of Mars?")

    assert (answered.ended, answered.answer.supported) == (AgentEnd.NOTHING_LEFT, False)
    assert answered.answer.assistant.citations == ()


# -- with a model ------------------------------------------------------------------------------------------------------


@requirement("003.tools.version")
async def test_a_model_is_told_the_tools_of_the_registry_and_what_was_read_as_evidence() -> None:
    model = proposing(
        [("search", {"query": "La Rance"})], [("source_capture", {"collectionId": "current", "url": PAGE})]
    )
    async with answering(gate=library, model=model) as world:
        answered = await reach(world, session="sess_1")

    assert tools_of(answered) == [
        ("search", "model", ToolStatus.OK),
        ("collection.create", "rule", ToolStatus.OK),
        ("source.capture", "model", ToolStatus.OK),
    ]
    assert answered.answer.assistant.citations[0].quote == "The tidal power station of La Rance was opened in 1966."
    plans = [one for one in world.prompts if one.request.tool == "agent_plan"]
    named = {one.name for one in plans[0].request.tools}
    assert {"search", "source_capture", "browser_click", "artifact_share"} <= named
    assert not {"collection_delete", "execute_javascript"} & named
    assert "opened in 1966" in plans[-1].words.partition("<<<")[2]
    permits = [one for one in world.prompts if one.request.tool == "agent_permit"]
    assert [TEXT[:10] in one.words for one in permits] == [False]


@requirement("003.tool-call.policy")
async def test_the_gate_is_told_who_wants_what_and_what_was_read_before() -> None:
    model = proposing([("artifact.share", {"artifactId": "art_1", "format": "pdf"})])
    async with answering(gate=pending, model=model) as world:
        await reach(world, documents=(page(),), scopes=("browse",), local=True)

    (request,) = world.requests
    assert (request.proposed, request.surface, request.caller, request.local) == (True, "llmcp", "ann", True)
    assert (request.scopes, request.context.user_words) == (("browse",), (GOAL,))
    (seen,) = request.context.documents
    assert isinstance(seen.content, WebObservationSummary)
    assert (seen.content.url, "opened in 1966" in seen.content.markdown) == (PAGE, True)
    assert "search" in (request.context.permitted or ())
    assert "artifact.share" not in (request.context.permitted or ())


async def test_a_step_that_waits_is_gone_on_with_and_runs_once() -> None:
    answers = [pending, pending]

    def gate(request: ToolRequest) -> ToolOutcome:
        return answers.pop(0)(request) if answers else ok(request, artifactId="art_1")

    model = proposing([("artifact.share", {"artifactId": "art_1", "format": "pdf"})])
    async with answering(gate=gate, model=model) as world:
        ended = list[AgentAnswered]()
        for turn in (1, 2, 3):
            with talking(turn=turn):
                ended.append(await reach(world, documents=(page(),)))
        events = await lines(world, "c-1")

    assert [one.ended for one in ended] == [
        AgentEnd.AWAITING_APPROVAL,
        AgentEnd.AWAITING_APPROVAL,
        AgentEnd.ANSWERED,
    ]
    assert len({one.id for one in world.requests}) == 1
    assert [one.task for one in events if one.role == "assistant"] == [
        "agent.step",
        "agent.step",
        "agent.wait",
        "agent.wait",
        "agent.run",
    ]
    assert [one.tool_results[0].status for one in events if one.task == "agent.step"] == [None, ToolStatus.PENDING]
    assert events[2].tool_results[0].approval == "apv_0123456789abcdef"


async def test_a_conversation_that_somebody_else_goes_on_with_is_left_to_them() -> None:
    async with answering(model=proposing([("search", {"query": "La Rance"})])) as world:

        async def decide(request: ToolRequest) -> ToolOutcome:
            journal = await world.bus.journal(subjects.CONVERSATIONS)
            topic = conversation_topic("ann", "c-1")
            last = await journal.last(topic)
            assert last is not None
            await journal.append(topic, last.value)
            return library(request)

        world.gate = decide
        with talking():
            failure = await world.fault_of(subjects.AGENT, RunAgent(goal=GOAL, caller="ann"))

    assert failure.code is Code.INTERNAL_BUSY
    assert len(world.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param([("search", {"query": f"q{number}"}) for number in range(100)], id="a hundred calls"),
        pytest.param([("search", {"query": "q"})], id="the same call"),
        pytest.param([("rm_rf", dict[str, Any]())], id="an unknown tool"),
        pytest.param([("search", {"query": "q" * 100_000})], id="huge arguments"),
        pytest.param([("search", {"query": "q"}), ("search", {"sql": "q"})], id="one of two is none"),
    ],
)
async def test_whatever_a_model_proposes_the_steps_are_bounded(reply: list[tuple[str, dict[str, Any]]]) -> None:
    model = proposing(*[reply] * 50)
    async with answering(gate=library, model=model) as world:
        answered = await reach(world, documents=(page(),), max_steps=3)

    assert len(answered.steps) <= 3
    assert len([one for one in world.prompts if one.request.tool == "agent_plan"]) <= 5
    assert len(world.requests) == len({str(one.call) for one in world.requests}) <= 3


async def test_a_model_is_told_what_was_denied_and_what_was_none() -> None:
    share = ("artifact_share", {"artifactId": "art_1", "format": "pdf"})
    async with answering(gate=denied, model=proposing([share], [("nothing", {})], [])) as world:
        await reach(world, documents=(page(),))

    plans = [one.words for one in world.prompts if one.request.tool == "agent_plan"]
    assert "the operator has said so" in plans[1]
    assert "unknown tool" in plans[2]


async def test_rules_do_what_they_know_where_a_model_has_nothing_to_propose() -> None:
    async with answering(gate=library, model=proposing()) as world:
        computed = await reach(world, "12 * 7")
        read = await reach(world, documents=(page(),))

    assert tools_of(computed) == [("app.calculate", "rule", ToolStatus.OK)]
    assert (read.steps, read.ended) == ((), AgentEnd.ANSWERED)


async def test_a_gate_that_is_away_is_an_error_and_nothing_is_lost() -> None:
    failing = True

    def gate(request: ToolRequest) -> Any:
        return fault(Code.INTERNAL_UNAVAILABLE) if failing else ok(request, artifactId="art_1")

    share = ("artifact_share", {"artifactId": "art_1", "format": "pdf"})
    async with answering(gate=gate, model=proposing([share])) as world:
        with talking(turn=1):
            failure = await world.fault_of(subjects.AGENT, RunAgent(goal=GOAL, caller="ann", documents=(page(),)))
        failing = False
        with talking(turn=2):
            answered = await reach(world, documents=(page(),))

    assert failure.code is Code.INTERNAL_UNAVAILABLE
    assert tools_of(answered) == [("artifact.share", "model", ToolStatus.OK)]
    assert len({one.id for one in world.requests}) == 1


# -- plans -------------------------------------------------------------------------------------------------------------


@requirement("003.plan")
async def test_a_plan_proposes_and_runs_nothing() -> None:
    context = PlanContext(origin="https://shop.example", observation={"title": "Shop", "text": ["Buy", "Sell"]})
    model = proposing([("browser_click", {"handleId": "laika-1"})])
    async with answering(gate=pending, model=model) as world:
        planned = await world.ask(subjects.AGENT_PLAN, MakePlan(goal="Open the shop", context=context, caller="ann"))

    (action,) = planned.actions
    assert (action.tool_call.name, action.tool_call.arguments) == ("browser.click", {"handleId": "laika-1"})
    assert action.policy.decision is Verb.ASK
    assert world.requests[0].context.origin == "https://shop.example"
    assert "text: Sell" in world.prompts[0].words


async def test_a_plan_without_a_model_is_made_by_rule() -> None:
    context = PlanContext(origin="https://shop.example")
    async with answering(gate=library) as world:
        first = await world.ask(subjects.AGENT_PLAN, MakePlan(goal="12 * 7", context=context))
        made = structs.replace(context, recent_tool_calls=({"name": "app.calculate", "arguments": {}},))
        second = await world.ask(subjects.AGENT_PLAN, MakePlan(goal="12 * 7", context=made))
        last = structs.replace(context, step=6)
        third = await world.ask(subjects.AGENT_PLAN, MakePlan(goal="12 * 7", context=last))

    assert [len(one.actions) for one in (first, second, third)] == [1, 0, 0]
    assert third.summary == "No step is left."


async def lines(world: World, name: str) -> list[ChatEvent]:
    with anyio.fail_after(5):
        return [one for one in await world.conversation() if one.conversation == name]
