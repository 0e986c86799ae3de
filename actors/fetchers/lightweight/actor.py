"""Answers FETCH in the tier that runs a page's own scripts without a browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, ClassVar, Final

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
    GRACE_SECONDS,
    NAVIGATION_LOOP,
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
from actors.fetchers.logins import LOGIN_CALLS, Login, Logins
from actors.fetchers.sampling import ExchangeLog, Sampler
from actors.settings import Settings
from actors.web.client import BUCKETS, WebClient, web_client
from actors.web.exchange import WebResponse
from bus import remaining_ms, span
from bus.context import current_account
from bus.recording import AnswerForm, form_of, outside
from protocol import subjects
from protocol.faults import Code, FaultError, fault
from protocol.pages import Fetched, FetchPage
from protocol.patterns.sample import SAMPLES
from protocol.replicas import Absence
from protocol.sessions import OriginStorage
from protocol.subject_kinds import Bucket, Subject
from protocol.tiers import RenderTier

_TIER = RenderTier.LIGHTWEIGHT
_READING_SECONDS = 0.5
"""The time that is reserved to read a page when it has to be ended."""

_MARGIN_SECONDS = 0.05
"""How long before its time is over an engine that does not answer is given up, so that it is known why."""

_LEAST_SECONDS = 0.3
"""With less, no page is rendered."""

_FIRST_ERROR = 400

_UNANSWERED = "The page showed nothing within the time allowed: a request that it waits for was not answered."
_shown = form_of(Snapshot | RenderFailure)
SNAPSHOT: Final = AnswerForm[Snapshot | RenderFailure](
    lambda shown: _shown.write(structs.replace(shown, storage=None) if isinstance(shown, Snapshot) else shown),
    _shown.read,
)
"""How what an engine showed is written where conversations are recorded: without what the page has stored."""

_MISSING_SELECTOR = "selector_missing"
_WITHHELD = "cookies_withheld"


@dataclass
class Lightweight(Actor):
    """Fetches pages over HTTP, runs their scripts in an engine without pixels, and extracts from what they show."""

    name: ClassVar[str] = "fetchers.lightweight"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.PAGE_SAMPLED, *LOGIN_CALLS)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = BUCKETS
    purposes: ClassVar[tuple[str, ...]] = (SAMPLES,)

    _extractor: Extractor = field(init=False, repr=False)
    _web: WebClient = field(init=False, repr=False)
    _logins: Logins = field(init=False, repr=False)
    _pool: ProcessPool = field(init=False, repr=False)
    _sampler: Sampler = field(init=False, repr=False)

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
            Sampler(self.bus, self.settings.pattern_learning).open() as self._sampler,
        ):
            yield

    @handles(subjects.FETCH.at(tier=_TIER.value), at_once=16)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Fetch one page and run its scripts; a status of 400 and above is an answer like any other."""
        began = anyio.current_time()
        until, log = began + page_answer.time_for_site(remaining_ms()) / 1000, self._sampler.log()
        with page_answer.faults_located(request.url, _TIER):
            async with self._logins.use(request.session, request.url, request.login) as login:
                first = await self._first(request, login, until)
                if not _needs_engine(request, first):
                    return await self._static(request, first)
                if len(first.body) > MAX_BYTES:
                    return await self._static(request, first, cut_short="too_large")
                with span("show page"):
                    show = partial(self._snapshot, request, first, login, until, log)
                    withhold = request.session is not None
                    snapshot = await outside("engine.show", request, show, SNAPSHOT, withhold=withhold)
                await self._web.stored()
            if isinstance(snapshot, RenderFailure):
                return await self._unrendered(request, first, snapshot)
            page = await self._answer(request, first, snapshot)
            return self._sampler.sampled(
                request,
                page,
                login,
                html=snapshot.content.html,
                headers=first.headers.multi_items(),
                log=log,
                shown_ms=round((anyio.current_time() - began) * 1000),
            )

    async def _first(self, request: FetchPage, login: Login, until: float) -> WebResponse:
        """Fetch the first document; nothing that redirects ever reaches the engine."""
        with page_answer.fetch_span(request.url) as current:
            left_ms = round((until - anyio.current_time()) * 1000)
            response = await self._web.fetch(
                page_answer.page_request(request, login.partition), login.cookies, max(left_ms, 1)
            )
            page_answer.record_answer(current, response.url, response.status)
            return response

    async def _answer(self, request: FetchPage, first: WebResponse, snapshot: Snapshot) -> Fetched:
        escalate = signals(observe(snapshot, shown_chars(first.body)))
        if snapshot.cut_short == NAVIGATION_LOOP:
            raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS, page_answer.LEADS_ON))
        extraction = await self._extractor.extract_html(
            snapshot.content.html, snapshot.url, include_html=request.include_html
        )
        if len(snapshot.dialogs) >= page_answer.MANY_DIALOGS and page_answer.is_little(extraction):
            raise FaultError(fault(Code.BROWSER_PAGE_HUNG, page_answer.CALLS_UP))
        if snapshot.cut_short == "time" and snapshot.unanswered and not extraction.evidence.content_length:
            raise FaultError(fault(Code.NETWORK_TIMEOUT, _UNANSWERED))
        return _rendered(request, first, snapshot, extraction, escalate)

    async def _static(self, request: FetchPage, first: WebResponse, cut_short: str = "") -> Fetched:
        """Return the answer for a page whose scripts are not run: it has none, or `cut_short` says why."""
        source = page_answer.source_of(first, include_html=request.include_html)
        extraction = await self._extractor.extract(source, datetime.now(UTC))
        evidence = structs.replace(
            extraction.evidence,
            escalate=("cut_short",) if cut_short else (),
            cut_short=cut_short,
            lacks_awaited=request.wait_for_selector is not None,
        )
        return page_answer.fetched_as_sent(
            _TIER,
            first,
            extraction,
            evidence=evidence,
            outlinks=request.outlinks,
            **page_answer.traffic(request, first.exchanges),
        )

    async def _unrendered(self, request: FetchPage, first: WebResponse, failure: RenderFailure) -> Fetched:
        """Return the page as it was sent where it had no time to be rendered; of one that hangs it must be enough.

        Raises:
            FaultError: BROWSER_PAGE_HUNG or PAGE_CRASHED where it is not.
        """
        began = failure not in (RenderFailure.NO_TIME, RenderFailure.NO_ENGINE)
        page = await self._static(request, first, cut_short=page_answer.HUNG if began else "time")
        if began and page_answer.is_little(page):
            raise FaultError(fault_of(failure))
        return page

    async def _snapshot(
        self, request: FetchPage, first: WebResponse, login: Login, until: float, log: ExchangeLog | None
    ) -> Snapshot | RenderFailure:
        """Render a page, once more if another may have harmed it; return what was wrong where the time is over."""
        failed = RenderFailure.NO_TIME
        while True:
            alone = failed is not RenderFailure.NO_TIME
            if log is not None:
                log.restart()
            visit = PageVisit(first, login, self._web, self._options(request, login, until), log)
            try:
                with anyio.fail_after(until - anyio.current_time()):
                    return await self._rendered_once(request, visit, until, alone=alone)
            except TimeoutError:
                return failed
            except RenderError as error:
                if error.failure is RenderFailure.NO_TIME:
                    return failed
                if anyio.current_time() + _LEAST_SECONDS > until:
                    return error.failure
                if request.single_shot or alone or not may_retry(error.failure, alone=error.alone):
                    raise FaultError(fault_of(error.failure)) from error
                failed = error.failure

    async def _rendered_once(self, request: FetchPage, visit: PageVisit, until: float, *, alone: bool) -> Snapshot:
        login = visit.login
        try:
            own = current_account()
            name = own.name if own else ""
            async with self._pool.page(login.partition, alone=alone, account=name) as page:
                options = self._options(request, login, until)
                if options.seconds < _LEAST_SECONDS:
                    raise RenderError(RenderFailure.NO_TIME)
                try:
                    snapshot = await render(page.connection, structs.replace(visit, options=options))
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

    def _options(self, request: FetchPage, login: Login, until: float) -> RenderOptions:
        left = until - anyio.current_time()
        seconds = min(left - _READING_SECONDS, self.settings.light_settle_ms / 1000)
        return RenderOptions(
            terms=RequestTerms(
                partition=login.partition,
                freshness=request.freshness,
                record=request.include_network or request.for_history,
                obey_robots=request.obey_robots,
                single_shot=request.single_shot,
            ),
            agent=self.settings.fetch_user_agent,
            seconds=seconds,
            grace_seconds=min(left - seconds - _MARGIN_SECONDS, GRACE_SECONDS),
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


def _needs_engine(request: FetchPage, first: WebResponse) -> bool:
    """Return whether a page may show more when its scripts run, or an element of it is asked for.

    That of an error is answered as it came.
    """
    if first.status >= _FIRST_ERROR or kind_of(first.body, first.content_type) is not BodyKind.HTML:
        return False
    return request.wait_for_selector is not None or runs_scripts(first.body)


def _rendered(
    request: FetchPage, first: WebResponse, snapshot: Snapshot, extraction: Extraction, escalate: tuple[str, ...]
) -> Fetched:
    """Return the answer for a page whose scripts ran."""
    counters = snapshot.counters
    lacks = {_MISSING_SELECTOR: not snapshot.selector_found, CONFINED: counters.left_out, _WITHHELD: counters.withheld}
    missing = (name for name, lacking in lacks.items() if lacking)
    evidence = structs.replace(
        extraction.evidence,
        escalate=(*escalate, *missing),
        cut_short=snapshot.cut_short,
        lacks_awaited=not snapshot.selector_found,
    )
    return page_answer.fetched_as_sent(
        _TIER,
        first,
        extraction,
        status=snapshot.status,
        evidence=evidence,
        apis=page_answer.merge_apis(counters.apis, extraction.apis, by_browser=False),
        retry_count=first.retry_count + counters.retries,
        console=snapshot.console,
        dialogs=snapshot.dialogs,
        outlinks=request.outlinks,
        **page_answer.traffic(request, (*first.exchanges, *counters.exchanges)),
    )
