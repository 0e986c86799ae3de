"""The endpoints of browser sessions for the person whose they are: what there is, a look at one, and a hand on it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError, answer, of_field
from actors.gateway.http_input import IDEMPOTENCY_KEY
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.through_gate import GATE_INSIDE, called
from protocol.browse import SCHEMA_VERSION, stated_version
from protocol.browsers.operations import SessionId, TabId
from protocol.browsers.pageinfo import PastDialog
from protocol.browsers.results import SessionHeld, WindowShown
from protocol.browsers.sessions import AskBrowser, ListBrowsers
from protocol.browsers.watching import HoldSession, ShowWindow, Watching
from protocol.faults import Code, FaultError, fault
from protocol.policy import ToolOutcome
from protocol.subjects import BROWSER, BROWSERS
from protocol.tools.browser import PLAYWRIGHT
from protocol.tools.registry import find_anywhere

LOOK_MS = 20_000
"""How long a look at a window may take, one that has to be opened again included."""


class BrowserPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which browser session is meant."""

    id: SessionId


class WindowQuery(BrowserPath, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which window is meant: that of a tab, or of the active one."""

    tab: Annotated[TabId, Meta(description="Number of the tab; none: the active one.")] | None = None


class BrowserView(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A browser session of yours; times in ms since the epoch. Until `held_until` somebody has it in hand."""

    id: str
    tabs: int
    created_at: int
    used_at: int
    profile: str = ""
    held_until: int = 0


class BrowserViews(Struct, frozen=True, kw_only=True, rename="camel"):
    """Your browser sessions, the last used first."""

    browsers: tuple[BrowserView, ...]
    schema_version: str = SCHEMA_VERSION


class WindowView(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A window as it is now: `picture` is a JPEG in base64, `width` and `height` what its points are counted in.

    Where a `dialog` waits, the page stands still and there is no picture. Title and pictures are the web's.
    """

    tab_id: int
    url: str
    title: str
    width: int
    height: int
    picture: bytes = b""
    dialog: PastDialog | None = None
    schema_version: str = stated_version()


class HandBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether you take the session in hand, or hand it back."""

    hold: bool


class HandView(Struct, frozen=True, kw_only=True, rename="camel"):
    """Until when you have it in hand, in ms since the epoch; 0: not any more."""

    held_until: int
    schema_version: str = SCHEMA_VERSION


class HandAction(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is done by hand: a tool of the browser such as `click_at`, with its arguments; the session is the path's."""

    tool: Annotated[str, Meta(min_length=1, max_length=64)]
    arguments: dict[str, Any] = {}


async def _list(app: AppContext, request: RequestContext, _arguments: None) -> Response:
    listed = await app.bus.call(BROWSERS, ListBrowsers(caller=request.caller.name), wait_ms=app.grace_ms)
    views = (
        BrowserView(
            id=one.session,
            tabs=one.tabs,
            created_at=one.created,
            used_at=one.used,
            profile=one.profile or "",
            held_until=one.held_until,
        )
        for one in sorted(listed.sessions, key=lambda one: -one.used)
    )
    return answer(BrowserViews(browsers=tuple(views)))


async def _window(app: AppContext, request: RequestContext, arguments: WindowQuery) -> Response:
    done = await _watched(app, request, ShowWindow(session_id=arguments.id, tab_id=arguments.tab))
    if not isinstance(done, WindowShown):
        raise FaultError(fault(Code.INTERNAL_ERROR))
    view = WindowView(
        tab_id=done.tab_id or 0,
        url=done.page.url,
        title=done.page.title,
        width=done.window.width,
        height=done.window.height,
        picture=done.picture,
        dialog=done.dialog,
    )
    return answer(view, headers={"Cache-Control": "private, no-store"})


async def _hand(app: AppContext, request: RequestContext, arguments: Addressed[BrowserPath, HandBody]) -> Response:
    done = await _watched(app, request, HoldSession(session_id=arguments.params.id, hold=arguments.body.hold))
    if not isinstance(done, SessionHeld):
        raise FaultError(fault(Code.INTERNAL_ERROR))
    return answer(HandView(held_until=done.held_until))


async def _act(app: AppContext, request: RequestContext, arguments: Addressed[BrowserPath, HandAction]) -> Response:
    name = arguments.body.tool
    try:
        tool, _ = find_anywhere(name)
    except ValueError:
        tool = None
    if tool is None or tool.actor != PLAYWRIGHT:
        message = "tool: it is no tool of the browser; GET /api/tools lists them"
        raise FaultError(fault(Code.VALIDATION_INVALID_REQUEST, message, field="tool"))
    given = {**arguments.body.arguments, "sessionId": arguments.params.id}
    try:
        return await called(app, request, name, given, by_hand=True)
    except FaultError as error:
        field = error.fault.field
        if field is None or field == IDEMPOTENCY_KEY:
            raise
        raise of_field(error, "id" if field == "sessionId" else f"arguments.{field}") from None


async def _watched(app: AppContext, request: RequestContext, do: Watching) -> Any:
    """Ask for something that a person does to a session of theirs; one of another key is a 404."""
    try:
        question = AskBrowser(do=do, caller=request.caller.name)
        return (await app.bus.call(BROWSER, question, timeout_ms=LOOK_MS, wait_ms=app.grace_ms)).done
    except FaultError as error:
        if error.fault.code is Code.SESSION_NOT_FOUND:
            raise HttpStatusError(error.fault, 404) from None
        raise


_ONE = "/api/browsers/{id}"
_ID = {"id": "sess_Zk9rT2VxYw0pQmJtS1dHcA"}
_FAMILY: dict[str, Any] = {"scope": Scope.BROWSER, "tag": Tag.ACTING}
_ERRORS = frozenset({400, 404, 409, 413, 500, 501, 502, 503, 504})

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/browsers",
        name="listBrowsers",
        summary="List your browser sessions, the last used first, and which of them somebody has in hand.",
        run=_list,
        answer=BrowserViews,
        errors=frozenset({500, 501, 503, 504}),
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=f"{_ONE}/window",
        name="showWindow",
        summary="Show the window of a browser session as it is now, as JPEG: asked again and again, it is live.",
        about="A look is no use of the session: it does not keep it from ending. A session of another key is a 404.",
        run=_window,
        params=WindowQuery,
        answer=WindowView,
        errors=_ERRORS,
        example={**_ID, "tab": 1},
        **_FAMILY,
    ),
    Endpoint(
        method="PUT",
        path=f"{_ONE}/hand",
        name="holdBrowser",
        summary="Take a browser session in hand, or hand it back: in between nothing is done in it but by hand.",
        about="Who does nothing for two minutes has handed it back.",
        run=_hand,
        params=BrowserPath,
        body=HandBody,
        answer=HandView,
        errors=_ERRORS,
        where=_ID,
        example={"hold": True},
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path=f"{_ONE}/act",
        name="actByHand",
        summary="Do something by hand in a browser session that you have in hand: a tool of the browser.",
        about="The policy decides about it as about every call of a tool, and it is noted as done by hand: 202 where "
        "it waits for an approval.",
        run=_act,
        params=BrowserPath,
        body=HandAction,
        answer=ToolOutcome,
        accepted=ToolOutcome,
        keyed=True,
        errors=GATE_INSIDE | _ERRORS,
        where=_ID,
        example={"tool": "click_at", "arguments": {"x": 120, "y": 80}},
        **_FAMILY,
    ),
)
