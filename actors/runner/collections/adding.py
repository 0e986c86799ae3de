"""Adds sources to collections: each page once however it is spelled, each note once for the call that brings it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import anyio
from anyio import to_thread
from msgspec import UNSET, Struct

from actors.normalized_urls import normalized
from actors.page_addresses import page_address
from actors.runner.collections.capturing import Capturing
from actors.runner.collections.collection_log import CollectionLog, unknown
from actors.runner.collections.history import SourceHistory, source_id
from actors.runner.collections.imports import ListedPage, is_address, read_list
from bus.clock import now_ms
from protocol.collection_views import (
    MAX_IMPORT_BYTES,
    MAX_REFUSED,
    AskCollection,
    ImportedSources,
    ImportSources,
    RefusedAddress,
)
from protocol.collections import (
    COLLECTION_PREFIX,
    MAX_NOTE_CHARS,
    MAX_SOURCES,
    CaptureStatus,
    CollectionCreated,
    SourceAdded,
    SourceDeleted,
    SourceKind,
)
from protocol.faults import Code, FaultError, fault
from protocol.subjects import COLLECTION_GET
from protocol.tools.collections import NoteItem, UrlItem

AT_ONCE: Final = 16
"""Captures of one call that are queued at the same time."""

MAX_TITLE_CHARS: Final = 500
MAX_SHOWN_CHARS: Final = 200
NOTE_TITLE_CHARS: Final = 60
"""What is taken of the first line of a note that has no title."""

_INVALID: Final = Code.VALIDATION_INVALID_REQUEST


class AddedSource(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What has come of a source that was to be added; `added`: it was not there before this call."""

    source_id: str
    status: CaptureStatus
    added: bool
    url: str = ""
    title: str = ""
    job_id: str = ""


class Adding(Struct, frozen=True):
    """Adds sources for one call, which `origin` has made."""

    capturing: Capturing
    call: str
    origin: str

    async def add_all(self, created: CollectionCreated, lines: Sequence[SourceAdded]) -> list[AddedSource]:
        """Add sources, and have the pages among them captured; one that is given twice is added once.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST, where the collection has no room; VALIDATION_UNKNOWN_COLLECTION,
                where it is deleted meanwhile; CONFIG_STORAGE_FULL; the journal is away.
        """
        await self.check_room(created, len(lines))
        results = dict[int, AddedSource]()
        limiter = anyio.CapacityLimiter(AT_ONCE)

        async def one(index: int, added: SourceAdded, history: SourceHistory) -> None:
            async with limiter:
                results[index] = await self._queued(added, history)

        try:
            async with anyio.create_task_group() as tasks:
                # One after the other, so that they stand in the order in which they were given.
                for index, line in enumerate(lines):
                    added, history = await self.capturing.add(line)
                    tasks.start_soon(one, index, added, history)
        except* FaultError as errors:
            raise errors.exceptions[0] from None
        await self.check_still_there(created)
        return [results[index] for index in range(len(lines))]

    async def _queued(self, added: SourceAdded, history: SourceHistory) -> AddedSource:
        job, status = "", CaptureStatus.CAPTURED
        if added.kind is SourceKind.URL and history.captured is None:
            job, _ = await self.capturing.queue(history, added, self.call)
            status = CaptureStatus.PENDING
        new = added.provenance.get("call") == self.call
        return AddedSource(
            source_id=added.source, status=status, added=new, url=added.url, title=added.title, job_id=job
        )

    def line(self, created: CollectionCreated, item: UrlItem | NoteItem, place: str, index: int = 0) -> SourceAdded:
        """Return the line of a source that is to be added; `place` names it to the caller.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST.
        """
        title = "" if item.title is UNSET else item.title[:MAX_TITLE_CHARS]
        if isinstance(item, NoteItem):
            kind, url, unique, words = SourceKind.NOTE, "", "", _note(item.text, place)
            title = title or _first_line(words)
        else:
            kind, words = SourceKind.URL, ""
            url, unique = _address(item.url, place)
        return SourceAdded(
            caller=created.caller,
            at=now_ms(),
            collection=created.collection,
            source=source_id(created.collection, kind, unique or f"{self.call} {index}"),
            kind=kind,
            url=url,
            normalized_url=unique,
            title=title,
            markdown=words,
            provenance={"call": self.call, "tool": self.origin},
        )

    async def check_room(self, created: CollectionCreated, more: int) -> None:
        """See to it that a collection can take more sources.

        Raises:
            FaultError: VALIDATION_INVALID_REQUEST; the keeper is away.
        """
        bus, settings = self.capturing.bus, self.capturing.settings
        query = AskCollection(caller=created.caller, id=created.collection, limit=1)
        view = await bus.call(COLLECTION_GET, query, wait_ms=settings.restart_grace_ms)
        if view.total + more > MAX_SOURCES:
            message = f"sources: the collection has {view.total}, and may have {MAX_SOURCES}"
            raise FaultError(fault(_INVALID, message, field="sources"))

    async def check_still_there(self, created: CollectionCreated) -> None:
        """See to it that nothing stays of what was added to a collection that somebody has deleted meanwhile.

        Raises:
            FaultError: VALIDATION_UNKNOWN_COLLECTION; the journal is away.
        """
        journal, collection = self.capturing.log, created.collection
        if (await journal.history(collection)).created is not None:
            return
        await forget_sources(journal, created.caller, collection, self.call)
        raise unknown(COLLECTION_PREFIX)


