"""collection.* and source.*: collections of a caller, and the pages and notes in them (003 "Collections")."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import anyio
import msgspec
from msgspec import UNSET

from actors.runner.collections.adding import MAX_TITLE_CHARS, Adding, forget_sources
from actors.runner.collections.capturing import Capturing
from actors.runner.collections.collection_log import known_id, unknown
from actors.runner.collections.history import SourceHistory, collection_id
from actors.runner.collections.watching import CHANGED, every_ms
from actors.runner.tools.context import ToolDependencies, failed
from bus.clock import now_ms
from protocol.collection_views import AskCollection, CollectionChanged
from protocol.collections import (
    CAPTURE_CHARS,
    COLLECTION_PREFIX,
    MAX_ADDED,
    SOURCE_PREFIX,
    CaptureFailed,
    CaptureStatus,
    CollectionCreated,
    CollectionDeleted,
    CollectionWatched,
    SourceCaptured,
    SourceDeleted,
    SourceKind,
    collection_topic,
)
from protocol.documents import CollectionSource, untrusted
from protocol.faults import Code, FaultError, fault
from protocol.policy import RunTool, ToolErrorCode, ToolResult, ToolStatus
from protocol.subjects import COLLECTION_GET
from protocol.tools.collections import (
    AddSources,
    CaptureSource,
    CreateCollection,
    OfCollection,
    OfSource,
    RefreshSource,
    UrlItem,
    WatchCollection,
)

PATIENCE: Final = 0.8
"""Share of the time left of a call that a capture is waited for."""

_INVALID: Final = Code.VALIDATION_INVALID_REQUEST


def succeeded(request: RunTool, payload: dict[str, Any], **more: Any) -> ToolResult:
    """Return the result of a call that did what it was to do."""
    return ToolResult(tool_call_id=request.id, status=ToolStatus.OK, payload=payload, **more)


async def create(context: ToolDependencies, request: RunTool, arguments: CreateCollection) -> ToolResult:
    """Begin a collection; the same call begins one alone."""
    journal = context.collections
    new = collection_id(request.caller, request.id)
    tags = () if arguments.tags is UNSET else arguments.tags
    line = CollectionCreated(
        caller=request.caller,
        at=now_ms(),
        collection=new,
        title=arguments.title[:MAX_TITLE_CHARS],
        tags=tags,
        call_id=request.id,
    )
    await journal.append(collection_topic(new), line, last=0)
    return succeeded(request, {"collectionId": new, "title": line.title, "tags": list(tags)})


async def add_sources(context: ToolDependencies, request: RunTool, arguments: AddSources) -> ToolResult:
    """Add pages, which are captured in the background, and notes; a page that is there already is not added again."""
    journal = context.collections
    created, _ = await journal.collection(arguments.collection_id, request.caller)
    if len(arguments.sources) > MAX_ADDED:
        message = f"sources: {len(arguments.sources)} are more than {MAX_ADDED}"
        raise FaultError(fault(_INVALID, message, field="sources"))
    adding = _adding(context, request)
    lines = [adding.line(created, item, f"sources[{index}]", index) for index, item in enumerate(arguments.sources)]
    added = await adding.add_all(created, lines)
    payload = {"collectionId": created.collection, "sources": [msgspec.to_builtins(one) for one in added]}
    return succeeded(request, payload)


async def list_sources(context: ToolDependencies, request: RunTool, arguments: OfCollection) -> ToolResult:
    """List the sources of a collection."""
    created, _ = await context.collections.collection(arguments.collection_id, request.caller)
    query = AskCollection(caller=request.caller, id=created.collection)
    view = await context.bus.call(COLLECTION_GET, query, wait_ms=context.settings.restart_grace_ms)
    return succeeded(request, msgspec.to_builtins(view))


async def capture(context: ToolDependencies, request: RunTool, arguments: CaptureSource) -> ToolResult:
    """Read a page into a collection, and return it; one that takes longer is still being read then."""
    journal = context.collections
    created, _ = await journal.collection(arguments.collection_id, request.caller)
    adding = _adding(context, request)
    line = adding.line(created, UrlItem(url=arguments.url), "url")
    max_chars = CAPTURE_CHARS if arguments.max_chars is UNSET else arguments.max_chars
    mode = "auto" if arguments.mode is UNSET else arguments.mode
    await adding.check_room(created, 1)
    _, history = await adding.capturing.add(line)
    await adding.check_still_there(created)
    return await _capture_result(context, request, history, mode, max_chars)


async def refresh(context: ToolDependencies, request: RunTool, arguments: RefreshSource) -> ToolResult:
    """Read a page anew, and say what has changed."""
    history = await context.collections.source_of(arguments.source_id, request.caller)
    if history.added is not None and history.added.kind is SourceKind.NOTE:
        raise FaultError(fault(_INVALID, "sourceId: a note is not read anew", field="sourceId"))
    return await _capture_result(context, request, history, "auto", CAPTURE_CHARS)


def _check_webhook(context: ToolDependencies, webhook: str) -> None:
    try:
        context.integrations.check(webhook, CHANGED)
    except FaultError as error:
        raise FaultError(error.fault.of_field("webhook")) from None


async def watch(context: ToolDependencies, request: RunTool, arguments: WatchCollection) -> ToolResult:
    """Have the pages of a collection read anew again and again, or no more."""
    journal = context.collections
    webhook = "" if arguments.webhook is UNSET else arguments.webhook
    if webhook:
        _check_webhook(context, webhook)
    while True:
        created, history = await journal.collection(arguments.collection_id, request.caller)
        line = CollectionWatched(
            caller=created.caller,
            at=now_ms(),
            collection=created.collection,
            every_ms=every_ms(arguments.every),
            webhook=webhook,
        )
        if await journal.append(collection_topic(created.collection), line, last=history.last) is not None:
            payload = {"collectionId": created.collection, "everyMs": line.every_ms, "webhook": webhook}
            return succeeded(request, payload)


async def delete_source(context: ToolDependencies, request: RunTool, arguments: OfSource) -> ToolResult:
    """Delete a source with all that was said of it; of the same call the answer is the same."""
    journal = context.collections
    history = await journal.source(known_id(arguments.source_id, SOURCE_PREFIX))
    gone = history.deleted
    if gone is None or (gone.caller, gone.call_id) != (request.caller, request.id):
        added = history.added
        if added is None or added.caller != request.caller:
            raise unknown(SOURCE_PREFIX)
        gone = SourceDeleted(
            caller=added.caller, at=now_ms(), collection=added.collection, source=added.source, call_id=request.id
        )
    await journal.forget_source(gone, history)
    await _capturing(context).tell(_deleted(gone))
    return succeeded(request, {"collectionId": gone.collection, "sourceId": gone.source, "deleted": True})


async def delete(context: ToolDependencies, request: RunTool, arguments: OfCollection) -> ToolResult:
    """Delete a collection with its sources; texts made of it stay."""
    journal = context.collections
    collection = known_id(arguments.collection_id, COLLECTION_PREFIX)
    history = await journal.history(collection)
    gone = history.deleted
    if gone is None or (gone.caller, gone.call_id) != (request.caller, request.id):
        created, history = await journal.collection(collection, request.caller)
        gone = CollectionDeleted(caller=created.caller, at=now_ms(), collection=collection, call_id=request.id)
        if await journal.append(collection_topic(collection), gone, last=history.last, forget=True) is None:
            raise FaultError(fault(Code.INTERNAL_BUSY))
    # Whoever adds a source from here on finds the collection gone, and takes it back.
    await forget_sources(journal, gone.caller, collection, request.id)
    await _capturing(context).tell(_deleted(gone))
    return succeeded(request, {"collectionId": collection, "deleted": True})


def _deleted(line: SourceDeleted | CollectionDeleted) -> CollectionChanged:
    source = line.source if isinstance(line, SourceDeleted) else ""
    return CollectionChanged(
        caller=line.caller, collection_id=line.collection, event="deleted", at=line.at, source_id=source
    )


def _capturing(context: ToolDependencies) -> Capturing:
    return Capturing(context.collections, context.bus, context.settings)


def _adding(context: ToolDependencies, request: RunTool) -> Adding:
    return Adding(_capturing(context), request.id, request.name)


# -- waiting for a page ------------------------------------------------------------------------------------------------


async def _capture_result(
    context: ToolDependencies, request: RunTool, history: SourceHistory, mode: Any, max_chars: int
) -> ToolResult:
    """Have a page read, wait for it, and return it; the same call reads it once."""
    added = history.added
    if added is None:
        raise unknown(COLLECTION_PREFIX)
    capturing = _capturing(context)
    job, history = await capturing.queue(history, added, request.id, mode=mode, max_chars=max_chars)
    patience_s = (anyio.current_effective_deadline() - anyio.current_time()) * PATIENCE
    history = await capturing.ended(history, added, job, patience_s)
    payload: dict[str, Any] = {"sourceId": added.source, "jobId": job, "url": added.url}
    end = history.ends.get(job)
    if end is None:
        return succeeded(request, {**payload, "status": CaptureStatus.PENDING})
    if isinstance(end, CaptureFailed):
        result = failed(request, ToolErrorCode.NAVIGATION_FAILED, end.fault)
        return msgspec.structs.replace(result, payload={**payload, "status": CaptureStatus.FAILED})
    return _page_result(request, payload, end, history.captured or end)


def _page_result(request: RunTool, payload: dict[str, Any], end: SourceCaptured, page: SourceCaptured) -> ToolResult:
    document = untrusted(
        end.source,
        CollectionSource(
            collection_id=end.collection,
            source_id=end.source,
            url=end.url,
            title=page.title,
            captured_at=_moment(end.at),
            markdown=page.markdown,
            extracted_links=page.links,
        ),
    )
    payload = {
        **payload,
        "status": CaptureStatus.CAPTURED,
        "title": page.title,
        "version": end.version,
        "chars": len(page.markdown),
        "unchanged": end.unchanged,
        "truncated": page.truncated,
        "changes": msgspec.to_builtins(end.changes),
    }
    return succeeded(request, payload, documents=(document,))


def _moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
