"""The endpoints of the agent: a goal that is reached by tools, and a plan of which nothing is executed (003)."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from actors.gateway import agent
from actors.gateway.agent import AgentRequest, AgentResult, PlanRequest
from actors.gateway.app_context import AppContext
from actors.gateway.http import MARKDOWN, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import PAGE_ERRORS, VARY
from actors.gateway.rest.routing import Endpoint, Tag
from actors.gateway.rest.streaming import EventStream
from protocol.agent import Planned


async def _run(app: AppContext, request: RequestContext, arguments: AgentRequest) -> Response:
    result = await agent.run(app, request, arguments)
    if arguments.format == "markdown":
        return Response(agent.as_markdown(result), headers=VARY, media_type=MARKDOWN)
    return answer(result, headers=VARY)


async def _run_events(app: AppContext, request: RequestContext, arguments: AgentRequest) -> Response:
    return EventStream(app, request, lambda watched: agent.run(app, watched, arguments))


async def _plan(app: AppContext, request: RequestContext, arguments: PlanRequest) -> Response:
    return answer(await agent.plan(app, request, arguments))


_PLAN: dict[str, Any] = {
    "method": "POST",
    "summary": "Propose the next calls of tools towards a goal, each with what the policy says of it.",
    "about": "Nothing is executed. `context` is what the caller sees: the origin of its page, an observation, and the "
    "last calls with their results, of which eight are read.",
    "run": _plan,
    "body": PlanRequest,
    "answer": Planned,
    "errors": frozenset({500, 503, 504}),
    "tag": Tag.ANSWERS,
    "example": {"goal": "Calculate 12 * (3 + 4)", "context": {"origin": "https://example.com", "mode": "assist"}},
}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/api/agent",
        name="agent",
        summary="Reach a goal by tools that the policy allows, and answer it with citations.",
        about="Each step is proposed by a model, or by rule where none is to be asked, and decided about by the "
        "policy. `ended` is `awaiting_approval` where a step waits: answer it under `/api/approvals/{id}`, then send "
        "the same goal again with the `conversation` of the answer. What pages say never widens what may be done.",
        run=_run,
        events=_run_events,
        body=AgentRequest,
        answer=AgentResult,
        also=MARKDOWN,
        errors=PAGE_ERRORS | {404, 409},
        tag=Tag.ANSWERS,
        mends=True,
        example={"goal": "Which stations make power of the tides?", "maxSteps": 6},
    ),
    Endpoint(path="/api/plan", name="plan", **_PLAN),
    Endpoint(path="/plan", name="planServer", **_PLAN),
)
