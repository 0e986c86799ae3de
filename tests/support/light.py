"""Shows pages to the tier lightweight, and gives what its signals are judged by."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from actors.fetchers.lightweight.cdp import CdpError, ClosedError
from actors.fetchers.lightweight.page import render
from actors.fetchers.lightweight.process_pool import ProcessPool
from actors.fetchers.lightweight.rendering import RenderError, RenderFailure, RenderOptions, RequestTerms
from actors.fetchers.lightweight.signals import Observation, observe, shown_chars
from actors.fetchers.lightweight.target import PageVisit
from actors.fetchers.logins import Login
from actors.settings import Settings
from actors.web.client import WebClient
from actors.web.exchange import WebRequest

_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Light:
    """The tier's engine, without an actor around it."""

    engine: ProcessPool
    web: WebClient
    settings: Settings

    async def see(self, url: str) -> Observation | RenderFailure:
        """Show a page in a session of its own, and give what was seen of it, or the way in which it gave nothing."""
        login = Login()
        first = await self.web.fetch(WebRequest(url), login.cookies, _TIMEOUT_MS)
        options = RenderOptions(
            terms=RequestTerms("", WebRequest(url).freshness, record=False),
            agent=self.settings.fetch_user_agent,
            seconds=self.settings.light_settle_ms / 1_000,
        )
        async with self.engine.page("", alone=False) as page:
            try:
                snapshot = await render(page.connection, PageVisit(first, login, self.web, options))
            except ClosedError:
                return RenderFailure.JS_HANG if await page.outlived() else RenderFailure.RESOURCE_EXHAUSTED
            except (RenderError, CdpError) as error:
                page.mark_failed()
                return error.failure if isinstance(error, RenderError) else RenderFailure.READ_FAILED
        return observe(snapshot, shown_chars(first.body))


@asynccontextmanager
async def open_light() -> AsyncGenerator[Light]:
    """Start the engine for pages of loopback, for as long as the block lasts."""
    settings = Settings(allow_private=("127.0.0.0/8",))
    async with WebClient(settings) as web, ProcessPool(settings) as engine:
        yield Light(engine, web, settings)
