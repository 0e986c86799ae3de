"""What would happen to a request is told from what is stored: the site hears nothing of it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import pytest

from actors.settings import Settings
from actors.web.client import Politeness, WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest
from actors.web.rate_limits import HostLimits
from protocol.browse import Freshness
from protocol.domains import Foreseen, PaceOutlook, RobotsOutlook
from protocol.faults import Code
from tests.site import Site, serve_site
from tests.site.answers import text
from tests.site.rehearsed import ARRANGED

LIMITS = HostLimits(interval_ms=60_000, burst=1, at_once=4)
RULES = "User-agent: *\nDisallow: /private\nCrawl-delay: 7\n"


@dataclass
class World:
    """A site, and a client whose clock is put on by hand."""

    site: Site
    client: WebClient
    passed_s: list[float]

    async def get(self, path: str, partition: str = "", *, obey_robots: bool = False) -> int:
        request = WebRequest(self.site.url(path), partition=partition, obey_robots=obey_robots)
        return (await self.client.fetch(request, Jar(), 5_000)).status

    async def preview(
        self, path: str, partition: str = "", freshness: Freshness = Freshness.ANY, *, obey_robots: bool = False
    ) -> Foreseen:
        """Look ahead; the site hears nothing."""
        request = WebRequest(self.site.url(path), freshness=freshness, partition=partition, obey_robots=obey_robots)
        before = dict(self.site.hits)
        told = await self.client.preview(request, Jar())
        assert dict(self.site.hits) == before
        return told


@asynccontextmanager
async def world() -> AsyncGenerator[World]:
    passed_s = [0.0]
    settings = Settings(allow_private=("127.0.0.0/8",))
    with anyio.fail_after(90):
        async with (
            serve_site() as site,
            WebClient(
                settings,
                politeness=Politeness(limits=LIMITS),
                clock=lambda: time.time() + passed_s[0],
            ) as client,
        ):
            yield World(site, client, passed_s)


async def test_what_is_stored_will_do_while_it_is_fresh() -> None:
    async with world() as here:
        path = "/fresh/60?age=60"
        before = await here.preview(path)
        await here.get(path)
        fresh = await here.preview(path)
        asked_anew = await here.preview(path, freshness=Freshness.REALTIME)
        of_another = await here.preview(path, partition="work")
        here.passed_s[0] = 120.0
        stale = await here.preview(path)
        anything = await here.preview(path, freshness=Freshness.CACHED)

    assert [one.cached for one in (before, fresh, asked_anew, of_another, stale, anything)] == [
        *(False, True, False, False),
        *(False, True),
    ]


async def test_robots_txt_is_told_once_somebody_has_read_it() -> None:
    ARRANGED["/robots.txt"] = [lambda ask: text(RULES)]
    try:
        async with world() as here:
            unread = await here.preview("/article", obey_robots=True)
            await here.get("/article", obey_robots=True)
            allowed = await here.preview("/article", obey_robots=True)
            forbidden = await here.preview("/private/1")
    finally:
        del ARRANGED["/robots.txt"]

    assert unread.robots == RobotsOutlook(known=False, obeyed=True)
    assert allowed.robots == RobotsOutlook(known=True, obeyed=True, allows=True, crawl_delay_ms=7_000)
    assert forbidden.robots == RobotsOutlook(known=True, obeyed=False, allows=False, crawl_delay_ms=7_000)


async def test_networks_of_the_operator_have_no_pace() -> None:
    async with world() as here:
        told = await here.preview("/article")

    assert told.pace == PaceOutlook(limited=False, wait_ms=0, pages_per_minute=0, burst=0, at_once=0)


async def test_the_pace_of_another_host_is_told_and_none_of_it_taken() -> None:
    settings = Settings()
    with anyio.fail_after(90):
        async with WebClient(settings, politeness=Politeness(limits=LIMITS)) as client:
            told = [await client.preview(WebRequest("https://example.com/"), Jar()) for _ in range(3)]

    free = PaceOutlook(limited=True, wait_ms=0, pages_per_minute=1, burst=1, at_once=4)
    assert [one.pace for one in told] == [free] * 3


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://example.com/", Code.SECURITY_URL_BLOCKED),
        ("no address", Code.SECURITY_URL_BLOCKED),
        ("http://10.0.0.1/", Code.SECURITY_ADDRESS_BLOCKED),
        ("http://[::1]/", Code.SECURITY_ADDRESS_BLOCKED),
        ("http://printer.local/", Code.SECURITY_ADDRESS_BLOCKED),
        ("http://example.com:22/", Code.SECURITY_URL_BLOCKED),
    ],
)
async def test_what_is_never_fetched_is_told_without_asking_for_a_name(url: str, code: Code) -> None:
    async def resolve(host: str, port: int) -> tuple[str, ...]:
        raise AssertionError((host, port))

    async with WebClient(Settings(), resolve=resolve) as client:
        told = await client.preview(WebRequest(url), Jar())

    assert told.refused is not None
    assert (told.refused.code, told.robots, told.pace) == (code, None, None)
