"""Reads pages into their sources: each capture is done once, whoever dies meanwhile, and tried up to three times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import anyio
import structlog
from msgspec import Struct, field, structs

from actors.key_ends import key_ended
from actors.runner.browser_session import call_with_room
from actors.runner.collections.captured_page import CapturedPage, captured, read_page
from actors.runner.collections.collection_log import CollectionLog
from actors.runner.collections.history import SourceHistory, job_id
from actors.runner.page_reading import check_status
from actors.settings import Settings
from actors.usage import UsageLedger
from bus import Bus
from bus.clock import now_ms
from bus.errors import JournalFullError
from bus.stores import JournalLine
from protocol.actions import Action
from protocol.browse import BrowseOptions, Freshness
from protocol.collection_views import CollectionChanged
from protocol.collections import (
    CAPTURE_CHARS,
    MAX_ATTEMPTS,
    CaptureFailed,
    CaptureMode,
    CaptureQueued,
    CaptureStarted,
    DoCapture,
    SourceAdded,
    SourceCaptured,
    added_topic,
    capture_key,
    source_topic,
    version_topic,
)
from protocol.faults import Code, Fault, FaultError, fault
from protocol.pages import Browsed, BrowsePage
from protocol.subjects import BROWSE, CAPTURE, COLLECTION_CHANGED

log = structlog.stdlib.get_logger()

CAPTURED = "source_captured"
NOT_CAPTURED = "source_not_captured"
NOT_TOLD = "collection_change_not_told"
UNKNOWN_CAPTURE = "capture_unknown"

LATENCY_MS: Final = 30_000
ROOM_S: Final = 90.0
"""How long a capture waits for a browser with room, the reading included."""

WRITTEN_MS: Final = 20_000
"""How long after it was put into the queue a capture may lack its line: whoever put it there has died then."""

LOOK_S: Final = 0.03
"""How long to wait between two looks at a source of which something may have been written."""

MAX_LINES: Final = 40
"""Lines of captures of a source, from which on those that are over are forgotten."""

AGAIN_MS: Final = (1_000, 4_000)
MAX_AGAIN_MS: Final = 60_000


class Capturing(Struct, frozen=True):
    """Captures for one replica; pages count for their caller in `usage`, and none is read once his key `has_ended`."""

    log: CollectionLog
    bus: Bus
    settings: Settings
    has_ended: Callable[[str], bool] = lambda _: False
    usage: UsageLedger = field(default_factory=UsageLedger)

    async def queue(
        self,
        history: SourceHistory,
        added: SourceAdded,
        call: str = "",
        *,
        mode: CaptureMode = "auto",
        max_chars: int = CAPTURE_CHARS,
    ) -> tuple[str, SourceHistory]:
        """Have a page read, and return the id of its capture: that which is under way, or which the call has had.

        Raises:
            FaultError: VALIDATION_UNKNOWN_SOURCE, where it is gone meanwhile; CONFIG_STORAGE_FULL; the bus is away.
        """
        while history.added is not None and history.queued is None and (not call or call not in history.calls):
            topic = source_topic(added.collection, added.source)
            line = structs.replace(_queued(history, added, topic), mode=mode, max_chars=max_chars, call_id=call)
            work = DoCapture(
                job=line.job, source=line.source, caller=line.caller, collection=line.collection, at=line.at
            )
            # First into the queue: a line without a place there would never be worked on.
            await self.bus.enqueue(CAPTURE, work, packet_id=line.job)
            # What was said of captures that are over is forgotten now and then: what they brought stands elsewhere.
            old = history.lines >= MAX_LINES
            sequence = await self.log.append(topic, line, last=history.last(topic), forget=old)
            if sequence is not None:
                return line.job, history.after(JournalLine(sequence, topic, line.at, line))
            history = await self.log.source(added.source, added.collection)
        if call and call in history.calls:
            return history.calls[call], history
        if history.queued is None:
            raise FaultError(fault(Code.VALIDATION_UNKNOWN_SOURCE))
        return history.queued.job, history

    async def do(self, work: DoCapture) -> None:
        """Read a page, unless it has been read.

        Raises:
            FaultError: it is to be tried again.
        """
        try:
            await self._do(work)
        except JournalFullError as error:
            # It is still to be read, as soon as somebody has made room.
            raise FaultError(_again(error.fault, MAX_AGAIN_MS)) from None

    async def _do(self, work: DoCapture) -> None:
        history = await self._queued(work)
        added, queued = history.added, history.queued
        if added is None or queued is None or queued.job != work.job:
            return
        if self.has_ended(added.caller):
            await self._fail(added, queued, history.attempts, key_ended())
            return
        if history.attempts >= MAX_ATTEMPTS:
            died = fault(Code.EXECUTION_ERROR, f"The processes that read the page died {history.attempts} times.")
            await self._fail(added, queued, history.attempts, died)
            return
        attempt = history.attempts + 1
        topic = source_topic(added.collection, added.source)
        started = CaptureStarted(
            caller=added.caller,
            at=now_ms(),
            collection=added.collection,
            job=work.job,
            source=added.source,
            attempt=attempt,
            replica=self.bus.replica,
        )
        sequence = await self.log.append(topic, started, last=history.last(topic))
        if sequence is None:
            raise FaultError(_again(fault(Code.INTERNAL_BUSY), AGAIN_MS[0]))
        history = history.after(JournalLine(sequence, topic, started.at, started))
        try:
            await self.log.room.take(added.caller)
            page = read_page(await self._browse(queued), now_ms(), queued.mode)
            await self._keep(history, added, page, work.job, queued.max_chars)
        except JournalFullError:
            raise
        except FaultError as error:
            await self._fail(added, queued, attempt, error.fault)

    async def keep(self, line: SourceAdded, page: CapturedPage, name: str, max_chars: int = CAPTURE_CHARS) -> None:
        """Keep a page that somebody else has read, such as a crawl, as a source; by the same name it is kept once.

        Raises:
            FaultError: CONFIG_STORAGE_FULL; the journal is away.
        """
        added, history = await self.add(line)
        if history.captured is None:
            await self._keep(history, added, page, job_id(name, 0), max_chars)

    async def add(self, line: SourceAdded) -> tuple[SourceAdded, SourceHistory]:
        """Return a source that is in its collection now, as it was added first.

        Raises:
            FaultError: CONFIG_STORAGE_FULL; the journal is away.
        """
        topic, history = added_topic(line.collection, line.source), SourceHistory()
        while history.added is None:
            sequence = await self.log.append(topic, line, last=history.last(topic))
            if sequence is not None:
                await self.tell(_added(line))
                return line, history.after(JournalLine(sequence, topic, line.at, line))
            history = await self.log.source(line.source, line.collection)
        return history.added, history

    async def ended(self, history: SourceHistory, added: SourceAdded, job: str, patience_s: float) -> SourceHistory:
        """Wait for the end of a capture, and return how its source stands then, or when the patience is over."""
        with anyio.move_on_after(patience_s):
            async with self.log.journal.records.signal() as wait:
                while job not in history.ends and history.added is not None:
                    history = await self.log.source(added.source, added.collection, history)
                    if job in history.ends:
                        break
                    with anyio.move_on_after(1.0):
                        await wait()
                    await anyio.sleep(LOOK_S)
        return history

    async def tell(self, change: CollectionChanged) -> None:
        """Publish what has changed of a collection to those who follow it; nobody waits for that."""
        try:
            await self.bus.tell(COLLECTION_CHANGED, change)
        except FaultError as error:
            log.warning(NOT_TOLD, code=error.fault.code)

    # -- one capture -----------------------------------------------------------------------------------------------

    async def _queued(self, work: DoCapture) -> SourceHistory:
        """Return the source of a capture as soon as its line is written, which comes after its place in the queue."""
        while True:
            history = await self.log.first_capture(work) or await self.log.source(work.source, work.collection)
            known = work.job in history.ends or (history.queued is not None and history.queued.job == work.job)
            if known or history.added is None:
                return history
            if now_ms() - work.at > WRITTEN_MS or history.queued is not None:
                log.warning(UNKNOWN_CAPTURE, job=work.job)
                return history
            await anyio.sleep(LOOK_S)

    async def _browse(self, queued: CaptureQueued) -> Browsed:
        fresh = Freshness.REALTIME if queued.version > 1 else Freshness.ANY
        options = BrowseOptions(max_latency_ms=LATENCY_MS, freshness_requirement=fresh)
        page = BrowsePage(url=queued.url, options=options, obey_robots=True, single_shot=True)

        async def call() -> Browsed:
            return await self.bus.call(BROWSE, page, timeout_ms=LATENCY_MS, wait_ms=self.settings.restart_grace_ms)

        with anyio.move_on_after(ROOM_S):
            browsed = await call_with_room(call, anyio.Event())
            self.usage.counters(queued.caller).page_read(browsed.page.tier, browsed.pages)
            check_status(browsed.page.status)
            return browsed
        raise FaultError(fault(Code.INTERNAL_BUSY))

    async def _keep(
        self, history: SourceHistory, added: SourceAdded, page: CapturedPage, job: str, max_chars: int
    ) -> None:
        """Write down what was read, once: whoever else had the capture meanwhile finds it ended."""
        for _ in range(MAX_ATTEMPTS):
            if job in history.ends or history.added is None:
                return
            line = captured(history, added, page, job, max_chars)
            if line.unchanged:
                topic = source_topic(added.collection, added.source)
            else:
                topic = version_topic(added.collection, added.source, line.version)
            if await self.log.append(topic, line, last=history.last(topic), forget=not line.unchanged) is not None:
                log.info(CAPTURED, source=added.source, version=line.version, unchanged=line.unchanged)
                await self.tell(_change(added, line))
                return
            history = await self.log.source(added.source, added.collection)
        raise FaultError(fault(Code.INTERNAL_BUSY))

    async def _fail(self, added: SourceAdded, queued: CaptureQueued, attempt: int, why: Fault) -> None:
        """Write down why there is no page.

        Raises:
            FaultError: it is to be tried again.
        """
        final = not why.retryable or attempt >= MAX_ATTEMPTS
        history = await self.log.source(added.source, added.collection)
        if history.queued is None or history.queued.job != queued.job:
            return
        line = CaptureFailed(
            caller=added.caller,
            at=now_ms(),
            collection=added.collection,
            job=queued.job,
            source=added.source,
            attempt=attempt,
            fault=structs.replace(why, context=None),
            final=final,
        )
        topic = source_topic(added.collection, added.source)
        await self.log.append(topic, line, last=history.last(topic))
        log.info(NOT_CAPTURED, source=added.source, code=why.code, attempt=attempt, final=final)
        if not final:
            raise FaultError(_again(why, AGAIN_MS[min(attempt, len(AGAIN_MS)) - 1]))
        await self.tell(_change(added, line))


def _again(why: Fault, delay_ms: int) -> Fault:
    """Return a fault by which the queue hands a capture out again, after the delay that a site asks for, or ours."""
    delay = min(why.retry_after_ms or delay_ms, MAX_AGAIN_MS)
    wait = Action(action="retry", description="The page is tried again.", suggested_delay_ms=delay)
    return structs.replace(why, actions=(wait,), retryable=True)


def _added(line: SourceAdded) -> CollectionChanged:
    return CollectionChanged(
        caller=line.caller,
        collection_id=line.collection,
        event="source_added",
        at=line.at,
        source_id=line.source,
        url=line.url,
        title=line.title,
    )


def _change(added: SourceAdded, line: SourceCaptured | CaptureFailed) -> CollectionChanged:
    change = CollectionChanged(
        caller=line.caller,
        collection_id=line.collection,
        event="failed",
        at=line.at,
        source_id=line.source,
        url=added.url,
        title=added.title,
    )
    if isinstance(line, CaptureFailed):
        return change
    event = "refreshed" if line.unchanged else "captured" if line.version == 1 else "changed"
    return structs.replace(change, event=event, title=line.title, changes=line.changes)


def _queued(history: SourceHistory, added: SourceAdded, topic: str) -> CaptureQueued:
    """Return the line of the next capture of a page."""
    version = history.version + 1
    key = capture_key(added.collection, added.normalized_url, version)
    return CaptureQueued(
        caller=added.caller,
        at=now_ms(),
        collection=added.collection,
        job=job_id(key, history.last(topic)),
        source=added.source,
        url=added.url,
        dedupe_key=key,
        version=version,
    )
