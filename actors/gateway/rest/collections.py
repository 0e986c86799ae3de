"""The endpoints of collections and their sources: read as they stand, and changed by tools."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from actors.gateway import collections
from actors.gateway.access.caller import Scope
from actors.gateway.app_context import AppContext
from actors.gateway.http import EVENTS, answer
from actors.gateway.request import RequestContext
from actors.gateway.rest.routing import Addressed, Endpoint, Tag
from actors.gateway.rest.streaming import CollectionDownload, NewsStream
from actors.gateway.rest.through_gate import calling, naming, tool_endpoint
from protocol.collection_views import (
    MAX_IMPORT_BYTES,
    CollectionChanged,
    CollectionList,
    CollectionView,
    ImportedSources,
    ImportFormat,
    SourceContent,
)
from protocol.collections import MAX_ADDED, CaptureChars
from protocol.pages import Url
from protocol.tools.collections import CreateCollection, NoteItem, UrlItem

MAX_ID_CHARS = 100
Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_CHARS)]
Limit = Annotated[int, Meta(ge=1, le=1_000, description="How many.")]
Offset = Annotated[int, Meta(ge=0, le=1_000_000, description="Leave out so many.")]


class ListQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which part of a list is meant."""

    limit: Limit = collections.DEFAULT_LISTED
    offset: Offset = 0


class CollectionPath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which collection is meant."""

    id: Id


class CollectionQuery(CollectionPath, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which collection is meant, and which of its sources."""

    limit: Limit = collections.DEFAULT_LISTED
    offset: Offset = 0


