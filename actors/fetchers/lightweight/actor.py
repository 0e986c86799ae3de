"""Answers FETCH in the tier that runs a page's own scripts without a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

import anyio
from msgspec import structs

from actors.actor import Actor, handles
from actors.extraction.extraction import Extraction
from actors.extraction.parse.formats.kinds import BodyKind, kind_of
from actors.fetchers import page_answer
from actors.fetchers.extractor import Extractor
from actors.fetchers.lightweight import engine_process
from actors.fetchers.lightweight.cdp import CdpError, ClosedError
from actors.fetchers.lightweight.engine_process import StartError
from actors.fetchers.lightweight.network import CONFINED, MAX_BYTES
from actors.fetchers.lightweight.page import render
from actors.fetchers.lightweight.process_pool import ProcessPool
from actors.fetchers.lightweight.rendering import (
    RenderError,
    RenderFailure,
    RenderOptions,
    RequestTerms,
    Snapshot,
    fault_of,
    may_retry,
    spoils_process,
)
from actors.fetchers.lightweight.signals import observe, runs_scripts, shown_chars, signals
from actors.fetchers.lightweight.target import PageVisit
from actors.fetchers.logins import Login, Logins
from actors.fetchers.web.client import BUCKETS, WebClient, web_client
from actors.fetchers.web.exchange import WebResponse
from actors.settings import Settings
from bus import remaining_ms, span
from protocol import subjects
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.replicas import Absence
from protocol.sessions import OriginStorage
from protocol.subjects import Bucket
from protocol.tiers import RenderTier

_TIER = RenderTier.LIGHTWEIGHT
_READING_SECONDS = 0.5
"""The time that is reserved to read a page when it has to be ended."""

_LEAST_SECONDS = 0.3
"""With less, no page is rendered."""

_FIRST_ERROR = 400

_MISSING_SELECTOR = "selector_missing"
_WITHHELD = "cookies_withheld"


@dataclass
class Lightweight(Actor):
    """Fetches pages over HTTP, runs their scripts in an engine without pixels, and extracts from what they show."""

    name: ClassVar[str] = "fetchers.lightweight"
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.SESSIONS, *BUCKETS)

    _extractor: Extractor = field(init=False, repr=False)
    _web: WebClient = field(init=False, repr=False)
    _logins: Logins = field(init=False, repr=False)
    _pool: ProcessPool = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load what extraction needs."""
        page_answer.warm()

    @classmethod
    def unavailability(cls, settings: Settings) -> Absence | None:
        """Return why the engine cannot work here, if it cannot."""
        return engine_process.unavailability(settings)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold the HTTP client, the processes of the engine, and the extractor."""
        self._logins = Logins(self.bus)
        async with (
            web_client(self.settings, self.bus) as self._web,
            Extractor() as self._extractor,
            ProcessPool(self.settings) as self._pool,
        ):
            yield

    @handles(subjects.FETCH.at(tier=_TIER.value), at_once=16)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Fetch one page and run its scripts; a status of 400 and above is an answer like any other."""
        until = anyio.current_time() + page_answer.time_for_site(remaining_ms()) / 1000
        with page_answer.faults_located(request.url, _TIER):
            async with self._logins.use(request.session, request.url) as login:
                first = await self._first(request, login, until)
                if not _needs_engine(first):
                    return await self._static(request, first)
                if len(first.body) > MAX_BYTES:
                    return await self._static(request, first, cut_short="too_large")
                with span("show page"):
                    snapshot = await self._snapshot(request, first, login, until)
            if snapshot is None:
                return await self._static(request, first, cut_short="time")
            return await self._answer(request, first, snapshot)

    async def _first(self, request: FetchPage, login: Login, until: float) -> WebResponse:
        """Fetch the first document; nothing that redirects ever reaches the engine."""
        with page_answer.fetch_span(request.url) as current:
            left_ms = round((until - anyio.current_time()) * 1000)
            response = await self._web.fetch(page_answer.page_request(request), login.cookies, max(left_ms, 1))
            page_answer.record_answer(current, response.url, response.status)
            return response

    async def _answer(self, request: FetchPage, first: WebResponse, snapshot: Snapshot) -> Fetched:
        escalate = signals(observe(snapshot, shown_chars(first.body)))
        extraction = await self._extractor.extract_html(
            snapshot.content.html, snapshot.url, include_html=request.include_html
        )
        return _rendered(request, first, snapshot, extraction, escalate)

    async def _static(self, request: FetchPage, first: WebResponse, cut_short: str = "") -> Fetched:
        """Return the answer for a page whose scripts are not run: it has none, or `cut_short` says why."""
        source = page_answer.source_of(first, include_html=request.include_html)
        extraction = await self._extractor.extract(source, datetime.now(UTC))
        escalate = ("cut_short",) if cut_short else ()
        return page_answer.fetched_as_sent(
            _TIER,
            first,
            extraction,
            evidence=structs.replace(extraction.evidence, escalate=escalate, cut_short=cut_short),
            network=first.exchanges if request.include_network else (),
        )

    async def _snapshot(self, request: FetchPage, first: WebResponse, login: Login, until: float) -> Snapshot | None:
        """Render a page, once more if another may have harmed it; return None where the time does not suffice."""
        alone, once = False, request.single_shot
        while True:
            try:
                with anyio.fail_after(until - anyio.current_time()):
                    return await self._rendered_once(request, first, login, until, alone=alone)
            except TimeoutError:
                return None
            except RenderError as error:
                if once or alone or not may_retry(error.failure, alone=error.alone):
                    raise FaultError(fault_of(error.failure)) from error
                alone = True

    async def _rendered_once(
        self, request: FetchPage, first: WebResponse, login: Login, until: float, *, alone: bool
    ) -> Snapshot | None:
        try:
            async with self._pool.page(request.session or "", alone=alone) as page:
                options = self._options(request, until)
                if options.seconds < _LEAST_SECONDS:
                    return None
                try:
                    snapshot = await render(page.connection, PageVisit(first, login, self._web, options))
                except ClosedError as error:
                    failure = RenderFailure.JS_HANG if await page.outlived() else RenderFailure.RESOURCE_EXHAUSTED
                    raise RenderError(failure, alone=page.alone) from error
                except (RenderError, CdpError) as error:
                    page.mark_failed()
                    failure = error.failure if isinstance(error, RenderError) else RenderFailure.READ_FAILED
                    raise RenderError(failure, alone=page.alone) from error
                if spoils_process(snapshot.cut_short):
                    page.mark_failed()
        except StartError as error:
            raise RenderError(RenderFailure.NO_ENGINE) from error
        except ClosedError as error:
            raise RenderError(RenderFailure.RESOURCE_EXHAUSTED) from error
        _keep_storage(login, snapshot)
        return snapshot

    def _options(self, request: FetchPage, until: float) -> RenderOptions:
        seconds = until - anyio.current_time() - _READING_SECONDS
        return RenderOptions(
            terms=RequestTerms(
                profile=request.session or "",
                freshness=request.freshness,
                record=request.include_network,
                obey_robots=request.obey_robots,
                single_shot=request.single_shot,
            ),
            agent=self.settings.fetch_user_agent,
            seconds=min(seconds, self.settings.light_settle_ms / 1000),
            selector=request.wait_for_selector,
            scroll=request.scroll_to_load,
            console=request.include_console,
        )


