"""robots.txt, obeyed where it is asked for, by every tier through one client (RFC 9309)."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from actors.settings import Settings
from actors.web.client import Politeness, WebClient
from actors.web.cookies import Jar
from actors.web.exchange import WebRequest
from actors.web.rate_limits import HostLimits
from protocol.faults import Code, FaultError
from tests.integration.web.replicas import replicas
from tests.site import Site, serve_site
from tests.site.answers import Answer, Ask, Break, Reply, text
from tests.site.rehearsed import ARRANGED

ROBOTS = "/robots.txt"
PAGE = "/article"
RULES = "User-agent: weft\nDisallow: /article\nAllow: /json\n\nUser-agent: *\nDisallow: /\n"


@dataclass
class World:
    """A site, and a client whose clock is put on by hand."""

    site: Site
    client: WebClient
    passed_s: list[float] = field(default_factory=lambda: [0.0])

    async def get(self, path: str = PAGE, **options: object) -> Code | int:
        """Fetch a page as a batch does, and give its status or the code of its fault."""
        request = WebRequest(self.site.url(path), obey_robots=True)
        try:
            return (await self.client.fetch(request, Jar(), 5_000)).status
        except FaultError as error:
            return error.fault.code


@pytest.fixture(autouse=True)
def nothing_arranged() -> Generator[None]:
    ARRANGED.pop(ROBOTS, None)
    yield
    ARRANGED.pop(ROBOTS, None)


@asynccontextmanager
async def world(politeness: Politeness | None = None) -> AsyncGenerator[World]:
    passed_s = [0.0]
    settings = Settings(allow_private=("127.0.0.0/8",), fetch_cache_bytes=0)
    with anyio.fail_after(90):
        async with (
            serve_site() as site,
            WebClient(settings, politeness=politeness, clock=lambda: time.time() + passed_s[0]) as client,
        ):
            yield World(site, client, passed_s)


def arrange(*answers: Answer) -> None:
    ARRANGED[ROBOTS] = [answering(answer) for answer in answers]


def answering(answer: Answer) -> Callable[[Ask], Answer]:
    return lambda ask: answer


async def test_rules_for_us_are_obeyed() -> None:
    arrange(text(RULES, "text/plain"))
    async with world() as web:
        found = [await web.get(), await web.get("/json"), await web.get("/feed"), await web.get(ROBOTS)]

    assert found == [Code.BLOCKED_BY_ROBOTS, 200, 200, 200]


async def test_they_are_got_once() -> None:
    arrange(text(RULES, "text/plain"))
    async with world() as web:
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(web.get, "/json")
        await web.get()

        assert web.site.hits[ROBOTS] == 1


async def test_they_are_believed_for_a_day() -> None:
    arrange(text("User-agent: *\nDisallow: /", "text/plain"), text("", "text/plain"))
    async with world() as web:
        found = [await web.get()]
        web.passed_s[0] = 86_000
        found.append(await web.get())
        web.passed_s[0] = 86_500
        found.append(await web.get())

    assert found == [Code.BLOCKED_BY_ROBOTS, Code.BLOCKED_BY_ROBOTS, 200]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (Reply(404), 200),
        (Reply(403), 200),
        (Reply(401), 200),
        (Reply(500), Code.BLOCKED_BY_ROBOTS),
        (Reply(503), Code.BLOCKED_BY_ROBOTS),
        (Break(), Code.NETWORK_CONNECTION_FAILED),
        (Reply(302, headers=(("Location", "/rehearsed/rules"),)), Code.BLOCKED_BY_ROBOTS),
        (Reply(302, headers=(("Location", "/redirect/loop"),)), 200),
        (text("<html>Disallow: /", "text/html"), 200),
        (text("\ufeffUser-Agent: Weft\r\nDisallow: /\r\n", "text/plain"), Code.BLOCKED_BY_ROBOTS),
        (text(b"User-agent: *\nDisallow: /art*le$\n\xff\xfe", "text/plain"), Code.BLOCKED_BY_ROBOTS),
        (text("User-agent: *\nDisallow: /\nAllow: /art", "text/plain"), 200),
        (text("User-agent: *\nDisallow:\n" + "# weave\n" * 70_000 + "Disallow: /\n", "text/plain"), 200),
    ],
)
async def test_what_an_answer_means(answer: Answer, found: Code | int) -> None:
    arrange(answer)
    ARRANGED["/rehearsed/rules"] = [answering(text(RULES, "text/plain"))]
    async with world() as web:
        assert await web.get() == found


async def test_a_site_that_fails_is_judged_by_what_it_said_last() -> None:
    arrange(text(RULES, "text/plain"), Reply(500), text("", "text/plain"))
    async with world() as web:
        found = [await web.get("/json")]
        web.passed_s[0] = 90_000
        found += [await web.get("/json"), await web.get()]
        web.passed_s[0] += 400
        found.append(await web.get())

    assert found == [200, 200, Code.BLOCKED_BY_ROBOTS, 200]


async def test_a_site_that_failed_is_asked_again_soon() -> None:
    arrange(Reply(500), Reply(404))
    async with world() as web:
        found = [await web.get(), await web.get()]
        web.passed_s[0] = 400
        found.append(await web.get())

    assert found == [Code.BLOCKED_BY_ROBOTS, Code.BLOCKED_BY_ROBOTS, 200]


async def test_where_a_redirect_leads_is_asked_about() -> None:
    arrange(text("User-agent: *\nDisallow: /article", "text/plain"))
    async with world() as web:
        assert await web.get("/redirect/1") is Code.BLOCKED_BY_ROBOTS


async def test_nobody_asks_unless_it_is_wanted() -> None:
    arrange(text("User-agent: *\nDisallow: /", "text/plain"))
    async with world() as web:
        response = await web.client.fetch(WebRequest(web.site.url(PAGE)), Jar(), 5_000)

        assert (response.status, web.site.hits[ROBOTS]) == (200, 0)


async def test_settings_outweigh_who_asks() -> None:
    arrange(text("User-agent: *\nDisallow: /", "text/plain"))
    async with world(Politeness(robots="never")) as web:
        never = await web.get()
    async with world(Politeness(robots="always")) as web:
        part = await web.client.fetch(WebRequest(web.site.url(PAGE), sub_resource=True), Jar(), 5_000)
        with pytest.raises(FaultError) as caught:
            await web.client.fetch(WebRequest(web.site.url(PAGE)), Jar(), 5_000)

    assert (never, part.status, caught.value.fault.code) == (200, 200, Code.BLOCKED_BY_ROBOTS)


async def test_a_browser_may_ask_before_it_goes() -> None:
    arrange(text(RULES + "Crawl-delay: 3\n", "text/plain"))
    async with world() as web:
        with pytest.raises(FaultError) as caught:
            await web.client.robots.check(web.site.url(PAGE))

        assert caught.value.fault.code is Code.BLOCKED_BY_ROBOTS
        assert await web.client.robots.check(web.site.url("/json")) == 0.0


@pytest.mark.slow
async def test_a_site_may_want_time_between_requests() -> None:
    arrange(text("User-agent: *\nCrawl-delay: 1\n", "text/plain"))
    async with world(Politeness(limits=HostLimits(interval_ms=10, burst=5))) as web:
        origin = f"http://localhost:{web.site.port}"
        begin = time.monotonic()
        for number in range(3):
            request = WebRequest(f"{origin}{PAGE}?page={number}", obey_robots=True)
            await web.client.fetch(request, Jar(), 5_000)

        assert time.monotonic() - begin >= 1.9


@pytest.mark.nats
async def test_replicas_share_what_they_read(tmp_path: Path) -> None:
    arrange(text(RULES, "text/plain"))
    async with replicas(tmp_path, 3) as web:
        for client in web.clients:
            with pytest.raises(FaultError):
                await client.robots.check(web.url(PAGE))

        assert web.site.hits[ROBOTS] == 1
