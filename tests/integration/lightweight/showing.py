"""Runs the actor of the tier beside two sites, which are strangers to each other."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import anyio

from actors.fetchers.lightweight.actor import Lightweight
from actors.settings import Settings
from bus import Bus
from protocol.pages import Fetched, FetchPage
from tests.site import Site, serve_site


@dataclass
class Showing:
    """The actor, and the sites: `other` is of another origin, and at `localhost` of another site, too."""

    actor: Lightweight
    site: Site
    other: Site

    async def show(self, url: str, **options: Any) -> Fetched:
        """Ask for a page."""
        return await self.actor.fetch(FetchPage(url=url, **options))

    async def page(self, body: str, **options: Any) -> Fetched:
        """Ask for a page with this body."""
        return await self.show(self.at(body), **options)

    def at(self, body: str, content_type: str = "text/html; charset=utf-8", **query: str) -> str:
        """Return the address of something that the site answers so."""
        return self.site.url(asked(body, content_type, **query))

    def foreign(self, body: str, content_type: str = "text/html; charset=utf-8", **query: str) -> str:
        """Return the address of something at a host of another site."""
        return f"http://localhost:{self.other.port}{asked(body, content_type, **query)}"


def asked(body: str, content_type: str = "text/html; charset=utf-8", **query: str) -> str:
    """Return the path of something that is answered so."""
    return f"/asked?{urlencode({'body': body, 'type': content_type, **query})}"


def text_of(page: Fetched) -> str:
    """Return what a page says."""
    return cast("str", page.document.content.text)


@asynccontextmanager
async def showing(**settings: Any) -> AsyncGenerator[Showing]:
    """Run everything within a deadline; the actor asks nobody, so that it needs no bus."""
    actor = Lightweight(bus=cast("Bus", None), settings=Settings(allow_private=("127.0.0.0/8", "::1/128"), **settings))
    with anyio.fail_after(90):
        async with serve_site() as site, serve_site() as other, actor.open():
            yield Showing(actor, site, other)