def _keep_storage(login: Login, snapshot: Snapshot) -> None:
    storage = snapshot.storage
    if storage is None:
        return
    former = login.origins.get(storage.origin, OriginStorage(origin=storage.origin))
    if storage.local or storage.session or storage.origin in login.origins:
        login.origins[storage.origin] = structs.replace(
            former, local_storage=storage.local, session_storage=storage.session
        )


def _needs_engine(first: WebResponse) -> bool:
    """Return whether a page may show more when its scripts run; that of an error is answered as it came."""
    if first.status >= _FIRST_ERROR:
        return False
    return kind_of(first.body, first.content_type) is BodyKind.HTML and runs_scripts(first.body)


def _rendered(
    request: FetchPage, first: WebResponse, snapshot: Snapshot, extraction: Extraction, escalate: tuple[str, ...]
) -> Fetched:
    """Return the answer for a page whose scripts ran."""
    counters = snapshot.counters
    lacks = {_MISSING_SELECTOR: not snapshot.selector_found, CONFINED: counters.left_out, _WITHHELD: counters.withheld}
    missing = (name for name, lacking in lacks.items() if lacking)
    evidence = structs.replace(extraction.evidence, escalate=(*escalate, *missing), cut_short=snapshot.cut_short)
    return page_answer.fetched_as_sent(
        _TIER,
        first,
        extraction,
        status=snapshot.status,
        evidence=evidence,
        apis=page_answer.merge_apis(counters.apis, extraction.apis, by_browser=False),
        retry_count=first.retry_count + counters.retries,
        network=(*first.exchanges, *counters.exchanges) if request.include_network else (),
        console=snapshot.console,
        dialogs=snapshot.dialogs,
    )
