"""Collections, sources and texts of a client as they stand; what changes them is a tool, and goes through the gate."""

from __future__ import annotations

from actors.gateway.app_context import AppContext
from actors.gateway.request import RequestContext
from protocol.collection_views import (
    AskCollection,
    AskSource,
    AskText,
    CollectionList,
    CollectionView,
    ImportedSources,
    ImportFormat,
    ImportSources,
    ListCollections,
    ListTexts,
    SourceContent,
    TextInfo,
    TextList,
)
from protocol.collections import ARTIFACT_PREFIX, COLLECTION_PREFIX, SOURCE_PREFIX, own_id, unknown_text
from protocol.faults import Code, FaultError, fault
from protocol.subjects import (
    COLLECTION_GET,
    COLLECTION_IMPORT,
    COLLECTION_LIST,
    SOURCE_GET,
    TEXT_GET,
    TEXT_LIST,
)

DEFAULT_LISTED = 100


async def list_collections(
    app: AppContext, request: RequestContext, limit: int = DEFAULT_LISTED, offset: int = 0
) -> CollectionList:
    """List collections, the newest first."""
    query = ListCollections(caller=request.caller.name, limit=limit, offset=offset)
    return await app.bus.call(COLLECTION_LIST, query, wait_ms=app.grace_ms)


async def get_collection(
    app: AppContext, request: RequestContext, name: str, limit: int = DEFAULT_LISTED, offset: int = 0
) -> CollectionView:
    """Return a collection with its sources.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION, also for one of somebody else.
    """
    known = _known(name, COLLECTION_PREFIX, Code.VALIDATION_UNKNOWN_COLLECTION)
    query = AskCollection(caller=request.caller.name, id=known, limit=limit, offset=offset)
    return await app.bus.call(COLLECTION_GET, query, wait_ms=app.grace_ms)


async def get_source(app: AppContext, request: RequestContext, name: str, version: int | None = None) -> SourceContent:
    """Return a source whole, as it is now or as it was in a version.

    Raises:
        FaultError: VALIDATION_UNKNOWN_SOURCE, also for one of somebody else, and for a version that is kept no longer.
    """
    known = _known(name, SOURCE_PREFIX, Code.VALIDATION_UNKNOWN_SOURCE)
    query = AskSource(caller=request.caller.name, id=known, version=version)
    return await app.bus.call(SOURCE_GET, query, wait_ms=app.grace_ms)


async def list_texts(
    app: AppContext, request: RequestContext, collection: str | None, limit: int = DEFAULT_LISTED, offset: int = 0
) -> TextList:
    """List kept texts, the newest first; those of one collection alone where it is named."""
    of = None if collection is None else own_id(collection)
    query = ListTexts(caller=request.caller.name, collection=of, limit=limit, offset=offset)
    return await app.bus.call(TEXT_LIST, query, wait_ms=app.grace_ms)


async def get_text(app: AppContext, request: RequestContext, name: str) -> TextInfo:
    """Return a kept text whole.

    Raises:
        FaultError: ARTIFACT_NOT_FOUND, also for one of somebody else.
    """
    known = _known(name, ARTIFACT_PREFIX, Code.ARTIFACT_NOT_FOUND)
    return await app.bus.call(TEXT_GET, AskText(caller=request.caller.name, id=known), wait_ms=app.grace_ms)


async def import_sources(
    app: AppContext, request: RequestContext, name: str, data: bytes, form: ImportFormat = "auto"
) -> ImportedSources:
    """Add the addresses of a list to a collection.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION; VALIDATION_INVALID_REQUEST, it is no list that can be read.
    """
    known = _known(name, COLLECTION_PREFIX, Code.VALIDATION_UNKNOWN_COLLECTION)
    order = ImportSources(caller=request.caller.name, collection=known, data=data, format=form)
    return await app.bus.call(COLLECTION_IMPORT, order, wait_ms=app.grace_ms)


def _known(name: str, prefix: str, otherwise: Code) -> str:
    """Return an id as we write it; what has another form is nobody's."""
    known = own_id(name)
    if not known.startswith(prefix) or not known.isascii():
        raise unknown_text("id") if prefix == ARTIFACT_PREFIX else FaultError(fault(otherwise))
    return known
