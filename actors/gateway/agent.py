"""Goals that are reached by tools, and plans of the next calls, asked for a client of any surface (003 "Tools")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from actors.gateway import answers
from actors.gateway.access.caller import Scope
from actors.gateway.answer_results import CITATIONS, END_CITATIONS, AnswerResult, result_text, to_result
from actors.gateway.answers import SourcesRequest
from actors.gateway.app_context import AppContext
from actors.gateway.approvals import answer_approval, get_approval
from actors.gateway.errors import to_error
from actors.gateway.request import RequestContext
from protocol.agent import (
    MAX_STEPS,
    MOST_STEPS,
    RECENT,
    AgentAnswered,
    AgentEnd,
    AgentStep,
    Goal,
    MakePlan,
    PlanContext,
    Planned,
    RunAgent,
)
from protocol.browse import SCHEMA_VERSION, StructuredError
from protocol.collections import CollectionId, own_id
from protocol.documents import NonEmpty
from protocol.faults import Code, FaultError, fault
from protocol.packets import Conversation
from protocol.policy import Approval, Decision, ToolErrorCode, ToolStatus
from protocol.subjects import AGENT, AGENT_PLAN
from protocol.tools.registry import find_anywhere

MAX_TOOLS = 64


class AgentRequest(SourcesRequest, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A goal, and what may be used for it; pages and documents are read before the first step.

    With the `conversation` of one that waits for an approval or has failed, and the same goal, it goes on: what has
    been done is not done again.
    """

    goal: Goal
    collection: Annotated[
        CollectionId | None, Meta(description="Collection to read from and to capture into; begun where it is needed.")
    ] = None
    tools: Annotated[
        Annotated[tuple[NonEmpty, ...], Meta(max_length=MAX_TOOLS)] | None,
        Meta(description="Tools that the task wants. Without: those that the goal itself names."),
    ] = None
    max_steps: Annotated[int, Meta(ge=1, le=MOST_STEPS)] = MAX_STEPS
    session: Annotated[NonEmpty | None, Meta(description="Browser session for the tools of the browser.")] = None


class StepResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """One step: the call, who has proposed it, what the policy has decided, and what came of it."""

    number: int
    call_id: str
    tool: str
    arguments: dict[str, Any]
    by: str
    policy: Decision
    status: ToolStatus
    payload: dict[str, Any] | UnsetType = UNSET
    code: ToolErrorCode | UnsetType = UNSET
    error: StructuredError | UnsetType = UNSET
    approval: Approval | UnsetType = UNSET


class AgentResult(Struct, frozen=True, kw_only=True, rename="camel"):
    """The answer to a goal, with its citations, the steps that led to it, and why no more of them were taken."""

    answer: AnswerResult
    steps: tuple[StepResult, ...]
    ended: AgentEnd
    conversation: Conversation
    collection_id: str | UnsetType = UNSET
    schema_version: str = SCHEMA_VERSION


class PlanRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A goal, and what its caller sees (003, plan server)."""

    goal: Goal
    context: PlanContext


async def run(app: AppContext, request: RequestContext, arguments: AgentRequest) -> AgentResult:
    """Reach a goal, as the next turn of a conversation.

    Raises:
        FaultError: the request contradicts itself, the key is not good for it, the gate is away, or nothing that was
            named could be read.
    """
    _check_goal(arguments.goal)
    goal = RunAgent(
        **await answers.sources_of(app, request, arguments, needed=False),
        goal=arguments.goal,
        collection=own_id(arguments.collection) if arguments.collection else None,
        scopes=tuple(sorted(request.caller.scopes)),
        local=request.caller.local,
        max_steps=arguments.max_steps,
        tools=None if arguments.tools is None else tuple(map(_tool, arguments.tools)),
        session=arguments.session,
    )
    async with answers.talking(app, request, arguments.conversation) as talk:
        answered = await app.bus.call(AGENT, goal, wait_ms=app.grace_ms)
        accounted = answers.accounted(request, answered.answer)
        return _result(structs.replace(answered, answer=accounted), talk)


async def run_or_ask(app: AppContext, request: RequestContext, arguments: AgentRequest) -> AgentResult:
    """Reach a goal; what a step waits for is asked of the user, where there is one who can be asked.

    Raises:
        FaultError: as `run` does.
    """
    user = request.approver
    if user is not None and user.resumed is not None:
        name, given = user.resumed
        approval = await get_approval(app, request, name)
        arguments = structs.replace(arguments, conversation=approval.conversation or arguments.conversation)
        if given is not None:
            await answer_approval(app, request, name, given.answer, given.remember)
    result = await run(app, request, arguments)
    while user is not None and (waiting := pending(result)) is not None:
        given = await user.ask(waiting)
        if given is None:
            break
        await answer_approval(app, request, waiting.id, given.answer, given.remember)
        result = await run(app, request, structs.replace(arguments, conversation=result.conversation.id))
    return result


def pending(result: AgentResult) -> Approval | None:
    """Return the approval that a goal waits for."""
    last = result.steps[-1] if result.steps else None
    if last is None or last.status is not ToolStatus.PENDING or last.approval is UNSET:
        return None
    return last.approval


async def plan(app: AppContext, request: RequestContext, arguments: PlanRequest) -> Planned:
    """Return the calls that come next towards a goal, each with what the gate says of it; nothing is executed.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, an empty goal or an origin that is none (003, plan server).
    """
    _check_goal(arguments.goal)
    _check_origin(arguments.context.origin)
    context = structs.replace(
        arguments.context,
        recent_tool_calls=arguments.context.recent_tool_calls[-RECENT:],
        recent_tool_results=arguments.context.recent_tool_results[-RECENT:],
    )
    planned = await app.bus.call(
        AGENT_PLAN,
        MakePlan(
            goal=arguments.goal,
            context=context,
            caller=request.caller.name,
            scopes=tuple(sorted(request.caller.scopes)),
            local=request.caller.local,
            local_only=Scope.MODELS not in request.caller.scopes,
        ),
        wait_ms=app.grace_ms,
    )
    if planned.served_by is not None:
        request.usage.models_asked(planned.served_by)
    return planned


def as_markdown(result: AgentResult) -> str:
    """Write the answer without an envelope, with its citations in a block at the end (003 "Markdown-only output")."""
    lines = [msgspec.json.encode(one).decode() for one in result.answer.citations]
    block = ["", CITATIONS, *lines, END_CITATIONS] if lines else []
    return "\n".join([(result.answer.markdown or "").strip("\n"), *block, ""])


def agent_text(result: AgentResult, boundary: str) -> str:
    """Write the result for a model: the steps, what waits, and the answer in its frame."""
    return "\n".join((*step_lines(result), result_text(result.answer, boundary)))


def step_lines(result: AgentResult) -> Iterator[str]:
    """Write each step in a line of our own words, and how an approval is answered."""
    for step in result.steps:
        code = f" {step.code}" if step.code is not UNSET else ""
        yield f"{step.number}. {step.tool} ({step.by}): {step.policy.decision}, {step.status}{code}"
    approval = pending(result)
    if approval is not None:
        yield f"It waits for approval {approval.id}. Then ask again with conversation {result.conversation.id}."


def _result(answered: AgentAnswered, talk: Conversation) -> AgentResult:
    answer = to_result(answered.answer, talk)
    if not isinstance(answer, AnswerResult):
        raise TypeError
    return AgentResult(
        answer=answer,
        steps=tuple(map(_step, answered.steps)),
        ended=answered.ended,
        conversation=talk,
        collection_id=answered.collection_id or UNSET,
    )


def _step(step: AgentStep) -> StepResult:
    outcome, result = step.outcome, step.outcome.result
    return StepResult(
        number=step.number,
        call_id=outcome.call_id,
        tool=step.tool,
        arguments=step.arguments,
        by=step.by,
        policy=outcome.decision,
        status=outcome.status,
        payload=UNSET if result is None else result.payload,
        code=UNSET if result is None else result.code,
        error=UNSET if result is None or result.fault is None else to_error(result.fault),
        approval=outcome.approval or UNSET,
    )


def _tool(name: str) -> str:
    """Return the own name of a tool that any surface names.

    Raises:
        FaultError: VALIDATION_INVALID_REQUEST, there is none.
    """
    try:
        return find_anywhere(name)[0].name
    except ValueError:
        raise _invalid(f"There is no tool {name[:64]!r}.", "tools") from None


def _check_goal(goal: str) -> None:
    if not goal.strip():
        raise _invalid("goal: it has no words.", "goal")


def _check_origin(origin: str) -> None:
    """Hold the origin to what a page has: a scheme of the web and a host (RFC 6454), with a path or without."""
    try:
        parts = urlsplit(origin)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        good = False
    if not good:
        raise _invalid("origin: the address of a page, such as https://example.com.", "context.origin")


def _invalid(message: str, field: str) -> FaultError:
    return FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field=field))