class ImportQuery(CollectionPath, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which collection is meant, and what kind of list comes."""

    format: Annotated[ImportFormat, Meta(description="auto looks at what stands in it.")] = "auto"


class SourcesBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The pages and notes that are added."""

    sources: Annotated[tuple[UrlItem | NoteItem, ...], Meta(max_length=MAX_ADDED)]


class CaptureBody(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """The page that is read into a collection, and how."""

    url: Url
    mode: Literal["auto", "article", "list"] | UnsetType = UNSET
    max_chars: CaptureChars | UnsetType = UNSET


class WatchBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often pages are read anew: a number and m, h or d; null ends it. `webhook` is an integration to tell."""

    every: Annotated[str, Meta(pattern=r"^[1-9][0-9]{0,3}[mhd]$(?!\n)")] | None
    webhook: Annotated[str, Meta(min_length=1, max_length=100)] | UnsetType = UNSET


class SourcePath(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which source is meant."""

    id: Id


class SourceQuery(SourcePath, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which source is meant, and as it was when: the newest version unless another is named."""

    version: Annotated[int, Meta(ge=1, le=2**53 - 1, description="A version that was captured.")] | None = None


async def _list(app: AppContext, request: RequestContext, arguments: ListQuery) -> Response:
    return answer(await collections.list_collections(app, request, arguments.limit, arguments.offset))


async def _get(app: AppContext, request: RequestContext, arguments: CollectionQuery) -> Response:
    view = await collections.get_collection(app, request, arguments.id, arguments.limit, arguments.offset)
    return answer(view)


async def _import(app: AppContext, request: RequestContext, arguments: Addressed[ImportQuery, bytes]) -> Response:
    params = arguments.params
    return answer(await collections.import_sources(app, request, params.id, arguments.body, params.format))


async def _export(app: AppContext, request: RequestContext, arguments: CollectionPath) -> Response:
    """Answer 404 before the archive begins, where there is no such collection."""
    view = await collections.get_collection(app, request, arguments.id, limit=1)
    return CollectionDownload(app, request, view.collection.id)


async def _source(app: AppContext, request: RequestContext, arguments: SourceQuery) -> Response:
    return answer(await collections.get_source(app, request, arguments.id, arguments.version))


async def _events(app: AppContext, request: RequestContext, arguments: CollectionPath) -> Response:
    """Answer 404 before the stream begins, where there is no such collection."""
    view = await collections.get_collection(app, request, arguments.id, limit=1)
    known, caller = view.collection.id, request.caller.name

    def name(change: CollectionChanged) -> str | None:
        return change.event if (change.collection_id, change.caller) == (known, caller) else None

    return NewsStream(app.collection_news, name)


_FAMILY: dict[str, Any] = {
    "scope": Scope.COLLECTIONS,
    "tag": Tag.COLLECTIONS,
    "errors": frozenset({500, 503, 504, 507}),
}
_TAG = Tag.COLLECTIONS
_COLLECTION = "/api/collections/{id}"
_SOURCE = "/api/sources/{id}"
_ID = {"id": "col_Zk9rT2VxYw0pQmJtS1dHcA"}
_SOURCE_ID = {"id": "src_Zk9rT2VxYw0pQmJtS1dHcA"}

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/api/collections",
        name="listCollections",
        summary="List your collections, the newest first.",
        run=_list,
        params=ListQuery,
        answer=CollectionList,
        example={"limit": 20, "offset": 0},
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path="/api/collections",
        name="createCollection",
        summary="Begin a collection of sources.",
        run=calling("collection.create"),
        body=CreateCollection,
        example={"title": "Tidal power", "tags": ["energy"]},
        **tool_endpoint("collection.create", tag=_TAG),
    ),
    Endpoint(
        method="GET",
        path=_COLLECTION,
        name="getCollection",
        summary="Tell how a collection stands, with its sources in the order in which they came.",
        about="A collection of another key is a 404.",
        run=_get,
        params=CollectionQuery,
        answer=CollectionView,
        example={**_ID, "limit": 100, "offset": 0},
        **_FAMILY,
    ),
    Endpoint(
        method="DELETE",
        path=_COLLECTION,
        name="deleteCollection",
        summary="Delete a collection with its sources; texts that were made of it stay.",
        run=calling("collection.delete", id="collectionId"),
        params=CollectionPath,
        example=_ID,
        **tool_endpoint("collection.delete", tag=_TAG),
    ),
    Endpoint(
        method="POST",
        path=f"{_COLLECTION}/sources",
        name="addSources",
        summary="Add pages and notes to a collection; pages are captured meanwhile.",
        run=calling("collection.add_sources", id="collectionId"),
        params=CollectionPath,
        body=SourcesBody,
        where=_ID,
        example={"sources": [{"type": "url", "url": "https://example.com/"}, {"type": "note", "text": "Ask Ada."}]},
        **tool_endpoint("collection.add_sources", tag=_TAG),
    ),
    Endpoint(
        method="POST",
        path=f"{_COLLECTION}/capture",
        name="captureSource",
        summary="Read a page into a collection, and answer with what was read.",
        run=calling("source.capture", id="collectionId"),
        params=CollectionPath,
        body=CaptureBody,
        where=_ID,
        example={"url": "https://example.com/", "mode": "article"},
        **tool_endpoint("source.capture", tag=_TAG),
    ),
    Endpoint(
        method="PUT",
        path=f"{_COLLECTION}/watch",
        name="watchCollection",
        summary="Read the pages of a collection anew on schedule, and tell what has changed; null ends that.",
        run=calling("collection.watch", id="collectionId"),
        params=CollectionPath,
        body=WatchBody,
        where=_ID,
        example={"every": "1d"},
        **tool_endpoint("collection.watch", tag=_TAG),
    ),
    Endpoint(
        method="POST",
        path=f"{_COLLECTION}/import",
        name="importSources",
        summary="Add the addresses of a list: OPML, bookmarks, a sitemap, a feed, CSV, or one address a line.",
        about="The body is the file as it is, of whatever type. What is known already stays as it is.",
        run=naming(_import, {"collectionId": "id"}),
        params=ImportQuery,
        raw=MAX_IMPORT_BYTES,
        answer=ImportedSources,
        example={**_ID, "format": "auto"},
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=f"{_COLLECTION}/export",
        name="exportCollection",
        summary="Download a collection as an archive of Markdown files with front matter.",
        run=_export,
        params=CollectionPath,
        media=("application/zip",),
        example=_ID,
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=f"{_COLLECTION}/events",
        name="followCollection",
        summary="Follow what happens to a collection, as server-sent events.",
        run=_events,
        params=CollectionPath,
        media=(EVENTS,),
        stream="Server-sent events from now on: `source_added`, `captured`, `changed`, `failed`, `text`, `refreshed`, "
        "`deleted`, each with JSON as its data: the source or the text, and what has changed by sections.",
        example=_ID,
        **_FAMILY,
    ),
    Endpoint(
        method="GET",
        path=_SOURCE,
        name="getSource",
        summary="Return a source whole: its Markdown, its links, when it was captured, and what had changed.",
        about="`version` returns it as it was. A source of another key is a 404.",
        run=_source,
        params=SourceQuery,
        answer=SourceContent,
        example={**_SOURCE_ID, "version": 1},
        **_FAMILY,
    ),
    Endpoint(
        method="POST",
        path=f"{_SOURCE}/refresh",
        name="refreshSource",
        summary="Read a source anew, and say what has changed.",
        run=calling("source.refresh", id="sourceId"),
        params=SourcePath,
        example=_SOURCE_ID,
        **tool_endpoint("source.refresh", tag=_TAG),
    ),
    Endpoint(
        method="DELETE",
        path=_SOURCE,
        name="deleteSource",
        summary="Delete a source.",
        run=calling("source.delete", id="sourceId"),
        params=SourcePath,
        example=_SOURCE_ID,
        **tool_endpoint("source.delete", tag=_TAG),
    ),
)
