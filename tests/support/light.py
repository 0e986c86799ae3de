"""Shows pages to the tier lightweight, and gives what its signals are judged by."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from actors.fetchers.lightweight import before, found
from actors.fetchers.lightweight.engine.cdp import CdpError, ClosedError
from actors.fetchers.lightweight.engine.engine import Engine
from actors.fetchers.lightweight.observed import Observed
from actors.fetchers.lightweight.outcome import Ill, IllError
from actors.fetchers.lightweight.page import look
from actors.fetchers.lightweight.sight import Visit, Wish
from actors.fetchers.lightweight.tally import Terms
from actors.fetchers.sessions import Session
from actors.fetchers.web.client import WebClient, WebRequest
from actors.settings import Settings

_TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Light:
    """The tier's engine, without an actor around it."""

    engine: Engine
    web: WebClient
    settings: Settings

    async def see(self, url: str) -> Observed | Ill:
        """Show a page in a session of its own, and give what was seen of it, or the way in which it gave nothing."""
        session = Session()
        first = await self.web.fetch(WebRequest(url), session.cookies, _TIMEOUT_MS)
        wish = Wish(
            terms=Terms("", WebRequest(url).freshness, record=False),
            agent=self.settings.fetch_user_agent,
            seconds=self.settings.light_settle_ms / 1_000,
        )
        async with self.engine.page("", alone=False) as place:
            try:
                sight = await look(place.connection, Visit(first, session, self.web, wish))
            except ClosedError:
                return Ill.JS_HANG if await place.outlived() else Ill.RESOURCE_EXHAUSTED
            except (IllError, CdpError) as error:
                place.ended_ill()
                return error.ill if isinstance(error, IllError) else Ill.READ_FAILED
        return found.observed(sight, before.shown_chars(first.body))


@asynccontextmanager
async def open_light() -> AsyncGenerator[Light]:
    """Start the engine for pages of loopback, for as long as the block lasts."""
    settings = Settings(allow_private=("127.0.0.0/8",))
    async with WebClient(settings) as web, Engine(settings) as engine:
        yield Light(engine, web, settings)
