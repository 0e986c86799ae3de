"""Answers FETCH in the dearest tier: a real browser."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from actors.actor import Actor, Handler, handles
from actors.fetchers import answering
from actors.fetchers.extracting import Extractor
from actors.fetchers.playwright import chromium
from actors.fetchers.playwright.browser import Browser
from actors.fetchers.playwright.captures import Store
from actors.fetchers.playwright.fetching import Fetching
from actors.fetchers.playwright.operations import Means
from actors.fetchers.playwright.sessions import BrowserSessions
from actors.fetchers.sessions import Sessions
from actors.fetchers.web import redact
from actors.fetchers.web.shared import BUCKETS, web_client
from bus import remaining_ms, span
from bus.seal import UnsealError
from protocol import subjects
from protocol.browsers.sessions import AskBrowser, BrowserAnswer, BrowserList, ListBrowsers
from protocol.faults import FaultError
from protocol.pages import Fetched, FetchPage
from protocol.replicas import Absence
from protocol.subjects import Bucket, Objects, Subject
from protocol.tiers import RenderTier

PAGES_AT_ONCE = 4
SESSIONS_AT_ONCE = 32


@dataclass
class Playwright(Actor):
    """Gets pages with a real browser, which runs their scripts, and extracts from what it shows."""

    name: ClassVar[str] = "fetchers.playwright"
    publishes: ClassVar[tuple[Subject[Any], ...]] = (subjects.BROWSER_AT,)
    buckets: ClassVar[tuple[Bucket[Any], ...]] = (subjects.SESSIONS, subjects.BROWSER_SESSIONS, *BUCKETS)
    stores: ClassVar[tuple[Objects, ...]] = (subjects.CAPTURES,)

    browser: Browser = field(init=False, repr=False)
    _fetching: Fetching = field(init=False, repr=False)
    _sessions: Sessions = field(init=False, repr=False)
    _browser_sessions: BrowserSessions = field(init=False, repr=False)

    @classmethod
    def warm(cls) -> None:
        """Load what extraction needs."""
        answering.warm()

    @classmethod
    def unavailability(cls, settings: chromium.ChromiumSettings) -> Absence | None:
        """Say why no browser can be started, if so."""
        return chromium.absence(settings)

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        """Hold the browser, which is started when a page is first asked for, and what reads pages beside the loop."""
        self._sessions = Sessions(self.bus)
        async with (
            web_client(self.settings, self.bus) as web,
            Extractor() as extractor,
            Browser(self.settings) as self.browser,
        ):
            self._fetching = Fetching(self.settings, self.browser, web, extractor, self._store)
            means = Means(self.settings, web, self._store, self._unseal)
            self._browser_sessions = BrowserSessions(self.bus, self.browser, self._sessions, means, self.settings)
            async with self._browser_sessions.open():
                yield

    def room(self, handler: Handler) -> int:
        """Say how many times at once: as many pages as the operator has chosen."""
        return self.settings.browser_pages if handler.method == "fetch" else handler.at_once

    async def _store(self) -> Store:
        return await self.bus.objects(subjects.CAPTURES)

    def _unseal(self, sealed: bytes, place: str) -> str:
        """Open what was sealed for a place.

        Raises:
            UnsealError: it was not, or not by the key of this Weft.
        """
        if self.bus.seal is None:
            raise UnsealError(place)
        return self.bus.seal.unseal(sealed, place).decode()

    @handles(subjects.FETCH.at(tier=RenderTier.PLAYWRIGHT.value), at_once=PAGES_AT_ONCE)
    async def fetch(self, request: FetchPage) -> Fetched:
        """Get one page; a status of 400 and above is an answer like any other, the verifier judges it."""
        attributes = {"http.request.method": "GET", "url.full": redact.url(request.url)}
        with span("GET", kind="client", attributes=attributes) as seen:
            try:
                async with self._sessions.use(request.session, request.url) as session:
                    page = await self._fetching.fetch(request, session, remaining_ms())
            except FaultError as error:
                seen.fail(error.fault.code.value)
                raise FaultError(error.fault.at(url=request.url, tier=RenderTier.PLAYWRIGHT.value)) from error
            seen.set_attribute("server.address", redact.host(page.final_url))
            seen.set_attribute("http.response.status_code", page.status)
            return page

    @handles(subjects.BROWSER, at_once=SESSIONS_AT_ONCE)
    async def ask_session(self, asked: AskBrowser) -> BrowserAnswer:
        """Do something in a browser session, wherever it lives."""
        return await self._browser_sessions.ask(asked)

    @handles(subjects.BROWSER_AT, at_once=SESSIONS_AT_ONCE)
    async def ask_session_here(self, asked: AskBrowser) -> BrowserAnswer:
        """Do something in a browser session that lives here."""
        return await self._browser_sessions.at(asked)

    @handles(subjects.BROWSERS, at_once=SESSIONS_AT_ONCE)
    async def list_sessions(self, asked: ListBrowsers) -> BrowserList:
        """List the browser sessions of all replicas."""
        return await self._browser_sessions.every(asked.caller)
