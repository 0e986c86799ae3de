"""The playwright actor: fetches pages with a real browser, and performs operations in browser sessions.

The way of a fetch: `fetching.py`, `browser.py` (its context), `tab.py`, `preparation.py`, `reading.py`.

The way of an operation: `session_router.py` (which replica), `replica_sessions.py` (which session, and its record),
`operations/dispatch.py` (which tab, and its turn), the file of its family in `operations/`, `open_session.py` and
`open_tab.py` (what is open), `tab.py` (how to drive it), `view/` (what is shown of the page).
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import anyio
import anyio.to_thread
import structlog

from actors import redact
from actors.actor import Actor, Handler, handles
from actors.fetchers import page_answer
from actors.fetchers.extractor import Extractor
from actors.fetchers.logins import LOGIN_CALLS, Logins
from actors.fetchers.playwright import browser_sandbox, chromium
from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.fetching import PageFetcher
from actors.fetchers.playwright.operations import OperationDependencies
from actors.fetchers.playwright.printing import print_page
from actors.fetchers.playwright.priorities import Priorities
from actors.fetchers.playwright.session_router import SessionRouter
from actors.fetchers.playwright.tool_calls import ToolCalls
from actors.fetchers.sampling import Sampler
from actors.settings import Settings
from actors.web.client import BUCKETS, web_client
from bus import remaining_ms, span
from bus.seal import UnsealError
from bus.stores import FileStore
from protocol import subjects
from protocol.acting.tree import AskTree, PageTree
from protocol.browsers.operations import TYPING
from protocol.browsers.sessions import AskBrowser, BrowserAnswer, BrowserList, ListBrowsers
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.patterns.sample import SAMPLES
from protocol.policy import AskField, FieldFacts, RunTool, ToolResult
from protocol.replicas import Absence
from protocol.subject_kinds import Bucket, Objects, Subject
from protocol.texts import PrintedPage, PrintPage
from protocol.tiers import RenderTier
from protocol.tools.browser import PLAYWRIGHT

log = structlog.stdlib.get_logger()

HELD = "browser_held"

PAGES_AT_ONCE = 4
SESSIONS_AT_ONCE = 32
PRINTS_AT_ONCE = 2


@dataclass
class Playwright(Actor):
    """Serves FETCH by a real browser, which runs the scripts of pages, and the browser sessions of all replicas."""

    name: ClassVar[str] = "fetchers.playwright"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.BROWSER_AT, subjects.PAGE_SAMPLED, *LOGIN_CALLS)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.BROWSER_SESSIONS, *BUCKETS)
    stores: ClassVar[tuple[Objects, ...]] = (subjects.CAPTURES, subjects.VISIT_SCREENSHOTS)
    purposes: ClassVar[tuple[str, ...]] = (TYPING, SAMPLES)

    browser: Browser = field(init=False, repr=False)
    _fetcher: PageFetcher = field(init=False, repr=False)
    _logins: Logins = field(init=False, repr=False)
    _router: SessionRouter = field(init=False, repr=False)
    _tools: ToolCalls = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load what extraction needs."""
        page_answer.warm()

    @classmethod
    def unavailability(cls, settings: Settings) -> Absence | None:
        """Return why no browser can be started, if so."""
        return chromium.unavailability(settings)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Open the browser, which is started at the first request, and the extractor beside the loop."""
        self._logins = Logins(self.bus)
        sandbox = await anyio.to_thread.run_sync(browser_sandbox.of_this_machine, self.settings.browser_sandbox)
        if isinstance(sandbox, browser_sandbox.BrowserSandbox):
            (log.info if sandbox.whole else log.warning)(HELD, sandbox=sandbox.detail)
        async with (
            web_client(self.settings, self.bus) as web,
            Extractor() as extractor,
            Browser(self.settings) as self.browser,
            Sampler(self.bus, self.settings.pattern_learning).open() as sampler,
        ):
            self._fetcher = PageFetcher(self.settings, self.browser, web, extractor, self.bus.objects, sampler)
            dependencies = OperationDependencies(self.settings, web, self._store, self._unseal)
            self._router = SessionRouter(self.bus, self.browser, self._logins, dependencies, self.settings)
            self._tools = ToolCalls(self._router)
            async with self._router.open(), anyio.create_task_group() as tasks:
                tasks.start_soon(Priorities(os.getpid(), lambda: self.browser.tabs > 0).watch)
                yield
                tasks.cancel_scope.cancel()

    def room(self, handler: Handler) -> int:
        """Return how many calls run at once: of fetches, what the settings say."""
        return self.settings.browser_pages if handler.method == "fetch" else handler.at_once

    async def _store(self) -> FileStore:
        return await self.bus.objects(subjects.CAPTURES)

    def _unseal(self, sealed: bytes, place: str) -> str:
        """Unseal what was sealed for a place.

        Raises:
            UnsealError: it was not, or not by the key of this Weft.
        """
        if self.bus.seal is None:
            raise UnsealError(place)
        return self.bus.seal.unseal(sealed, place).decode()

    @handles(subjects.FETCH.at(tier=RenderTier.PLAYWRIGHT.value), at_once=PAGES_AT_ONCE)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Fetch one page; a status of 400 and above is a result like any other, which the verifier judges."""
        attributes = {"http.request.method": "GET", "url.full": redact.url(request.url)}
        with span("GET", kind="client", attributes=attributes) as get:
            try:
                async with self._logins.use(request.session, request.url, request.login) as session:
                    page = await self._fetcher.fetch(request, session, remaining_ms())
            except FaultError as error:
                get.fail(error.fault.code.value)
                raise FaultError(error.fault.at(url=request.url, tier=RenderTier.PLAYWRIGHT.value)) from error
            get.set_attribute("server.address", redact.host(page.final_url))
            get.set_attribute("http.response.status_code", page.status)
            return page

    @handles(subjects.BROWSER, at_once=SESSIONS_AT_ONCE)
    async def ask_session(self, request: AskBrowser) -> BrowserAnswer:
        """Perform an operation in a browser session, in whichever replica owns it."""
        return await self._router.perform(request)

    @handles(subjects.BROWSER_AT, at_once=SESSIONS_AT_ONCE)
    async def ask_session_here(self, request: AskBrowser) -> BrowserAnswer:
        """Perform an operation in a browser session that this replica owns."""
        return await self._router.perform_here(request)

    @handles(subjects.BROWSER_FIELD, at_once=SESSIONS_AT_ONCE)
    async def describe_field(self, request: AskField) -> FieldFacts:
        """Say what an element of a page is, for the gate."""
        return await self._tools.describe(request)

    @handles(subjects.BROWSER_TREE, at_once=SESSIONS_AT_ONCE)
    async def read_tree(self, request: AskTree) -> PageTree:
        """Return what there is to act on in a page."""
        return await self._tools.read_tree(request)

    @handles(subjects.TOOL.at(actor=PLAYWRIGHT), at_once=SESSIONS_AT_ONCE)
    async def run_tool(self, request: RunTool) -> ToolResult:
        """Run a tool of a browser that the gate has allowed."""
        return await self._tools.run(request)

    @handles(subjects.BROWSERS, at_once=SESSIONS_AT_ONCE)
    async def list_sessions(self, request: ListBrowsers) -> BrowserList:
        """List the browser sessions of all replicas."""
        return await self._router.listed(request.caller)

    @handles(subjects.PRINT, at_once=PRINTS_AT_ONCE)
    async def print(self, request: PrintPage) -> PrintedPage:
        """Print a page of our own; the browser reaches nothing for it.

        Raises:
            FaultError: BROWSER_UNAVAILABLE, PAGE_CRASHED, NETWORK_TIMEOUT or CONTENT_TOO_LARGE.
        """
        return PrintedPage(pdf=await print_page(self.browser, request.html))
