"""The actor with its browser and the site, in a thread of their own, so that a module of tests shares them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import anyio
import anyio.from_thread
from anyio.from_thread import BlockingPortal

from actors.fetchers.playwright.actor import Playwright
from actors.fetchers.playwright.browser import Browser
from actors.settings import Settings
from bus import Bus
from protocol.pages import Fetched, FetchPage
from tests.site import Site, serve_site
from tests.support.logins import passed
from tests.support.shelf import SEAL, Shelf

LIMIT_S = 240.0
"""What one fetch may take before a test fails."""


@dataclass(frozen=True)
class Browsing:
    """An actor that works, and the site that it may fetch from."""

    site: Site
    actor: Playwright
    shelf: Shelf
    portal: BlockingPortal

    @property
    def browser(self) -> Browser:
        """What the actor holds."""
        return self.actor.browser

    def fetch(self, url: str, limit_s: float = LIMIT_S, **options: Any) -> Fetched:
        """Have one page fetched within a time; `url` may be a path of the site."""
        found: Fetched = self.portal.call(self.fetching, url, options, limit_s)
        return found

    async def fetching(self, url: str, options: dict[str, Any], limit_s: float = LIMIT_S) -> Fetched:
        """Fetch, in the loop of the actor."""
        where = self.site.url(url) if url.startswith("/") else url
        with anyio.fail_after(limit_s):
            login = passed(SEAL, options.get("session"), where)
            return await self.actor.fetch(FetchPage(url=where, login=login, **options))

    def text(self, url: str, **options: Any) -> str:
        """Fetch, and give the words of the page."""
        summary = self.fetch(url, **options).document.content
        return cast("str", summary.text)


def page(html: str, **options: str | int) -> str:
    """Return the path of a page of the site with this markup; `options` as `/asked` knows them."""
    return f"/asked?{urlencode({'body': html, **options})}"


@contextmanager
def browsing(**settings: Any) -> Generator[Browsing]:
    """Run the actor and the site while the block lasts; `trusting` has it trust the authority of the site."""
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(_running(settings)) as (site, actor, shelf),
    ):
        yield Browsing(site, actor, shelf, portal)


@asynccontextmanager
async def _running(settings: dict[str, Any]) -> AsyncGenerator[tuple[Site, Playwright, Shelf]]:
    shelf = Shelf()
    trusting = bool(settings.pop("trusting", False))
    values: dict[str, Any] = {"allow_private": ("127.0.0.0/8",), **settings}
    async with serve_site() as site:
        chosen = Settings(**values, fetch_ca_file=site.ca_file if trusting else "")
        actor = Playwright(bus=cast("Bus", shelf), settings=chosen)
        async with actor.open():
            yield site, actor, shelf
