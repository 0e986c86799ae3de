"""Writes down which pages were read, for the index that each reader searches alone: none with a login or a key."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final, Protocol

from actors import redact
from actors.navigator.written_later import WrittenLater, may_be_noted, noted_text
from bus.clock import now_ms
from bus.errors import TransportError
from bus.stores import JournalLog
from protocol.pages import Browsed, BrowsePage
from protocol.search import PageRead, page_topic

PAGE_NOT_INDEXED: Final = "read_page_not_indexed"

MAX_CHARS: Final = 24_000
"""What is kept of a page: as much as of a captured one unless its capture says otherwise."""

_LEAST_CHARS: Final = 80
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
    """Writes pages into PAGES_READ, soon after they were read."""

    journal: JournalLog[PageRead]
    _later: WrittenLater[PageRead] = field(init=False, repr=False)
    _known: OrderedDict[str, bytes] = field(default_factory=OrderedDict[str, bytes], init=False, repr=False)

    def __post_init__(self) -> None:
        self._later = WrittenLater(_redacted, self._write, PAGE_NOT_INDEXED)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[ReadPages]:
        """Write while the block lasts."""
        async with self._later.open():
            yield self

    def note(self, request: BrowsePage, browsed: Browsed) -> None:
        """Have a page written down that somebody has read, if it may be, and says something."""
        content, url = browsed.page.document.content, browsed.page.final_url
        if not may_be_noted(request, url) or len(content.markdown) < _LEAST_CHARS:
            return
        self._later.add(
            PageRead(
                caller=request.reader,
                url=url,
                title=content.title[:500],
                markdown=content.markdown[:MAX_CHARS],
                at=now_ms(),
            )
        )

    async def _write(self, page: PageRead) -> None:
        topic, digest = page_topic(page.caller, page.url), blake2b(page.markdown.encode()).digest()
        if self._known.get(topic) == digest:
            return
        self._known[topic] = digest  # now, since the same may be read twice meanwhile
        try:
            await self.journal.append(topic, page)
        except (TransportError, ValueError):
            self._known.pop(topic, None)
            raise
        if len(self._known) > _KNOWN:
            self._known.popitem(last=False)


def _redacted(page: PageRead) -> PageRead:
    return PageRead(
        caller=page.caller, url=page.url, title=redact.text(page.title), markdown=noted_text(page.markdown), at=page.at
    )