async def forget_sources(journal: CollectionLog, caller: str, collection: str, call: str) -> None:
    """Forget all sources of a collection that is gone.

    Raises:
        FaultError: the journal is away.
    """
    for source in await journal.sources(collection):
        line = SourceDeleted(caller=caller, at=now_ms(), collection=collection, source=source, call_id=call)
        await journal.forget_source(line)


def _note(text: str, place: str) -> str:
    if len(text.strip()) > 0 and len(text) <= MAX_NOTE_CHARS:
        return text
    message = f"{place}.text: a note has 1 to {MAX_NOTE_CHARS} characters"
    raise FaultError(fault(_INVALID, message, field=f"{place}.text"))


def _first_line(text: str) -> str:
    """Return what a note is called that has no title."""
    line = next(line for line in text.splitlines() if line.strip()).strip("# \t")
    return line if len(line) <= NOTE_TITLE_CHARS else f"{line[:NOTE_TITLE_CHARS]}…"


def _address(url: str, place: str) -> tuple[str, str]:
    """Return an address as it is fetched, and the one spelling of it."""
    field = place if place == "url" else f"{place}.url"
    address = page_address(url, field)
    try:
        return address, normalized(address)
    except ValueError as error:
        raise FaultError(fault(_INVALID, f"{field}: {error}", field=field)) from None


# -- lists of other programs -------------------------------------------------------------------------------------------


async def import_sources(capturing: Capturing, request: ImportSources) -> ImportedSources:
    """Add the addresses of a list; the same list again adds nothing, and answers the same.

    Raises:
        FaultError: VALIDATION_UNKNOWN_COLLECTION; VALIDATION_INVALID_REQUEST, where it is no list; as `add_all` does.
    """
    created, _ = await capturing.log.collection(request.collection, request.caller)
    if len(request.data) > MAX_IMPORT_BYTES:
        message = f"data: {len(request.data)} bytes are more than {MAX_IMPORT_BYTES}"
        raise FaultError(fault(_INVALID, message, field="data"))
    try:
        pages = await to_thread.run_sync(read_list, request.data, request.format)
    except ValueError as error:
        raise FaultError(fault(_INVALID, f"data: {error}", field="data")) from None
    adding = Adding(capturing, f"import_{sha256(request.data).hexdigest()[:22]}", "import")
    lines, refused = dict[str, SourceAdded](), list[RefusedAddress]()
    for page in pages:
        try:
            line = adding.line(created, UrlItem(url=_listed(page), title=page.title), "url")
            lines.setdefault(line.source, line)
        except FaultError as error:
            refused.append(_refused(page, error))
    results = await adding.add_all(created, tuple(lines.values()))
    added = sum(one.added for one in results)
    return ImportedSources(
        collection_id=created.collection,
        read=len(pages),
        added=added,
        known=len(pages) - len(refused) - added,
        refused_count=len(refused),
        refused=tuple(refused[:MAX_REFUSED]),
    )


def _listed(page: ListedPage) -> str:
    if not is_address(page.url):
        raise FaultError(fault(_INVALID, "it is no address, such as https://example.com/", field="url"))
    return page.url


def _refused(page: ListedPage, error: FaultError) -> RefusedAddress:
    return RefusedAddress(url=page.url[:MAX_SHOWN_CHARS], reason=error.fault.message.removeprefix("url: "))
