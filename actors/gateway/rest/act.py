"""The endpoints of act: a goal that is reached on a page, how its task stands, and what its user says to it."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import Response

from actors.gateway import act
from actors.gateway.access.caller import Scope
from actors.gateway.act import ActRequest, ActResult, ResumeActRequest
from actors.gateway.app_context import AppContext
from actors.gateway.http import MARKDOWN, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.browse import VARY
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.streaming import EventStream
from protocol.acting.tasks import TaskId

_ERRORS = frozenset({400, 403, 404, 409, 500, 501, 502, 503, 504})
_EXAMPLE_TASK = "6b1f0c52-6d2e-4b0e-9a5b-2f9f6f1f9a10"


class ActTaskPath(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Which task is meant."""

    task_id: TaskId


Resuming = Addressed[ActTaskPath, ResumeActRequest]


async def _act(app: AppContext, request: RequestContext, arguments: ActRequest) -> Response:
    result = await act.act(app, request, arguments)
    if arguments.format == "markdown":
        return Response(act.act_markdown(result), headers=VARY, media_type=MARKDOWN)
    return answer(result, headers=VARY)


async def _act_events(app: AppContext, request: RequestContext, arguments: ActRequest) -> Response:
    return EventStream(app, request, lambda watched: act.act(app, watched, arguments))


async def _task(app: AppContext, request: RequestContext, arguments: ActTaskPath) -> Response:
    return answer(await act.get_task(app, request, arguments.task_id))


async def _resume(app: AppContext, request: RequestContext, arguments: Resuming) -> Response:
    return answer(await act.resume(app, request, arguments.params.task_id, arguments.body), headers=VARY)


async def _resume_events(app: AppContext, request: RequestContext, arguments: Resuming) -> Response:
    return EventStream(app, request, lambda watched: act.resume(app, watched, arguments.params.task_id, arguments.body))


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/api/act",
        name="act",
        summary="Reach a goal on a page of a browser session, each action verified by what it leaves on the page.",
        about="`status` is `completed` or `failed`, or `needs_user_input` with a `question`: answer it by "
        "`/api/act/{taskId}/resume`. Sent again with its `taskId`, a task goes on, and nothing is done twice. What is "
        "secret goes into `values`, and the goal says `{name}`: it is typed into fields, and told nowhere. What pages "
        "say never widens what may be done, and what the policy asks about waits under `/api/approvals`.",
        run=_act,
        events=_act_events,
        body=ActRequest,
        answer=ActResult,
        also=MARKDOWN,
        errors=_ERRORS,
        scope=Scope.BROWSER,
        tag=Tag.ACTING,
        example={"goal": 'Search for "warp threads" and open the first result', "url": "https://example.com"},
    ),
    Endpoint(
        method="GET",
        path="/api/act/{taskId}",
        name="actTask",
        summary="Return how a task stands: its plan, every action with what was found of it, and what it waits for.",
        run=_task,
        params=ActTaskPath,
        answer=ActResult,
        errors=_ERRORS,
        scope=Scope.BROWSER,
        tag=Tag.ACTING,
        example={"taskId": _EXAMPLE_TASK},
    ),
    Endpoint(
        method="POST",
        path="/api/act/{taskId}/resume",
        name="resumeAct",
        summary="Go on with a task that waits for its user, or that was left before it ended.",
        run=_resume,
        events=_resume_events,
        params=ActTaskPath,
        body=ResumeActRequest,
        optional=True,
        answer=ActResult,
        errors=_ERRORS,
        scope=Scope.BROWSER,
        tag=Tag.ACTING,
        where={"taskId": _EXAMPLE_TASK},
        example={"words": "The second one"},
    ),
)
