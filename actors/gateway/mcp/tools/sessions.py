"""The tools of the saved logins."""

from __future__ import annotations

from mcp.types import ToolAnnotations

from actors.gateway import sessions
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.mcp.tool import Answer, ToolEntry
from actors.gateway.request import RequestContext
from actors.gateway.sessions import NamedRequest, SessionAnswer, SessionRequest, SessionsAnswer
from protocol.subjects import SESSION_REFRESH


async def _refresh(app: AppContext, _request: RequestContext, arguments: NamedRequest) -> Answer:
    status = await sessions.ask(app, SESSION_REFRESH, arguments.domain, arguments.profile)
    return Answer(sessions.text_of(status), status)


async def _manage(app: AppContext, _request: RequestContext, arguments: SessionRequest) -> Answer:
    told = await sessions.manage(app, arguments)
    return Answer(sessions.list_text(told), told)


REFRESH = ToolEntry(
    title="Renew a login",
    answer=SessionAnswer,
    by_type=None,
    description="Renew a saved login (see sessionProfile of browse).",
    arguments=NamedRequest,
    run=_refresh,
    annotations=ToolAnnotations(destructive_hint=False),
    scope=Scope.SESSIONS,
)
MANAGE = ToolEntry(
    title="Look after logins",
    answer=SessionsAnswer,
    by_type=None,
    description="Saved logins: list, check or delete.",
    arguments=SessionRequest,
    run=_manage,
    annotations=ToolAnnotations(open_world_hint=False),
    scope=Scope.SESSIONS,
)
