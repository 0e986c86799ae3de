"""The endpoints of kept texts, of what is made of collections, of search, and of what other programs were told."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast
from urllib.parse import quote

from msgspec import UNSET, Meta, Struct, UnsetType, structs
from starlette.responses import Response

from actors.gateway import collections
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.approvals import whose
from actors.gateway.captures import captured_file
from actors.gateway.http import HttpStatusError, answer, download_headers
from actors.gateway.request import RequestContext
from actors.gateway.rest.collections import CollectionPath, Id, Limit, Offset
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.through_gate import calling, naming, outcome_response, tool_endpoint
from actors.gateway.tool_calls import ClientCall, call_tool
from actors.masking import mask, mask_text
from actors.safe_html import PAGE_POLICY, html_page
from actors.text_citations import with_citations
from protocol.agent import TransformType
from protocol.browse import stated_version
from protocol.collection_views import TextInfo, TextList
from protocol.faults import Code, FaultError
from protocol.integrations import Delivery, DeliveryId, DeliveryList, DeliveryState, ListDeliveries, NamedDelivery
from protocol.search import MAX_QUERY_CHARS
from protocol.shapes import WORDED
from protocol.subjects import DELIVERY_DROP, DELIVERY_GET, DELIVERY_LIST, DELIVERY_RESEND
from protocol.tools.collections import SaveArtifact
from protocol.tools.tool import Surface

HTML = "text/html; charset=utf-8"
MEDIA = ("text/markdown", "text/plain", "application/json", "text/csv", "application/pdf")


class TextsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which texts are listed."""

    collection: Annotated[str, Meta(min_length=1, max_length=100, description="Those made of it alone.")] | None = None
    limit: Limit = collections.DEFAULT_LISTED
    offset: Offset = 0


