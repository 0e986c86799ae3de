"""Keeps the pages of a crawl as sources of a collection, each once, whoever dies meanwhile."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from actors.normalized_urls import normalized
from actors.runner.collections.captured_page import read_page
from actors.runner.collections.history import collection_id, source_id
from actors.runner.template import SourceKeeper, StepContext
from bus.clock import now_ms
from protocol.collections import CollectionCreated, SourceAdded, SourceKind, collection_topic
from protocol.faults import Code, FaultError, fault
from protocol.pages import Browsed

MAX_TITLE_CHARS: Final = 500


async def open_collection(context: StepContext, given: str | None, url: str) -> str:
    """Return the id of the collection that is named, or of a new one, which the same run begins once.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION, also for that of somebody else; the journal is away.
    """
    log = _keeper(context).log
    if given is not None:
        return (await log.collection(given, context.caller))[0].collection
    new = collection_id(context.caller, context.run_id)
    title = (urlsplit(url).hostname or url)[:MAX_TITLE_CHARS]
    line = CollectionCreated(
        caller=context.caller, at=now_ms(), collection=new, title=title, tags=("crawl",), call_id=context.run_id
    )
    await log.append(collection_topic(new), line, last=0)
    return new


async def keep_source(context: StepContext, collection: str, browsed: Browsed, max_chars: int) -> str:
    """Keep a page, and return the id of its source; one that is there already stays as it is.

    Raises:
        FaultError: CONFIG_STORAGE_FULL; the journal is away.
    """
    page = read_page(browsed, now_ms())
    address = normalized(page.url)
    source = source_id(collection, SourceKind.URL, address)
    line = SourceAdded(
        caller=context.caller,
        at=now_ms(),
        collection=collection,
        source=source,
        kind=SourceKind.URL,
        url=page.url,
        normalized_url=address,
        title=page.title[:MAX_TITLE_CHARS],
        provenance={"run": context.run_id},
    )
    await _keeper(context).keep(line, page, f"{context.run_id} {source}", max_chars)
    return source


def _keeper(context: StepContext) -> SourceKeeper:
    if context.sources is None:
        raise FaultError(fault(Code.INTERNAL_UNAVAILABLE))
    return context.sources
