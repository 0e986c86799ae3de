"""Answers FETCH in the cheapest tier."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, ClassVar

import anyio

from actors.actor import Actor, handles
from actors.extraction.extraction import Extraction
from actors.fetchers import page_answer
from actors.fetchers.extractor import ExtractionCache, Extractor
from actors.fetchers.intelligence.api_page import ApiPage
from actors.fetchers.intelligence.markdown_offer import ACCEPT, MarkdownLists, better_by_markdown
from actors.fetchers.logins import LOGIN_CALLS, Login, Logins
from actors.web.client import BUCKETS, WebClient, web_client
from actors.web.exchange import WebRequest, WebResponse
from bus import remaining_ms
from protocol import subjects
from protocol.domains import Foreseen, ForeseePage
from protocol.pages import Fetched, FetchPage
from protocol.patterns.api_calls import ApiAnswers, AskApi
from protocol.patterns.use import PatternCall
from protocol.subject_kinds import Bucket, Subject
from protocol.tiers import RenderTier

_TIER = RenderTier.INTELLIGENCE
_WITH_MARKDOWN = (("Accept", ACCEPT),)


@dataclass
class Intelligence(Actor):
    """Fetches pages over HTTP without running their scripts, and extracts from them."""

    name: ClassVar[str] = "fetchers.intelligence"
    publishes: ClassVar[tuple[Subject[Any], ...]] = LOGIN_CALLS
    buckets: ClassVar[tuple[Bucket[Any], ...]] = BUCKETS

    _extractor: Extractor = field(init=False, repr=False)
    _web: WebClient = field(init=False, repr=False)
    _logins: Logins = field(init=False, repr=False)
    _lists: MarkdownLists = field(init=False, repr=False)
    _cache: ExtractionCache = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load what extraction needs."""
        page_answer.warm()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold the HTTP client and the extractor."""
        self._logins = Logins(self.bus)
        self._lists = MarkdownLists()
        self._cache = ExtractionCache(self.settings.fetch_cache_bytes)
        async with web_client(self.settings, self.bus) as self._web, Extractor() as self._extractor:
            yield

    @handles(subjects.FETCH.at(tier=_TIER.value), at_once=32)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Fetch one page; a status of 400 and above is an answer like any other, the verifier judges it.

        Where the request says by which pattern, its API is asked and not the page.
        """
        with page_answer.faults_located(request.url, _TIER):
            if request.by is not None:
                return await self._by_pattern(request, request.by)
            response = await self._exchange(request)
            captured_at = datetime.fromtimestamp(response.received_at, UTC)
            extraction = await self._extract(request, response, captured_at)
            if self._welcomes_markdown(request):
                get, read = partial(self._exchange, request), partial(self._extract, request, captured_at=captured_at)
                extraction, response = await better_by_markdown(extraction, response, get, read, self._lists)
            await self._web.stored()
        return page_answer.fetched_as_sent(
            _TIER,
            response,
            extraction,
            fetched_at=int(captured_at.timestamp() * 1000),
            outlinks=request.outlinks,
            **page_answer.traffic(request, response.exchanges),
        )

    @handles(subjects.FORESEE, at_once=32)
    async def preview(self, request: ForeseePage) -> Foreseen:
        """Return what would happen to a page before its site is asked."""
        lease = await self._logins.lease(request.session, request.url, request.login)
        login = lease.login if lease is not None else Login()
        page = WebRequest(
            request.url,
            headers=_WITH_MARKDOWN if self.settings.markdown_offers else (),
            freshness=request.freshness,
            partition=login.partition,
            obey_robots=request.obey_robots,
        )
        return await self._web.preview(page, login.cookies)

    @handles(subjects.API_ASK, at_once=16)
    async def ask_api(self, request: AskApi) -> ApiAnswers:
        """Ask an API for its answers alone."""
        page = FetchPage(
            url=request.site,
            freshness=request.freshness,
            session=request.session,
            caller=request.caller,
            login=request.login,
            obey_robots=request.obey_robots,
        )
        call = PatternCall.of_requests(request.requests, request.slots)
        with page_answer.faults_located(request.site, _TIER):
            async with self._api_page(page, call) as api:
                api.as_text = request.as_text
                return await api.answered()

    async def _by_pattern(self, request: FetchPage, call: PatternCall) -> Fetched:
        await self._web.check_robots(request.url, obey_robots=request.obey_robots)
        async with self._api_page(request, call) as api:
            return await api.make()

    @asynccontextmanager
    async def _api_page(self, request: FetchPage, call: PatternCall) -> AsyncGenerator[ApiPage]:
        until = anyio.current_time() + page_answer.time_for_site(remaining_ms()) / 1000
        with page_answer.fetch_span(request.url):
            async with self._logins.use(request.session, request.url, request.login) as login:

                async def ask(api_request: WebRequest) -> WebResponse:
                    left_ms = round((until - anyio.current_time()) * 1000)
                    return await self._web.fetch(api_request, login.cookies, max(left_ms, 1))

                yield ApiPage(request, call, login, ask)

    def _welcomes_markdown(self, request: FetchPage) -> bool:
        return self.settings.markdown_offers and not (request.include_html or request.outlinks)

    async def _exchange(self, request: FetchPage, url: str = "") -> WebResponse:
        headers = _WITH_MARKDOWN if self._welcomes_markdown(request) else ()
        with page_answer.fetch_span(url or request.url) as current:
            async with self._logins.use(request.session, url or request.url, request.login) as login:
                page = page_answer.page_request(request, login.partition, url, headers)
                time_ms = page_answer.time_for_site(remaining_ms())
                response = await self._web.fetch(page, login.cookies, time_ms, ahead=True)
            page_answer.record_answer(current, response.url, response.status)
            return response

    async def _extract(self, request: FetchPage, response: WebResponse, captured_at: datetime) -> Extraction:
        """Extract from a page, unless that was done before: a site that confirms a page costs next to nothing."""
        source = page_answer.source_of(response, include_html=request.include_html)
        extraction = self._cache.get(source, captured_at)
        if extraction is None:
            extraction = await self._extractor.extract(source, captured_at)
            self._cache.keep(source, extraction)
        return extraction
