"""Answers FETCH in the cheapest tier."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from time import thread_time
from typing import Any, ClassVar

from actors.actor import Actor, handles
from actors.extraction.extraction import Extraction
from actors.extraction.page import extract
from actors.fetchers import answering
from actors.fetchers.extracted import Extracted, Page
from actors.fetchers.extracting import Extractor
from actors.fetchers.intelligence.markdown_offer import ACCEPT
from actors.fetchers.intelligence.offered import Lists, offered
from actors.fetchers.script_engine import evaluate
from actors.fetchers.sessions import Sessions
from actors.fetchers.web import redact
from actors.fetchers.web.client import Response, WebClient, WebRequest
from actors.fetchers.web.cookies import Jar
from actors.fetchers.web.rates import retry_after_ms
from actors.fetchers.web.shared import BUCKETS, web_client
from bus import remaining_ms, span
from protocol import subjects
from protocol.domains import Foreseen, ForeseePage
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.subjects import Bucket
from protocol.tiers import RenderTier


@dataclass
class Intelligence(Actor):
    """Gets pages over HTTP without running their scripts, and extracts from them."""

    name: ClassVar[str] = "fetchers.intelligence"
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.SESSIONS, *BUCKETS)

    _extractor: Extractor = field(init=False, repr=False)
    _web: WebClient = field(init=False, repr=False)
    _sessions: Sessions = field(init=False, repr=False)
    _lists: Lists = field(init=False, repr=False)
    _extracted: Extracted = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load what extraction needs."""
        answering.warm()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold the HTTP client, and what reads pages beside the loop."""
        self._sessions = Sessions(self.bus)
        self._lists = Lists()
        self._extracted = Extracted(self.settings.fetch_cache_bytes)
        async with web_client(self.settings, self.bus) as self._web, Extractor() as self._extractor:
            yield

    @handles(subjects.FETCH.at(tier=RenderTier.INTELLIGENCE.value), at_once=32)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Get one page; a status of 400 and above is an answer like any other, the verifier judges it."""
        try:
            response = await self._exchange(request)
            had_at = datetime.fromtimestamp(response.received_at, UTC)
            found = await self._extract(request, response, had_at)
            if self._welcomes_markdown(request):
                get, read = partial(self._exchange, request), partial(self._extract, request, had_at=had_at)
                found, response = await offered(found, response, get, read, self._lists)
        except FaultError as error:
            raise FaultError(error.fault.at(url=request.url, tier=RenderTier.INTELLIGENCE.value)) from error
        return _fetched(request, response, found, had_at)

    @handles(subjects.FORESEE, at_once=32)
    async def foresee(self, request: ForeseePage) -> Foreseen:
        """Return what would happen to a page before its site is asked."""
        asked = WebRequest(
            request.url,
            headers=(("Accept", ACCEPT),) if self.settings.markdown_offers else (),
            freshness=request.freshness,
            partition=request.session or "",
            obey_robots=request.obey_robots,
        )
        loan = await self._sessions.lend(request.session, request.url)
        return await self._web.foresee(asked, loan.session.cookies if loan is not None else Jar())

    def _welcomes_markdown(self, request: FetchPage) -> bool:
        return self.settings.markdown_offers and not request.include_html

    async def _exchange(self, request: FetchPage, url: str = "") -> Response:
        asked = _asked(request, url or request.url, markdown=self._welcomes_markdown(request))
        attributes = {"http.request.method": "GET", "url.full": redact.url(asked.url)}
        with span("GET", kind="client", attributes=attributes) as seen:
            try:
                async with self._sessions.use(request.session, asked.url) as session:
                    response = await self._web.fetch(asked, session.cookies, answering.time_for_site(remaining_ms()))
            except FaultError as error:
                seen.fail(error.fault.code.value)
                raise
            seen.set_attribute("server.address", redact.host(response.url))
            seen.set_attribute("http.response.status_code", response.status)
            return response

    async def _extract(self, request: FetchPage, response: Response, had_at: datetime) -> Extraction:
        """Extract from a page, unless that was done before: a site that confirms a page costs next to nothing."""
        source = answering.readable(response.body, response.content_type, response.status)
        page = Page(*source, response.url, request.include_html)
        found = self._extracted.get(page, had_at)
        if found is None:
            found = await self._extractor.run(
                extract,
                page.body,
                page.content_type,
                page.url,
                include_html=page.include_html,
                captured_at=had_at,
                evaluate=evaluate,
                clock=thread_time,
            )
            self._extracted.keep(page, found)
        return found


def _asked(request: FetchPage, url: str, *, markdown: bool) -> WebRequest:
    return WebRequest(
        url,
        headers=(("Accept", ACCEPT),) if markdown else (),
        freshness=request.freshness,
        partition=request.session or "",
        record_body=request.include_network,
        obey_robots=request.obey_robots,
        single_shot=request.single_shot,
    )


def _fetched(request: FetchPage, response: Response, found: Extraction, had_at: datetime) -> Fetched:
    return answering.fetched(
        RenderTier.INTELLIGENCE,
        found,
        status=response.status,
        content_type=response.content_type,
        fetched_at=int(had_at.timestamp() * 1000),
        from_cache=response.from_cache,
        retry_after_ms=retry_after_ms(response.headers.get("retry-after"), response.received_at),
        retry_count=response.retry_count,
        network=response.exchanges if request.include_network else (),
    )
