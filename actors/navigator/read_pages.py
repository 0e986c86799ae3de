"""Writes down which pages were read, for the index that each reader searches alone: none of a login's, none with a key.

That happens after the answer has gone, and is left out where more comes than can be written.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Protocol

import anyio
import structlog
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from actors import redact
from bus.clock import now_ms
from bus.errors import TransportError
from bus.stores import JournalLog
from protocol.pages import Browsed, BrowsePage
from protocol.search import PageRead, page_topic

log = structlog.stdlib.get_logger()

PAGE_NOT_INDEXED = "read_page_not_indexed"

MAX_CHARS: Final = 24_000
"""What is kept of a page: as much as of a captured one unless its capture says otherwise."""

_LEAST_CHARS: Final = 80
_WAITING: Final = 64
_KNOWN: Final = 4_096
"""Pages of which is known what was written last: whoever reads the same again adds nothing."""


class PageNotes(Protocol):
    """Where it is noted who has read what."""

    def note(self, request: BrowsePage, browsed: Browsed) -> None:
        """Note that a page was read."""
        ...


class NoNotes:
    """Notes nothing."""

    def note(self, request: BrowsePage, browsed: Browsed) -> None:
        """Forget it."""
        del request, browsed


@dataclass
class ReadPages:
    """Writes pages into PAGES_READ, one after the other."""

    journal: JournalLog[PageRead]
    _sending: MemoryObjectSendStream[PageRead] = field(init=False, repr=False)
    _known: OrderedDict[str, bytes] = field(default_factory=OrderedDict[str, bytes], init=False, repr=False)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[ReadPages]:
        """Write while the block lasts; what waits at its end is left out."""
        self._sending, receiving = anyio.create_memory_object_stream[PageRead](_WAITING)
        async with self._sending, receiving, anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, receiving)
            yield self
            tasks.cancel_scope.cancel()

    def note(self, request: BrowsePage, browsed: Browsed) -> None:
        """Have a page written down that somebody has read without a login, whose address holds no secret."""
        content, url = browsed.page.document.content, browsed.page.final_url
        public = not request.login and request.options.session_profile is None and redact.url(url) == url
        if not request.reader or not public or len(content.markdown) < _LEAST_CHARS:
            return
        page = PageRead(
            caller=request.reader,
            url=url,
            title=content.title[:500],
            markdown=content.markdown[:MAX_CHARS],
            at=now_ms(),
        )
        try:
            self._sending.send_nowait(page)
        except anyio.WouldBlock:
            log.info(PAGE_NOT_INDEXED, reason="too many at once")

    async def _write(self, receiving: MemoryObjectReceiveStream[PageRead]) -> None:
        async for page in receiving:
            topic, digest = page_topic(page.caller, page.url), blake2b(page.markdown.encode()).digest()
            if self._known.get(topic) == digest:
                continue
            try:
                await self.journal.append(topic, await to_thread.run_sync(_redacted, page))
            except TransportError as error:
                log.warning(PAGE_NOT_INDEXED, reason=str(error))
                continue
            self._known[topic] = digest
            if len(self._known) > _KNOWN:
                self._known.popitem(last=False)


def _redacted(page: PageRead) -> PageRead:
    return PageRead(
        caller=page.caller, url=page.url, title=redact.text(page.title), markdown=redact.text(page.markdown), at=page.at
    )
