"""The endpoints of approvals: what waits for a person, and the answers to it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.approvals import answer_approval, get_approval, list_approvals, whose
from actors.gateway.http import EVENTS, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.streaming import NewsStream
from protocol.browse import stated_version
from protocol.policy import Approval, ApprovalList, Remembered


class ApprovalsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which approvals are listed."""

    pending: Annotated[bool, Meta(description="Those that wait alone.")] = False
    limit: Annotated[int, Meta(ge=1, le=500, description="How many.")] = 50


class WholeApproval(Approval, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """An approval by itself."""

    schema_version: str = stated_version()


class ApprovalPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which approval is meant."""

    id: Annotated[str, Meta(min_length=1, max_length=200)]


class ApprovalAnswer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The answer, and for what it counts beyond this call."""

    answer: Literal["allow", "deny"]
    remember: Remembered = Remembered.ONCE


async def _list(app: AppContext, request: RequestContext, arguments: ApprovalsQuery) -> Response:
    return answer(await list_approvals(app, request, pending=arguments.pending, limit=arguments.limit))


async def _get(app: AppContext, request: RequestContext, arguments: ApprovalPath) -> Response:
    approval = await get_approval(app, request, arguments.id)
    return answer(WholeApproval(**structs.asdict(approval)))


async def _answer(
    app: AppContext, request: RequestContext, arguments: Addressed[ApprovalPath, ApprovalAnswer]
) -> Response:
    given = arguments.body
    approval = await answer_approval(app, request, arguments.params.id, given.answer, given.remember)
    return answer(WholeApproval(**structs.asdict(approval)))


async def _events(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    allowed = whose(request)
    return NewsStream(app.approval_news, lambda one: one.state if allowed in {None, one.caller} else None)


_FAMILY: dict[str, Any] = {"scope": Scope.BROWSE, "tag": Tag.TOOLS, "errors": frozenset({500, 503, 504})}
_ONE = "/api/approvals/{id}"
_EXAMPLE = {"id": "apv_Zk9rT2VxYw0pQmJtS1dHcA"}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/approvals",
        name="listApprovals",
        summary="List the calls of tools that wait, or have waited, for you to allow them; the newest first.",
        about="Those of your key; with the scope `operate` everybody's.",
        run=_list,
        params=ApprovalsQuery,
        answer=ApprovalList,
        example={"pending": True, "limit": 20},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/approvals/events",
        name="followApprovals",
        summary="Follow what comes to wait, and how it is answered, as server-sent events.",
        run=_events,
        media=(EVENTS,),
        stream="Server-sent events from now on: each is an approval as JSON, named by its state (`pending`, `allowed`, "
        "`denied`, `expired`). What came before is in the list.",
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=_ONE,
        name="getApproval",
        summary="Tell what a call would do, why it waits, and what came of it.",
        about="An approval of another key is a 404.",
        run=_get,
        params=ApprovalPath,
        answer=WholeApproval,
        example=_EXAMPLE,
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path=_ONE,
        name="answerApproval",
        summary="Allow or deny what waits; an allowed call has run when this answers.",
        about="The first answer counts; who answers again gets that one. `remember`: `once` for this call alone, "
        "`conversation` or `site` for the same tool there. Silence is a deny.",
        run=_answer,
        params=ApprovalPath,
        body=ApprovalAnswer,
        answer=WholeApproval,
        where=_EXAMPLE,
        example={"answer": "allow", "remember": "once"},
        **_FAMILY,
    ),
)
