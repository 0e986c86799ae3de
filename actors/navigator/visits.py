"""Writes down each page that a caller has read without a login, as it was, or why it was not to be had."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from msgspec import UNSET, structs

from actors import redact
from actors.navigator.written_later import WrittenLater
from bus.clock import now_ms
from bus.stores import JournalLog
from protocol.browse import DecisionTrace
from protocol.faults import Fault
from protocol.pages import Browsed, BrowsePage
from protocol.tiers import TIERS
from protocol.visits import MAX_VISIT_CHARS, MAX_VISIT_REQUESTS, VISIT_PREFIX, KeptVisit, visit_topic

VISIT_NOT_KEPT: Final = "page_visit_not_kept"

_ID_BYTES: Final = 16
_TITLE_CHARS: Final = 500
_ERROR_CHARS: Final = 500


class VisitNotes(Protocol):
    """Where visits are noted."""

    def for_history(self, request: BrowsePage) -> bool:
        """Return whether the history will show a browse, with its requests and how the page looked."""
        ...

    def note(self, request: BrowsePage, outcome: Browsed | Fault, took_ms: int) -> None:
        """Note what came of a browse."""
        ...


class NoVisits:
    """Notes none."""

    def for_history(self, request: BrowsePage) -> bool:
        """Show none."""
        del request
        return False

    def note(self, request: BrowsePage, outcome: Browsed | Fault, took_ms: int) -> None:
        """Forget it."""
        del request, outcome, took_ms


@dataclass
class PageVisits:
    """Writes visits into PAGE_VISITS, soon after they were made; without a history they are for the index alone."""

    journal: JournalLog[KeptVisit]
    in_history: bool = True
    _later: WrittenLater[KeptVisit] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._later = WrittenLater(_redacted, self._write, VISIT_NOT_KEPT)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[PageVisits]:
        """Write while the block lasts."""
        async with self._later.open():
            yield self

    def for_history(self, request: BrowsePage) -> bool:
        """Return whether the history will show a browse, with its requests and how the page looked."""
        return self.in_history and _may_be_noted(request, request.url)

    def note(self, request: BrowsePage, outcome: Browsed | Fault, took_ms: int) -> None:
        """Have a visit written down, if it may be."""
        if isinstance(outcome, Fault) and not self.in_history:
            return
        final_url = request.url if isinstance(outcome, Fault) else outcome.page.final_url
        if not _may_be_noted(request, request.url, final_url):
            return
        visit = KeptVisit(
            id=VISIT_PREFIX + secrets.token_urlsafe(_ID_BYTES),
            caller=request.reader,
            at=now_ms(),
            url=request.url,
            took_ms=took_ms,
        )
        self._later.add(_failed(visit, outcome) if isinstance(outcome, Fault) else _read(visit, outcome))

    async def _write(self, visit: KeptVisit) -> None:
        await self.journal.append(visit_topic(visit.id), visit)


def _may_be_noted(request: BrowsePage, *urls: str) -> bool:
    """Return whether a browse may be written down: of nobody's login, no continuation, and no address a secret."""
    if not request.reader or request.login or request.options.session_profile is not None:
        return False
    return request.options.cursor is None and all(redact.url(url) == url for url in urls)


def _failed(visit: KeptVisit, failure: Fault) -> KeptVisit:
    context = failure.context
    return structs.replace(
        visit,
        code=failure.code,
        error=failure.message[:_ERROR_CHARS],
        status=failure.http_status or 0,
        tier=next((tier for tier in TIERS if context is not None and context.tier == tier.value), None),
    )


def _read(visit: KeptVisit, browsed: Browsed) -> KeptVisit:
    page, content = browsed.page, browsed.page.document.content
    return structs.replace(
        visit,
        final_url=page.final_url,
        title=content.title[:_TITLE_CHARS],
        tier=page.tier,
        tiers_tried=browsed.tiers_tried,
        status=page.status,
        from_cache=page.from_cache,
        language="" if content.language is UNSET else content.language,
        markdown=content.markdown[:MAX_VISIT_CHARS],
        chars=len(content.markdown),
        left_out=content.parts.left_out,
        walls=browsed.walls,
        requests=page.requests[:MAX_VISIT_REQUESTS],
        screenshot=page.screenshot,
        field_confidence=browsed.confidence,
        decision_trace=browsed.trace,
    )


def _redacted(visit: KeptVisit) -> KeptVisit:
    return structs.replace(
        visit,
        title=redact.text(visit.title),
        error=redact.text(visit.error),
        markdown=redact.text(visit.markdown),
        decision_trace=None if visit.decision_trace is None else _redacted_trace(visit.decision_trace),
    )


def _redacted_trace(trace: DecisionTrace) -> DecisionTrace:
    titles = (
        one if one.value is UNSET else structs.replace(one, value=redact.text(one.value[:_TITLE_CHARS]))
        for one in trace.title
    )
    return structs.replace(trace, title=tuple(titles))
