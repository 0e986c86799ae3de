"""Answers FETCH in the cheapest tier."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar

from actors.actor import Actor, handles
from actors.fetchers.extract.extraction import Extraction
from actors.fetchers.extract.formats.kinds import kind_of
from actors.fetchers.extract.page import extract
from actors.fetchers.extracted import Extracted, Page
from actors.fetchers.extracting import Extractor
from actors.fetchers.intelligence.markdown_offer import ACCEPT
from actors.fetchers.intelligence.offered import Lists, offered
from actors.fetchers.sessions import Sessions
from actors.fetchers.web import redact
from actors.fetchers.web.client import Response, WebClient, WebRequest
from actors.fetchers.web.rates import retry_after_ms
from actors.fetchers.web.shared import BUCKETS, web_client
from actors.sites import site_of
from bus import remaining_ms, span
from protocol import subjects
from protocol.browse import DEFAULT_LATENCY_MS, RenderTier
from protocol.documents import untrusted
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.subjects import Bucket

_RESERVE_SHARE = 10
_MAX_RESERVE_MS = 1_000
"""A tenth of the time, a second at most, is kept for the answer: the site must be late before the call is."""

_FIRST_ERROR = 400
_ANY_PAGE = b"<title>A page</title><main><h1>A page</h1><p>It has a few words, so that everything is loaded.</p></main>"


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
        """Load the models of extraction, and the list of public suffixes."""
        extract(_ANY_PAGE, "text/html", "")
        site_of("https://weft.example/")

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

    def _welcomes_markdown(self, request: FetchPage) -> bool:
        return self.settings.markdown_offers and not request.include_html

    async def _exchange(self, request: FetchPage, url: str = "") -> Response:
        asked = _asked(request, url or request.url, markdown=self._welcomes_markdown(request))
        attributes = {"http.request.method": "GET", "url.full": redact.url(asked.url)}
        with span("GET", kind="client", attributes=attributes) as seen:
            try:
                async with self._sessions.use(request.session, asked.url) as session:
                    response = await self._web.fetch(asked, session.cookies, time_for_site(remaining_ms()))
            except FaultError as error:
                seen.fail(error.fault.code.value)
                raise
            seen.set_attribute("server.address", redact.host(response.url))
            seen.set_attribute("http.response.status_code", response.status)
            return response

    async def _extract(self, request: FetchPage, response: Response, had_at: datetime) -> Extraction:
        """Extract from a page, unless that was done before: a site that confirms a page costs next to nothing."""
        page = Page(*_readable(response), response.url, request.include_html)
        found = self._extracted.get(page, had_at)
        if found is None:
            found = await self._extractor.run(
                extract,
                page.body,
                page.content_type,
                page.url,
                include_html=page.include_html,
                captured_at=had_at,
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
    )


def _readable(response: Response) -> tuple[bytes, str]:
    """Leave out the body of an error that has no text: its status is the answer."""
    if response.status >= _FIRST_ERROR:
        try:
            kind_of(response.body, response.content_type)
        except FaultError:
            return b"", "text/plain"
    return response.body, response.content_type


def time_for_site(remaining: int | None) -> int:
    """Tell how many milliseconds of those that are left a site may have."""
    left = DEFAULT_LATENCY_MS if remaining is None else remaining
    return max(left - min(left // _RESERVE_SHARE, _MAX_RESERVE_MS), 1)


def _fetched(request: FetchPage, response: Response, found: Extraction, had_at: datetime) -> Fetched:
    digest = blake2b(f"{response.url}\n{found.summary.markdown}".encode("utf-8", "replace"), digest_size=12)
    return Fetched(
        tier=RenderTier.INTELLIGENCE,
        status=response.status,
        final_url=response.url,
        content_type=response.content_type,
        document=untrusted(f"page_{digest.hexdigest()}", found.summary),
        evidence=found.evidence,
        title=found.title,
        content=found.content,
        tables=found.tables,
        fields=dict(found.fields),
        apis=found.apis,
        selectors=found.selectors,
        titles=found.titles,
        fetched_at=int(had_at.timestamp() * 1000),
        from_cache=response.from_cache,
        retry_after_ms=retry_after_ms(response.headers.get("retry-after"), response.received_at),
        retry_count=response.retry_count,
        network=response.exchanges if request.include_network else (),
    )
