"""The endpoints of the pages that a caller has read: the list, and one as it was."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from starlette.responses import Response

from actors.gateway import visits
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import HttpStatusError, answer, download_headers
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Endpoint, Tag
from protocol.faults import Code, FaultError
from protocol.tiers import RenderTier
from protocol.visits import AskVisit, ListVisits, VisitId, VisitList, VisitView

MAX_LISTED = 200


class VisitsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which of the pages that you have read are listed."""

    host: Annotated[str, Meta(max_length=255, description="Those of this host.")] = ""
    tier: Annotated[RenderTier, Meta(description="Those that this tier gave.")] | None = None
    outcome: Annotated[Literal["", "read", "failed"], Meta(description="Those that were read, or were not.")] = ""
    page: Annotated[VisitId, Meta(description="A visit: those to the same address.")] | None = None
    since: Annotated[int, Meta(ge=0, le=2**53 - 1, description="Those from this time on, in ms since the epoch.")] = 0
    cursor: (
        Annotated[int, Meta(ge=0, le=2**53 - 1, description="As the last answer gave it: goes on there.")] | None
    ) = None
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED, description="How many.")] = 50


class VisitPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which visit is meant."""

    id: VisitId


async def _list(app: AppContext, request: RequestContext, arguments: VisitsQuery) -> Response:
    query = ListVisits(
        caller=request.caller.name,
        host=arguments.host,
        tier=arguments.tier,
        outcome=arguments.outcome,
        page=arguments.page or "",
        since=arguments.since,
        cursor=arguments.cursor,
        limit=arguments.limit,
    )
    return answer(await visits.list_visits(app, query))


async def _get(app: AppContext, request: RequestContext, arguments: VisitPath) -> Response:
    with _not_there():
        visit = await visits.get_visit(app, AskVisit(caller=request.caller.name, id=arguments.id))
    return answer(VisitView(visit=visit), headers={"Cache-Control": "private, no-store"})


async def _screenshot(app: AppContext, request: RequestContext, arguments: VisitPath) -> Response:
    with _not_there():
        data = await visits.get_screenshot(app, AskVisit(caller=request.caller.name, id=arguments.id))
    return Response(data, headers=download_headers(), media_type="image/jpeg")


@contextmanager
def _not_there() -> Generator[None]:
    """Answer 404 where there is no such visit."""
    try:
        yield
    except FaultError as error:
        if error.fault.code is Code.VALIDATION_INVALID_REQUEST:
            raise HttpStatusError(error.fault, 404) from None
        raise


_FAMILY: dict[str, Any] = {"scope": Scope.BROWSE, "tag": Tag.PAGES}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/visits",
        name="listVisits",
        summary="List the pages that you have read, the newest first, and those that were not to be had.",
        about="Pages that were read with a saved login are not kept. `keptDays` says how long the others are; 0: not "
        "at all.",
        run=_list,
        params=VisitsQuery,
        answer=VisitList,
        errors=frozenset({500, 503, 504}),
        example={"host": "example.com", "limit": 20},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/visits/{id}",
        name="getVisit",
        summary="Return a page as it was when you read it: its Markdown, how sure each field was, and how it was got.",
        about="`requests` are those that were made for it; with `screenshot` there is a picture of it. A visit of "
        "another key is a 404.",
        run=_get,
        params=VisitPath,
        answer=VisitView,
        errors=frozenset({404, 500, 503, 504}),
        example={"id": "vis_Zk9rT2VxYw0pQmJtS1dHcA"},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path="/api/visits/{id}/screenshot",
        name="getVisitScreenshot",
        summary="Return how a page looked in the browser when you read it, as JPEG.",
        about="What was read without a browser has no picture: a 404. Images are shown where the browser had loaded "
        "them (setting `browser_block`).",
        run=_screenshot,
        params=VisitPath,
        media=("image/jpeg",),
        errors=frozenset({404, 410, 500, 503, 504}),
        example={"id": "vis_Zk9rT2VxYw0pQmJtS1dHcA"},
        **_FAMILY,
    ),
)
