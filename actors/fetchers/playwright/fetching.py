"""Fetches one page with the browser: navigates, waits until it is stable, reads it, takes captures, and extracts."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import anyio
import httpx2
import structlog
from msgspec import Struct, structs
from playwright.async_api import Error

from actors.extraction.extraction import Extraction
from actors.extraction.page import extract, extract_html
from actors.extraction.parse.formats.kinds import check_shown
from actors.fetchers import page_answer
from actors.fetchers.extractor import Extractor
from actors.fetchers.logins import Login
from actors.fetchers.playwright import captures, faults, preparation, reading
from actors.fetchers.playwright.browser import Browser, SessionContext
from actors.fetchers.playwright.captures import CaptureStore
from actors.fetchers.playwright.stability import FOR_FETCH
from actors.fetchers.playwright.tab import OVERTIME, Tab, new_tab
from actors.fetchers.sampling import Sampler
from actors.fetchers.script_engine import evaluate
from actors.settings import Settings
from actors.ungrouped import alongside
from actors.web import guard
from actors.web.client import WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest
from actors.web.page_redirects import PageRedirect, page_redirect
from actors.web.rate_limits import retry_after_ms
from bus import TransportError
from bus.clock import now_ms
from bus.stores import FileStore
from protocol.browse import lacks_awaited
from protocol.faults import Code, Fault, FaultError, fault
from protocol.pages import Captured, Fetched, FetchPage, Screenshot
from protocol.subject_kinds import Objects
from protocol.subjects import CAPTURES, VISIT_SCREENSHOTS
from protocol.tiers import RenderTier

log = structlog.stdlib.get_logger()

STORAGE_NOT_KEPT = "storage_not_kept"

MISSING_SELECTOR = "wait_for_selector"
MISSING_ELEMENT = "screenshot_selector"
TOO_LONG = "size"

_RESERVE_MS = 1_500
"""A tenth of the time, so much at most, is kept for reading the page and for the answer."""

_REFRESHES = (
    "[...document.querySelectorAll('base, meta[http-equiv=refresh i]')].map((one) => one.outerHTML).join('')"
    ".replace(/^(<base[^>]*>)+$/, '').slice(0, 10000)"
)
"""The elements by which a page leads elsewhere."""

_FLOOD = 100_000
"""So many elements that show little are those of a page that fills itself without end."""

_WAITS_IN_VAIN = "The page showed nothing within the time allowed: what it waits for does not come."

_READ_SHARE = 4
_READ_MS = 1_000
"""The time that is kept for reading a page that lacks the awaited element: a part of what is left, and a bound."""

_AGAIN_MS = 5_000
_RECORD_S = 0.5
"""How long bodies that are still being read for the record are waited for."""

_VISIT_SCREENSHOT = Screenshot(form="jpeg", quality=60)
"""What the window shows, for the history."""

_VISIT_SCREENSHOT_S = 1.0
"""How long a page may take to be drawn for that, in seconds."""

_OK = 200
_EMPTY = frozenset({204, 205})


class PageFetcher(Struct, frozen=True):
    """Fetches pages with one browser; `web` limits the rate of each host, `objects` opens where captures are kept.

    What is to be learned of a page goes to `sampler`.
    """

    settings: Settings
    browser: Browser
    web: WebClient
    extractor: Extractor
    objects: Callable[[Objects], Awaitable[FileStore]]
    sampler: Sampler

    async def fetch(self, request: FetchPage, session: Login, remaining_ms: int | None) -> Fetched:
        """Fetch one page; its cookies and storage are saved into `session`.

        Raises:
            FaultError: NETWORK_*, SECURITY_*, HTTP_TOO_MANY_REDIRECTS, PAGE_CRASHED, BROWSER_*, CONTENT_*,
                RATE_LIMIT_EXCEEDED or BLOCKED_BY_ROBOTS where it may not be fetched now or at all, or
                ELEMENT_NOT_FOUND where it lacks the element that was waited for, and is empty or not read in time;
                VALIDATION_INVALID_REQUEST where no element can be waited for by that selector.
        """
        guard.check_url(request.url)
        visit: _Visit | None = None
        left_ms = page_answer.time_for_site(remaining_ms, _RESERVE_MS)
        try:
            with anyio.fail_after(page_answer.time_for_site(remaining_ms, _RESERVE_MS // 4) / 1000):
                deadline_s = time.monotonic() + left_ms / 1000
                async with (
                    self.web.turn(request.url, left_ms, obey_robots=request.obey_robots),
                    self.browser.context(session) as context,
                    new_tab(
                        context,
                        block=self._blocks(request),
                        bodies=request.include_network,
                        samples=self.sampler.log(),
                    ) as tab,
                ):
                    attempts = context.proxy.single_attempts
                    visit = _Visit(self, request, context, tab, deadline_s)
                    with attempts.limit(request.url) if request.single_shot else nullcontext():
                        return await visit.run()
        except TimeoutError as error:
            raise FaultError(visit.overdue() if visit else fault(Code.NETWORK_TIMEOUT)) from error
        except Error as error:
            raise FaultError(visit.tab.gone if visit else faults.crashed(0)) from error

    def _blocks(self, request: FetchPage) -> bool:
        """Whether images, fonts, media and trackers are left out."""
        is_shown = request.screenshot is not None or request.pdf
        return self.settings.browser_block == "always" or (self.settings.browser_block == "unseen" and not is_shown)


@dataclass
class _Visit:
    """The visit of one page; `cut_short` is the first limit that it met, `is_file` that no browser shows it.

    `has_awaited` is true as soon as the element is there that is waited for.
    """

    fetcher: PageFetcher
    request: FetchPage
    context: SessionContext
    tab: Tab
    deadline_s: float
    cut_short: str = ""
    is_file: bool = False
    has_awaited: bool = False
    html: str = ""
    screenshot: str = ""
    started_s: float = field(default_factory=time.monotonic)

    async def run(self) -> Fetched:
        """Navigate, read and extract."""
        self.is_file = await self._navigate()
        if not self.is_file and self._is_markup:
            await self._prepare()
        if self.is_file or not self._is_markup:
            extraction = await self._extract_body(as_file=self.is_file)
            taken = await self._captures()
        else:
            extraction, taken = await self._extract_page()
        await self._finish()
        return self._answer(extraction, taken)

    def overdue(self) -> Fault:
        """Return what a visit is told as whose time is over."""
        if self.cut_short == MISSING_SELECTOR:
            return self._lacks_element("and there was no time left to read it without")
        return fault(Code.BROWSER_PAGE_HUNG if self.cut_short == page_answer.HUNG else Code.NETWORK_TIMEOUT)

    def _lacks_element(self, what_else: str) -> Fault:
        return lacks_awaited(f"The page has no element {self.request.wait_for_selector}, {what_else}.")

    @property
    def _is_markup(self) -> bool:
        main = self.tab.recorder.main
        return main is None or reading.is_markup(main.headers.get("content-type", ""))

    async def _navigate(self) -> bool:
        """Navigate to the address; returns whether it is a file that the browser does not show."""
        try:
            response = await self.tab.go(self.request.url, self.deadline_s)
        except FaultError:
            main = self.tab.recorder.main
            if main is not None and main.status in _EMPTY:
                return False
            raise
        limit = self.fetcher.settings.fetch_max_redirects
        if response is not None and faults.redirects(response.request) > limit:
            raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS))
        return response is None

    async def _prepare(self) -> None:
        """Wait until the page is stable, and have it show everything that the request asks for."""
        limit, framed = await self._settle(), set[str]()
        while not limit and (redirect := await self._led_to()) and redirect.url not in framed:
            if redirect.framed:
                framed.add(redirect.url)  # once: a frame by itself may lead back to the page that it is part of
            left_ms = max(round((self.deadline_s - time.monotonic()) * 1000), 1)
            async with self.fetcher.web.turn(redirect.url, left_ms, obey_robots=self.request.obey_robots):
                self.is_file = await self.tab.go(redirect.url, self.deadline_s) is None
                if self.is_file:
                    return
                limit = await self._settle()
        self._cut(limit)
        if self.cut_short == page_answer.HUNG:
            await self.tab.stop()
            return
        if self.request.dismiss_overlays:
            await preparation.dismiss_overlays(self.tab, self.deadline_s)
        if self.request.wait_for_selector is not None:
            await self._wait_for(self.request.wait_for_selector)
        if self.request.scroll_to_load:
            self._cut(await preparation.scroll_to_load(self.tab, self.deadline_s))

    async def _settle(self) -> str:
        """Wait until the page is stable; returns the limit that ended the wait before, or "".

        Raises:
            FaultError: HTTP_TOO_MANY_REDIRECTS where it leads on and on.
        """
        limit = await self.tab.settle(FOR_FETCH, self.deadline_s)
        if self.tab.recorder.documents > self.fetcher.settings.fetch_max_redirects:
            raise FaultError(fault(Code.HTTP_TOO_MANY_REDIRECTS, page_answer.LEADS_ON))
        return limit

    async def _led_to(self) -> PageRedirect | None:
        """Return where the page leads after a while by itself, which nobody need wait for, or by a frame that is it."""
        elements = await self.tab.run(_REFRESHES, str)
        refresh = self.tab.recorder.main.headers.get("refresh", "") if self.tab.recorder.main else ""
        source = (elements or "").encode("utf-8", "replace") or await reading.small_source(self.tab)
        return page_redirect(source, self.tab.page.url, refresh)

    async def _wait_for(self, selector: str) -> None:
        left_ms = (self.deadline_s - time.monotonic()) * 1000
        wait_ms = max(left_ms - min(left_ms / _READ_SHARE, _READ_MS), 1)
        try:
            await self.tab.page.wait_for_selector(selector, state="attached", timeout=wait_ms)
        except Error as error:
            if faults.is_crash(error):
                raise
            if not faults.is_timeout(error):
                message = f"{selector} is no selector that the browser understands"
                raise faults.invalid("options.waitForSelector", message) from error
            self._cut(MISSING_SELECTOR)
        else:
            self.has_awaited = True
            self._cut(await self.tab.settle(FOR_FETCH, self.deadline_s))

    async def _extract_page(self) -> tuple[Extraction, tuple[Captured, ...]]:
        self.tab.check()
        await self._check_whole()
        page = await reading.html_of(self.tab, self.fetcher.settings.fetch_max_bytes)
        self._cut(TOO_LONG if page.cut else "")
        self.html = page.html
        main = self.tab.recorder.main
        check_shown(page.html, main.headers.get("content-type", "") if main else "")
        taken = await self._captures()
        extracted = self.fetcher.extractor.run(
            extract_html,
            page.html,
            self.tab.page.url,
            include_html=self.request.include_html,
            captured_at=datetime.now(UTC),
            evaluate=evaluate,
        )
        extraction = await (alongside(self._keep_screenshot, extracted) if self.request.for_history else extracted)
        if page_answer.is_little(extraction):
            self._check_alive(page.elements)
        if self.cut_short == OVERTIME and not (extraction.evidence.content_length and self.tab.recorder.whole):
            raise FaultError(fault(Code.NETWORK_TIMEOUT, _WAITS_IN_VAIN))
        if self.cut_short == MISSING_SELECTOR and not extraction.evidence.content_length:
            raise FaultError(self._lacks_element("nor anything else"))
        return extraction, taken

    async def _check_whole(self) -> None:
        """Ask once more for a document that seems to be cut off: a browser shows the half of what was compressed.

        Raises:
            FaultError: NETWORK_CONNECTION_FAILED where it is half indeed.
        """
        main = self.tab.recorder.main
        if main is None or self.request.single_shot or self.cut_short or not await reading.may_be_half(main):
            return
        left_ms = round((self.deadline_s - time.monotonic()) * 1000)
        cookies = Jar()
        cookies.load(self.context.session.cookies.export())
        again = WebRequest(main.url, partition=self.context.session.partition, sub_resource=True)
        try:
            await self.fetcher.web.fetch(again, cookies, max(min(left_ms, _AGAIN_MS), 1))
        except FaultError as error:
            if isinstance(error.__cause__, httpx2.DecodingError):
                raise

    def _check_alive(self, elements: int) -> None:
        """Raise where a page that shows little never ends what it does.

        Raises:
            FaultError: BROWSER_PAGE_HUNG.
        """
        if self.tab.recorder.many_dialogs:
            raise FaultError(fault(Code.BROWSER_PAGE_HUNG, page_answer.CALLS_UP))
        if elements > _FLOOD:
            raise FaultError(fault(Code.BROWSER_PAGE_HUNG, "The page adds elements to itself without end."))
        if self.cut_short == page_answer.HUNG:
            raise FaultError(fault(Code.BROWSER_PAGE_HUNG))

    async def _extract_body(self, *, as_file: bool) -> Extraction:
        limit = self.fetcher.settings.fetch_max_bytes
        body = await reading.body_of(self.tab, limit, self.deadline_s, as_file=as_file)
        return await self.fetcher.extractor.run(
            extract,
            body.data,
            body.content_type,
            body.url,
            include_html=self.request.include_html,
            captured_at=datetime.now(UTC),
            evaluate=evaluate,
            clock=time.thread_time,
        )

    async def _captures(self) -> tuple[Captured, ...]:
        """Take and store what the request asks for, and what the page had the browser download."""
        options, pdf, downloads = self.request.screenshot, self.request.pdf, self.tab.recorder.downloads
        if options is None and not pdf and not downloads:
            return ()
        store = await self._store(CAPTURES)
        taken: list[Captured] = []
        if options is not None:
            taken += await self._screenshot(store, options)
        if pdf:
            data = await self.tab.page.pdf(print_background=True)
            taken += await store.save("pdf", data, "application/pdf")
        for download in downloads:
            taken += await store.save_download(download, self.deadline_s - time.monotonic())
        return tuple(taken)

    async def _keep_screenshot(self) -> None:
        """Take the picture that the history has of the page, while its text is extracted; without one it does, too."""
        with anyio.move_on_after(_VISIT_SCREENSHOT_S), suppress(Error, FaultError, TransportError):
            data = await captures.screenshot(self.tab.page, _VISIT_SCREENSHOT)
            store = await self._store(VISIT_SCREENSHOTS)
            kept = await store.save("screenshot", data, f"image/{_VISIT_SCREENSHOT.form}")
            self.screenshot = kept[0].name if kept else ""

    async def _store(self, store: Objects) -> CaptureStore:
        return CaptureStore(await self.fetcher.objects(store), self.fetcher.settings.fetch_max_bytes, "")

    async def _screenshot(self, store: CaptureStore, options: Screenshot) -> tuple[Captured, ...]:
        try:
            data = await captures.screenshot(self.tab.page, options)
        except Error as error:
            if faults.is_crash(error):
                raise
            self._cut(MISSING_ELEMENT)
            return ()
        return await store.save("screenshot", data, f"image/{options.form}")

    async def _finish(self) -> None:
        """Wait for what is still being recorded, and save what the page has changed of a saved login."""
        with anyio.move_on_after(_RECORD_S):
            await self.tab.recorder.finish()
        if self.context.session.profile is None:
            return
        try:
            await self.context.save()
        except Error as error:
            log.warning(STORAGE_NOT_KEPT, reason=type(error).__name__)

    def _cut(self, limit: str) -> None:
        self.cut_short = self.cut_short or limit

    def _answer(self, extraction: Extraction, taken: tuple[Captured, ...]) -> Fetched:
        recorder, request = self.tab.recorder, self.request
        headers = recorder.main.headers if recorder.main else {}
        page = page_answer.fetched(
            RenderTier.PLAYWRIGHT,
            extraction,
            status=recorder.main.status if recorder.main else _OK,
            content_type=headers.get("content-type", ""),
            headers=headers.items(),
            evidence=structs.replace(
                extraction.evidence,
                cut_short=self.cut_short,
                lacks_awaited=request.wait_for_selector is not None and not self.has_awaited,
            ),
            apis=page_answer.merge_apis(recorder.calls, extraction.apis, by_browser=True),
            fetched_at=now_ms(),
            retry_after_ms=retry_after_ms(headers.get("retry-after"), time.time()),
            console=tuple(recorder.lines) if request.include_console else (),
            captures=taken,
            screenshot=self.screenshot,
            dialogs=tuple(recorder.dialogs),
            outlinks=request.outlinks,
            **page_answer.traffic(request, recorder.exchanges),
        )
        return self.fetcher.sampler.sampled(
            request,
            page,
            self.context.session,
            html=self.html,
            headers=headers.items(),
            log=recorder.samples,
            shown_ms=round((time.monotonic() - self.started_s) * 1000),
        )