class WholeText(TextInfo, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A kept text by itself."""

    schema_version: str = stated_version()


class WholeDelivery(Delivery, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A delivery by itself."""

    schema_version: str = stated_version()


class TextPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which text is meant."""

    id: Id


class TextFileQuery(TextPath, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which text is meant, and as which file."""

    format: Annotated[
        Literal["markdown", "text", "json", "csv", "pdf"], Meta(description="What the file is to be.")
    ] = "markdown"


class TransformBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is made of a collection; `config` as GET /api/transforms says of the type."""

    type: TransformType
    config: dict[str, Any] | UnsetType = UNSET


class SearchBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is searched for, and by which engine: one that the operator has set up, or `local`."""

    query: Annotated[str, Meta(min_length=1, max_length=MAX_QUERY_CHARS, pattern=WORDED)]
    engine: Annotated[str, Meta(min_length=1, max_length=64)] | UnsetType = UNSET


class DeliveriesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which deliveries are listed."""

    state: Annotated[DeliveryState, Meta(description="Those that stand so alone.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=500, description="How many.")] = 100


class DeliveryPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which delivery is meant."""

    id: DeliveryId


async def _list(app: AppContext, request: RequestContext, arguments: TextsQuery) -> Response:
    return answer(await collections.list_texts(app, request, arguments.collection, arguments.limit, arguments.offset))


async def _get(app: AppContext, request: RequestContext, arguments: TextPath) -> Response:
    text = await collections.get_text(app, request, arguments.id)
    return answer(WholeText(**structs.asdict(text)))


async def _page(app: AppContext, request: RequestContext, arguments: TextPath) -> Response:
    """Show a text to a person: what a page or a model has written is never run, and loads nothing."""
    text = await collections.get_text(app, request, arguments.id)
    headers = {
        "Content-Security-Policy": f"{PAGE_POLICY}; frame-ancestors 'none'; sandbox allow-popups",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-store",
    }
    return Response(html_page(text.title, with_citations(text)), headers=headers, media_type=HTML)


async def _file(app: AppContext, request: RequestContext, arguments: TextFileQuery) -> Response:
    """Have a text shared as a file, which is a tool, and answer with its bytes."""
    given = {"artifactId": arguments.id, "format": arguments.format, "target": "file"}
    call = ClientCall(name="artifact.share", arguments=given, surface=Surface.REST)
    outcome = await call_tool(app, request, call)
    if outcome.result is None:
        return outcome_response(outcome)
    shared = outcome.result.payload
    data = await captured_file(app, str(shared["name"]))
    headers = download_headers(f"filename*=UTF-8''{quote(str(shared['fileName']), safe='')}")
    return Response(data, headers=headers, media_type=str(shared["mediaType"]))


async def _deliveries(app: AppContext, request: RequestContext, arguments: DeliveriesQuery) -> Response:
    query = ListDeliveries(caller=whose(request), state=arguments.state, limit=arguments.limit)
    return answer(await app.bus.call(DELIVERY_LIST, query, wait_ms=app.grace_ms))


async def _resend(app: AppContext, request: RequestContext, arguments: DeliveryPath) -> Response:
    delivery = await app.bus.call(DELIVERY_RESEND, _named(request, arguments), wait_ms=app.grace_ms)
    return answer(WholeDelivery(**structs.asdict(delivery)))


async def _delivery(app: AppContext, request: RequestContext, arguments: DeliveryPath) -> Response:
    delivery = await app.bus.call(DELIVERY_GET, _named(request, arguments), wait_ms=app.grace_ms)
    payload = cast("dict[str, Any]", mask(delivery.payload))
    shown = structs.replace(delivery, payload=payload, answer=mask_text(delivery.answer))
    return answer(WholeDelivery(**structs.asdict(shown)))


async def _drop(app: AppContext, request: RequestContext, arguments: DeliveryPath) -> Response:
    delivery = await app.bus.call(DELIVERY_DROP, _named(request, arguments), wait_ms=app.grace_ms)
    return answer(WholeDelivery(**structs.asdict(delivery)))


def _named(request: RequestContext, arguments: DeliveryPath) -> NamedDelivery:
    return NamedDelivery(caller=whose(request), id=arguments.id)


async def _transform(
    app: AppContext, request: RequestContext, arguments: Addressed[CollectionPath, TransformBody]
) -> Response:
    try:
        return await calling("transform.run", id="collectionId")(app, request, arguments)
    except FaultError as error:
        if error.fault.code is Code.CONTENT_EMPTY:  # no site has failed: the collection holds too little
            raise HttpStatusError(error.fault, 409) from None
        raise


_INSIDE = frozenset({500, 503, 504})
_FAMILY: dict[str, Any] = {"scope": Scope.COLLECTIONS, "tag": Tag.COLLECTIONS, "errors": _INSIDE}
_PROGRAMS: dict[str, Any] = {"scope": Scope.INTEGRATIONS, "tag": Tag.TOOLS, "errors": _INSIDE}
_TAG = Tag.COLLECTIONS
_TEXT = "/api/texts/{id}"
_ID = {"id": "art_Zk9rT2VxYw0pQmJtS1dHcA"}
_ONE_DELIVERY = "/api/deliveries/{id}"
_DELIVERY = {"id": "dlv_0123456789abcdef0123456789abcdef"}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/api/search",
        name="search",
        summary="Search by an engine that is set up, or without one in what you have kept and read.",
        run=calling("search"),
        body=SearchBody,
        example={"query": "tidal power stations"},
        **tool_endpoint("search", tag=Tag.PAGES),
    ),
    Endpoint(
        method="GET",
        path="/api/transforms",
        name="listTransforms",
        summary="List what can be made of a collection, with the schema of the config of each.",
        run=calling("transform.list_types"),
        **tool_endpoint("transform.list_types", tag=_TAG),
    ),
    Endpoint(
        method="POST",
        path="/api/collections/{id}/transforms",
        name="runTransform",
        summary="Make a text of a collection: a timeline, a comparison, a quiz and so on, with citations.",
        run=_transform,
        params=CollectionPath,
        body=TransformBody,
        where={"id": "col_Zk9rT2VxYw0pQmJtS1dHcA"},
        example={"type": "timeline"},
        **tool_endpoint("transform.run", tag=_TAG),
    ),
    Endpoint(
        method="GET",
        path="/api/texts",
        name="listTexts",
        summary="List the texts that you keep, the newest first.",
        about="Texts are the artifacts of 003; the files of runs are others.",
        run=_list,
        params=TextsQuery,
        answer=TextList,
        example={"limit": 20, "offset": 0},
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/texts",
        name="saveText",
        summary="Keep a text.",
        run=calling("artifact.save"),
        body=SaveArtifact,
        example={"title": "What I found", "markdown": "Tides turn *twice* a day."},
        **tool_endpoint("artifact.save", tag=_TAG),
    ),
    Endpoint(
        method="GET",
        path=_TEXT,
        name="getText",
        summary="Return a text whole, with its citations.",
        about="A text of another key is a 404.",
        run=_get,
        params=TextPath,
        answer=WholeText,
        example=_ID,
        **_FAMILY,
    ),
    Endpoint(
        method="DELETE",
        path=_TEXT,
        name="deleteText",
        summary="Delete a text.",
        run=calling("artifact.delete", id="artifactId"),
        params=TextPath,
        example=_ID,
        **tool_endpoint("artifact.delete", tag=_TAG),
    ),
    Endpoint(
        method="GET",
        path=f"{_TEXT}/page",
        name="showText",
        summary="Show a text to a person, as a page that runs nothing and loads nothing.",
        run=_page,
        params=TextPath,
        media=(HTML,),
        example=_ID,
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=f"{_TEXT}/file",
        name="shareText",
        summary="Download a text as Markdown, plain text, JSON, CSV of its tables, or PDF.",
        run=naming(_file, {"artifactId": "id"}),
        params=TextFileQuery,
        media=MEDIA,
        example={**_ID, "format": "markdown"},
        **tool_endpoint("artifact.share", tag=_TAG, errors=frozenset({410}), answer=None, keyed=False),
    ),
    Endpoint(
        method="GET",
        path="/api/deliveries",
        name="listDeliveries",
        summary="List what other programs were told for you, the newest first; `dead` is what none has taken.",
        about="Those of your key; with the scope `operate` everybody's.",
        run=_deliveries,
        params=DeliveriesQuery,
        answer=DeliveryList,
        example={"state": "dead", "limit": 20},
        **_PROGRAMS,
    ),
    Endpoint(
        method="GET",
        path=_ONE_DELIVERY,
        name="getDelivery",
        summary="Tell what another program was told, with the payload, and what it answered.",
        about="The answer is the other program's, and not to be trusted; what has the form of a secret is masked. A "
        "delivery of another key is a 404, but for a key with the scope `operate`.",
        run=_delivery,
        params=DeliveryPath,
        answer=WholeDelivery,
        example=_DELIVERY,
        **_PROGRAMS,
    ),
    Endpoint(
        method="DELETE",
        path=_ONE_DELIVERY,
        name="dropDelivery",
        summary="Forget what no program has taken; its idempotency key may be used anew.",
        run=_drop,
        params=DeliveryPath,
        answer=WholeDelivery,
        example=_DELIVERY,
        **_PROGRAMS,
    ),
    Endpoint(
        method="POST",
        path="/api/deliveries/{id}/resend",
        name="resendDelivery",
        summary="Send again what no program has taken, with the same idempotency key.",
        run=_resend,
        params=DeliveryPath,
        answer=WholeDelivery,
        example=_DELIVERY,
        **_PROGRAMS,
    ),
)
